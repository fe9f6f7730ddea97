//! Compiles the kernels to machine code of the GPU, keeps it on disk, loads it.
//! Must not know what the kernels compute.

use super::context::{Context, Gpu};
use super::error::CudaError;
use super::nvrtc::{Need, Nvrtc};
use cudarc::driver::sys::CUresult;
use cudarc::driver::{CudaFunction, CudaModule};
use cudarc::nvrtc::Ptx;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What code is compiled for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The GPU: 90 for sm_90.
    pub arch: u32,
    /// CUDA version of the driver that will load the code; `None` if it will only be compiled.
    pub driver: Option<(i32, i32)>,
}

impl Target {
    /// For a GPU of this machine.
    pub fn of(gpu: &Gpu) -> Self {
        Self { arch: gpu.arch_number(), driver: Some(gpu.driver) }
    }

    /// For a GPU that need not be here: nothing is loaded.
    pub fn only_compile(arch: u32) -> Self {
        Self { arch, driver: None }
    }

    /// "sm_90".
    pub fn name(&self) -> String {
        format!("sm_{}", self.arch)
    }
}

/// Machine code of one GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The cubin, an ELF file.
    pub cubin: Vec<u8>,
    /// The compiler's warnings; empty if none, and for code from the disk.
    pub warnings: String,
    /// True if it came from the disk.
    pub cached: bool,
}

/// Compiles a program ([`super::KernelSource::assemble`]) with options such as `-DROTATION=1`, or takes it from the disk where the same
/// was compiled before: same source, options, GPU, NVRTC and driver.
pub fn compile(source: &str, options: &[String], target: &Target) -> Result<Code, CudaError> {
    compile_in(cache_folder().as_deref(), source, options, target)
}

/// The same with the folder to keep the code in; `None`: nothing is kept.
pub fn compile_in(
    folder: Option<&Path>,
    source: &str,
    options: &[String],
    target: &Target,
) -> Result<Code, CudaError> {
    let nvrtc = Nvrtc::find(Need { driver: target.driver, arch: Some(target.arch) })?;
    let arch = target.name();
    let mut all = vec![format!("--gpu-architecture={arch}"), "--std=c++17".to_string()];
    all.extend_from_slice(options);
    let file = folder.map(|folder| folder.join(key(source, &all, nvrtc.version, target.driver)));
    if let Some(cubin) = file.as_deref().and_then(read_entry) {
        return Ok(Code { cubin, warnings: String::new(), cached: true });
    }
    let (cubin, warnings) = nvrtc.cubin(source, &arch, &all)?;
    if let Some(file) = file {
        // A disk that is full or may not be written costs a compilation next time, nothing else.
        let _ = write_entry(&file, &cubin);
    }
    Ok(Code { cubin, warnings, cached: false })
}

/// `$XDG_CACHE_HOME/knudsen/kernels`, or `~/.cache/knudsen/kernels`.
fn cache_folder() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("knudsen/kernels"))
}

/// Name of the file that keeps the code: a hash of all that it depends on.
fn key(source: &str, options: &[String], nvrtc: (i32, i32), driver: Option<(i32, i32)>) -> String {
    let mut hasher = Sha256::new();
    // With their lengths, so that no two lists of parts run together to the same bytes.
    let mut add = |part: &str| {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    };
    add("knudsen kernels 1");
    add(source);
    add(&format!("{nvrtc:?} {driver:?}"));
    options.iter().for_each(|option| add(option));
    let name: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{name}.cubin")
}

/// Length of a hash, bytes.
const HASH: usize = 32;

/// An entry is the hash of the code, then the code.
fn read_entry(file: &Path) -> Option<Vec<u8>> {
    let bytes = std::fs::read(file).ok()?;
    let (hash, cubin) = bytes.split_at_checked(HASH)?;
    (!cubin.is_empty() && Sha256::digest(cubin).as_slice() == hash).then(|| cubin.to_vec())
}

/// Written beside and renamed: other runs see the whole entry or none.
fn write_entry(file: &Path, cubin: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(&Sha256::digest(cubin))?;
    temporary.write_all(cubin)?;
    temporary.persist(file).map_err(|error| error.error)?;
    forget_old(folder)
}

/// Entries that are kept; the oldest go first.
const MOST_ENTRIES: usize = 200;

fn forget_old(folder: &Path) -> std::io::Result<()> {
    let mut entries = vec![];
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|ending| ending == "cubin") {
            entries.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    entries.sort();
    let excess = entries.len().saturating_sub(MOST_ENTRIES);
    entries.into_iter().take(excess).try_for_each(|(_, path)| std::fs::remove_file(path))
}

/// Code on the GPU.
#[derive(Debug, Clone)]
pub struct Module(Arc<CudaModule>);

impl Module {
    /// Compiles a source for a GPU, or takes it from the disk, and loads it.
    pub fn compile(context: &Context, source: &str, options: &[String]) -> Result<Self, CudaError> {
        Self::load(context, &compile(source, options, &Target::of(&context.gpu))?)
    }

    /// Loads code onto the GPU.
    pub fn load(context: &Context, code: &Code) -> Result<Self, CudaError> {
        Ok(Self(context.driver().load_module(Ptx::from_binary(code.cubin.clone()))?))
    }

    /// A kernel by its name (`extern "C" __global__`).
    pub fn function(&self, name: &str) -> Result<CudaFunction, CudaError> {
        self.0.load_function(name).map_err(|error| match error.0 {
            CUresult::CUDA_ERROR_NOT_FOUND => CudaError::NoFunction(name.to_string()),
            _ => error.into(),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_key_depends_on_all_that_the_code_depends_on() {
        let options = |list: &[&str]| list.iter().map(|option| option.to_string()).collect::<Vec<_>>();
        let keys = [
            key("int a;", &options(&["-DA=1"]), (13, 0), Some((13, 0))),
            key("int b;", &options(&["-DA=1"]), (13, 0), Some((13, 0))),
            key("int a;", &options(&["-DA=2"]), (13, 0), Some((13, 0))),
            key("int a;", &options(&["-DA=", "1"]), (13, 0), Some((13, 0))),
            key("int a;-DA=1", &[], (13, 0), Some((13, 0))),
            key("int a;", &options(&["-DA=1"]), (12, 9), Some((13, 0))),
            key("int a;", &options(&["-DA=1"]), (13, 0), Some((13, 1))),
            key("int a;", &options(&["-DA=1"]), (13, 0), None),
        ];
        for (index, one) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(one), "key {index} is there twice");
        }
        assert_eq!(keys[0], key("int a;", &options(&["-DA=1"]), (13, 0), Some((13, 0))));
    }

    #[test]
    fn broken_entries_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/in/a.cubin");
        assert_eq!(read_entry(&file), None);
        write_entry(&file, b"code").unwrap();
        assert_eq!(read_entry(&file), Some(b"code".to_vec()));
        let whole = fs::read(&file).unwrap();
        for broken in [&whole[..whole.len() - 1], &whole[..HASH], &whole[..5], b""] {
            fs::write(&file, broken).unwrap();
            assert_eq!(read_entry(&file), None);
        }
        let mut flipped = whole.clone();
        flipped[HASH] ^= 1;
        fs::write(&file, flipped).unwrap();
        assert_eq!(read_entry(&file), None);
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "no temporary file stays");
    }

    #[test]
    fn old_entries_go() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..MOST_ENTRIES + 5 {
            fs::write(folder.path().join(format!("{number}.cubin")), "x").unwrap();
        }
        fs::write(folder.path().join("other"), "x").unwrap();
        let newest = folder.path().join("new.cubin");
        write_entry(&newest, b"code").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), MOST_ENTRIES + 1);
        assert!(folder.path().join("other").exists());
    }
}
