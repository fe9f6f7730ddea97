//! NVRTC: found where packages put it, run, and its results kept on disk.
//! Knows nothing of GPUs beyond the name of an architecture, nor of what kernels do.

#![allow(unsafe_code)]

use super::{CudaError, Gpu};
use cudarc::nvrtc::{result, sys};
use sha2::{Digest, Sha256};
use std::ffi::{CString, c_char};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The compiler that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    /// Its version.
    pub version: (i32, i32),
    /// Its file, or what the loader found by itself.
    pub file: String,
}

/// Finds and opens NVRTC, once.
pub fn find() -> Result<Compiler, CudaError> {
    static FOUND: OnceLock<Result<Compiler, CudaError>> = OnceLock::new();
    FOUND.get_or_init(open).clone()
}

/// Folders in which toolkits and pip put it.
fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut glob = |base: &Path, prefix: &str, tail: &str| {
        let Ok(entries) = std::fs::read_dir(base) else { return };
        let mut found: Vec<PathBuf> = entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
            .map(|entry| entry.path().join(tail))
            .filter(|path| path.is_dir())
            .collect();
        found.sort();
        // The newest version first.
        folders.extend(found.into_iter().rev());
    };
    glob(Path::new("/usr/local"), "cuda", "lib64");
    glob(Path::new("/opt"), "cuda", "lib64");
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| home.as_ref().map(|home| home.join(".cache")));
    let mut environments: Vec<PathBuf> = ["VIRTUAL_ENV", "CONDA_PREFIX", "KNUDSEN_VENV"]
        .iter()
        .filter_map(|name| std::env::var_os(name).map(|path| PathBuf::from(path).join("lib")))
        .collect();
    environments.extend(cache.map(|cache| cache.join("knudsen/venv/lib")));
    environments.extend(home.map(|home| home.join(".local/lib")));
    environments.extend(["/usr/local/lib", "/usr/lib"].map(PathBuf::from));
    for base in environments {
        for packages in ["site-packages", "dist-packages"] {
            for part in ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"] {
                glob(&base, "python3", &format!("{packages}/{part}"));
            }
        }
    }
    folders
}

fn open() -> Result<Compiler, CudaError> {
    let mut looked_for = Vec::new();
    let mut file = "on the loader's path".to_string();
    let mut named: Vec<PathBuf> = std::env::var_os("KNUDSEN_NVRTC").map(PathBuf::from).into_iter().collect();
    let explicit = !named.is_empty();
    // SAFETY: only tries to open the library.
    let on_path = !explicit && unsafe { sys::is_culib_present() };
    if !on_path {
        if !explicit {
            looked_for.push("libnvrtc.so on the loader's path".to_string());
            for folder in folders() {
                let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
                let mut found: Vec<PathBuf> = entries
                    .map(|entry| entry.path())
                    .filter(|path| {
                        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
                        name.is_some_and(|name| name.starts_with("libnvrtc.so."))
                    })
                    .collect();
                found.sort();
                looked_for.push(folder.display().to_string());
                named.extend(found);
            }
        }
        for path in &named {
            looked_for.push(path.display().to_string());
            preload(path);
            // SAFETY: only tries to open the library; the loader knows an open one by its name.
            if unsafe { sys::is_culib_present() } {
                file = path.display().to_string();
                break;
            }
        }
        // SAFETY: as above.
        if !unsafe { sys::is_culib_present() } {
            return Err(CudaError::NoNvrtc { looked_for: looked_for.join(", ") });
        }
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the library is there; the pointers are to numbers that live during the call.
    let status = unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) };
    match status.result() {
        Ok(()) => Ok(Compiler { version: (major, minor), file }),
        Err(error) => Err(CudaError::NoNvrtc { looked_for: format!("{file}, which answers {error}") }),
    }
}

/// Opens a library and its companion by full path and leaves them open, so that the loader finds them by name.
fn preload(path: &Path) {
    if let Some(folder) = path.parent() {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("libnvrtc-builtins.so.") {
                // SAFETY: NVIDIA's library; its initialisers do nothing to us.
                if let Ok(library) = unsafe { libloading::Library::new(entry.path()) } {
                    std::mem::forget(library);
                }
            }
        }
    }
    // SAFETY: as above.
    if let Ok(library) = unsafe { libloading::Library::new(path) } {
        std::mem::forget(library);
    }
}

/// Compiles for an architecture ("sm_90"); options are `-D` constants.
pub fn compile(source: &str, options: &[String], arch: &str) -> Result<Vec<u8>, CudaError> {
    find()?;
    let failed = |log: String| CudaError::Compile { arch: arch.to_string(), log };
    let text = CString::new(source).map_err(|_| failed("the source has a NUL byte".to_string()))?;
    let program =
        result::create_program(&text, Some(c"gas.cu")).map_err(|error| failed(error.to_string()))?;
    let mut all = vec![format!("--gpu-architecture={arch}"), "--std=c++17".to_string()];
    all.extend(options.iter().cloned());
    // SAFETY: the program was made above and is destroyed below.
    let compiled = unsafe { result::compile_program(program, &all) };
    let outcome = match compiled {
        Ok(()) => cubin(program).map_err(|error| failed(error.to_string())),
        Err(error) => {
            // SAFETY: the program lives.
            let log = unsafe { result::get_program_log(program) }.unwrap_or_default();
            let bytes: Vec<u8> = log.iter().take_while(|&&c| c != 0).map(|&c| c as u8).collect();
            Err(failed(format!("{}\n({error})", String::from_utf8_lossy(&bytes).trim())))
        }
    };
    // SAFETY: the program is not used after this.
    let _ = unsafe { result::destroy_program(program) };
    outcome
}

fn cubin(program: sys::nvrtcProgram) -> Result<Vec<u8>, result::NvrtcError> {
    let mut size = 0;
    // SAFETY: the program lives; the buffer has the size that is asked for first.
    unsafe {
        sys::nvrtcGetCUBINSize(program, &raw mut size).result()?;
        let mut code = vec![0_u8; size];
        sys::nvrtcGetCUBIN(program, code.as_mut_ptr().cast::<c_char>()).result()?;
        Ok(code)
    }
}

/// Where compiled programs are kept.
fn cache_folder() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    Some(base.join("knudsen").join("kernels"))
}

/// Name of a program in the cache: a hash of all that it depends on.
pub fn key(compiler: &Compiler, source: &str, options: &[String], arch: &str, driver: i32, name: &str) -> String {
    let mut hash = Sha256::new();
    let version = format!("{}.{}", compiler.version.0, compiler.version.1);
    for part in [source, &options.join("\n"), arch, &version, &driver.to_string(), name] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compiles, or takes what was compiled before from the cache. A cache that cannot be read or written does no harm.
pub fn cached(
    compiler: &Compiler,
    source: &str,
    options: &[String],
    gpu: &Gpu,
) -> Result<Vec<u8>, CudaError> {
    let arch = gpu.arch();
    let name = key(compiler, source, options, &arch, gpu.driver, &gpu.name);
    let path = cache_folder().map(|folder| folder.join(format!("{name}.cubin")));
    // The last 32 bytes are a hash of the rest: half a file is no program.
    if let Some(stored) = path.as_ref().and_then(|path| std::fs::read(path).ok())
        && let Some((code, sum)) = stored.split_last_chunk::<32>()
        && Sha256::digest(code).as_slice() == sum
    {
        return Ok(code.to_vec());
    }
    let code = compile(source, options, &arch)?;
    if let Some(path) = path {
        store(&path, &code);
    }
    Ok(code)
}

fn store(path: &Path, code: &[u8]) {
    let Some(folder) = path.parent() else { return };
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut file, code)?;
        std::io::Write::write_all(&mut file, &Sha256::digest(code))?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    });
    // Without a cache the next start compiles again, that is all.
    drop(written);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_depends_on_each_part() {
        let compiler = |minor| Compiler { version: (13, minor), file: String::new() };
        let base = key(&compiler(0), "a", &["-DX".into()], "sm_90", 13_000, "card");
        assert_eq!(base, key(&compiler(0), "a", &["-DX".into()], "sm_90", 13_000, "card"));
        for other in [
            key(&compiler(1), "a", &["-DX".into()], "sm_90", 13_000, "card"),
            key(&compiler(0), "b", &["-DX".into()], "sm_90", 13_000, "card"),
            key(&compiler(0), "a", &["-DY".into()], "sm_90", 13_000, "card"),
            key(&compiler(0), "a", &["-DX".into()], "sm_80", 13_000, "card"),
            key(&compiler(0), "a", &["-DX".into()], "sm_90", 12_080, "card"),
            key(&compiler(0), "a", &["-DX".into()], "sm_90", 13_000, "other"),
            key(&compiler(0), "a-DX", &[], "sm_90", 13_000, "card"),
        ] {
            assert_ne!(base, other);
        }
    }
}
