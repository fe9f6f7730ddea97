//! NVRTC, NVIDIA's compiler as a library: where it is, and its functions. Loaded from the file that was found, so that
//! no path of the loader need be set. Must not know kernels or the cache.

// A library is loaded and its C functions are called: by the signatures of nvrtc.h.
#![allow(unsafe_code)]

use super::context::version_text;
use super::error::CudaError;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::sync::Mutex;

type Program = *mut c_void;
/// `nvrtcResult`; 0 is success.
type Result_ = c_int;
/// `NVRTC_ERROR_COMPILATION`: the source is at fault, and not NVRTC.
const COMPILATION: Result_ = 6;

/// What NVRTC must be able to do; `None`: anything will do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Need {
    /// CUDA version of the driver that loads the code: it takes code of its own major version or older.
    pub driver: Option<(i32, i32)>,
    /// The GPU: 90 for sm_90.
    pub arch: Option<u32>,
}

/// The loaded library. It stays loaded until the program ends.
#[derive(Debug)]
pub struct Nvrtc {
    /// The file, or the name by which the loader found it.
    pub path: String,
    /// Major and minor: (13, 0).
    pub version: (i32, i32),
    /// The GPUs it compiles for: 90 for sm_90.
    pub archs: Vec<u32>,
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Result_,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Result_,
    destroy: unsafe extern "C" fn(*mut Program) -> Result_,
    cubin_size: unsafe extern "C" fn(Program, *mut usize) -> Result_,
    cubin: unsafe extern "C" fn(Program, *mut c_char) -> Result_,
    log_size: unsafe extern "C" fn(Program, *mut usize) -> Result_,
    log: unsafe extern "C" fn(Program, *mut c_char) -> Result_,
    error_string: unsafe extern "C" fn(Result_) -> *const c_char,
}

/// The libraries that were loaded.
static LOADED: Mutex<Vec<&'static Nvrtc>> = Mutex::new(Vec::new());

impl Nvrtc {
    /// Finds and loads an NVRTC that does what is needed: that of `KNUDSEN_NVRTC` if set, else the first that fits.
    pub fn find(need: Need) -> Result<&'static Self, CudaError> {
        let mut loaded = LOADED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(known) = loaded.iter().find(|nvrtc| nvrtc.fits(need).is_ok()) {
            return Ok(known);
        }
        let found: &'static Self = Box::leak(Box::new(Self::search(&Places::of_this_machine(), need)?));
        loaded.push(found);
        Ok(found)
    }

    fn search(places: &Places, need: Need) -> Result<Self, CudaError> {
        let mut rejected = vec![];
        for file in places.candidates() {
            match Self::load(&file) {
                Ok(nvrtc) => match nvrtc.fits(need) {
                    Ok(()) => return Ok(nvrtc),
                    Err(why) => rejected.push(format!("{} {why}", file.display())),
                },
                // A name that the loader does not know is no news; a file that is there and does not load is.
                Err(why) if file.is_absolute() || places.named.is_some() => {
                    rejected.push(format!("{} does not load: {why}", file.display()));
                }
                Err(_) => {}
            }
        }
        Err(CudaError::NoNvrtc { searched: places.searched(), rejected })
    }

    /// Loads a library; the error in words.
    fn load(file: &Path) -> Result<Self, String> {
        let said = |error: libloading::Error| error.to_string();
        // SAFETY: NVRTC's initialisers ask nothing of the program.
        let library = unsafe { Library::new(file) }.map_err(said)?;
        let mut version = (0, 0);
        let mut archs = vec![];
        // SAFETY: the signatures are those of nvrtc.h, the same in CUDA 11 to 13; the pointers are to what they fill.
        let nvrtc = unsafe {
            let get_version = *library
                .get::<unsafe extern "C" fn(*mut c_int, *mut c_int) -> Result_>(b"nvrtcVersion\0")
                .map_err(said)?;
            get_version(&mut version.0, &mut version.1);
            let get_count = library
                .get::<unsafe extern "C" fn(*mut c_int) -> Result_>(b"nvrtcGetNumSupportedArchs\0")
                .map_err(said)?;
            let get_archs = library
                .get::<unsafe extern "C" fn(*mut c_int) -> Result_>(b"nvrtcGetSupportedArchs\0")
                .map_err(said)?;
            let mut count = 0;
            if get_count(&mut count) == 0 && count > 0 {
                let mut numbers = vec![0; count.unsigned_abs() as usize];
                if get_archs(numbers.as_mut_ptr()) == 0 {
                    archs = numbers.into_iter().map(c_int::unsigned_abs).collect();
                }
            }
            Self {
                path: file.display().to_string(),
                version,
                archs,
                create: *library.get(b"nvrtcCreateProgram\0").map_err(said)?,
                compile: *library.get(b"nvrtcCompileProgram\0").map_err(said)?,
                destroy: *library.get(b"nvrtcDestroyProgram\0").map_err(said)?,
                cubin_size: *library.get(b"nvrtcGetCUBINSize\0").map_err(said)?,
                cubin: *library.get(b"nvrtcGetCUBIN\0").map_err(said)?,
                log_size: *library.get(b"nvrtcGetProgramLogSize\0").map_err(said)?,
                log: *library.get(b"nvrtcGetProgramLog\0").map_err(said)?,
                error_string: *library.get(b"nvrtcGetErrorString\0").map_err(said)?,
            }
        };
        load_builtins(file, version);
        // The functions are called until the program ends: the library is never unloaded.
        std::mem::forget(library);
        Ok(nvrtc)
    }

    /// Whether it does what is needed; else why not.
    fn fits(&self, need: Need) -> Result<(), String> {
        let version = version_text(self.version);
        if let Some(driver) = need.driver
            && self.version.0 > driver.0
        {
            return Err(format!(
                "is of CUDA {version}, too new for a driver of CUDA {}",
                version_text(driver)
            ));
        }
        if let Some(arch) = need.arch
            && !self.archs.contains(&arch)
        {
            return Err(format!("is of CUDA {version} and does not compile for sm_{arch}"));
        }
        Ok(())
    }

    fn fails(&self, result: Result_, log: &str) -> CudaError {
        // SAFETY: NVRTC returns a constant C string for every number.
        let text = unsafe {
            let text = (self.error_string)(result);
            if text.is_null() {
                format!("error {result}")
            } else {
                CStr::from_ptr(text).to_string_lossy().into_owned()
            }
        };
        let cause = if log.is_empty() { text } else { format!("{text}: {log}") };
        CudaError::Nvrtc { path: self.path.clone(), cause }
    }

    /// Compiles a kernel that does nothing: whether all parts of NVRTC are there.
    pub fn check(&self) -> Result<(), CudaError> {
        let arch = format!("sm_{}", self.archs.last().copied().unwrap_or_default());
        let options = [format!("--gpu-architecture={arch}")];
        self.cubin("extern \"C\" __global__ void nothing() {}", &arch, &options).map(|_| ())
    }

    /// Compiles a source to the machine code of `arch` ("sm_90"); with the compiler's warnings, empty if none.
    pub fn cubin(
        &self,
        source: &str,
        arch: &str,
        options: &[String],
    ) -> Result<(Vec<u8>, String), CudaError> {
        let c_text = |text: &str| {
            CString::new(text).map_err(|_| CudaError::Compile {
                arch: arch.to_string(),
                log: "the source or an option has a character 0".to_string(),
            })
        };
        let source = c_text(source)?;
        let options = options.iter().map(|option| c_text(option)).collect::<Result<Vec<_>, _>>()?;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let mut program = Running { nvrtc: self, program: null_mut() };
        // SAFETY: the strings end in 0 and live beyond the calls; no headers are handed over, so that their arrays may be null.
        let created = unsafe {
            (self.create)(&mut program.program, source.as_ptr(), c"knudsen".as_ptr(), 0, null(), null())
        };
        if created != 0 {
            return Err(self.fails(created, ""));
        }
        // SAFETY: the program was created above; as many options as are told.
        let compiled = unsafe { (self.compile)(program.program, pointers.len() as c_int, pointers.as_ptr()) };
        let log = program.log();
        match compiled {
            0 => {}
            COMPILATION => return Err(CudaError::Compile { arch: arch.to_string(), log }),
            other => return Err(self.fails(other, &log)),
        }
        let mut size = 0;
        // SAFETY: the program is compiled; the buffer is of the size that NVRTC named.
        let (result, bytes) = unsafe {
            let result = (self.cubin_size)(program.program, &mut size);
            let mut bytes = vec![0_u8; size];
            let result =
                if result == 0 { (self.cubin)(program.program, bytes.as_mut_ptr().cast()) } else { result };
            (result, bytes)
        };
        if result != 0 || bytes.is_empty() {
            return Err(self.fails(result, "no code came out"));
        }
        Ok((bytes, log))
    }
}

/// NVRTC opens its builtins by name, which the loader does not find in the folders of pip; one that is loaded already it
/// does. They lie beside the library.
fn load_builtins(file: &Path, (major, minor): (i32, i32)) {
    let real = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    let Some(folder) = real.parent().filter(|_| file.is_absolute()) else { return };
    let wanted = format!("libnvrtc-builtins.so.{major}.{minor}");
    for path in names_in(folder, |name| name.starts_with(&wanted)) {
        // SAFETY: NVIDIA's library, which NVRTC itself would load.
        if let Ok(library) = unsafe { Library::new(path) } {
            std::mem::forget(library);
            return;
        }
    }
}

/// A program of NVRTC, destroyed when dropped.
struct Running<'a> {
    nvrtc: &'a Nvrtc,
    program: Program,
}

impl Running<'_> {
    fn log(&self) -> String {
        let mut size = 0;
        // SAFETY: the program exists; the buffer is of the size that NVRTC named.
        let bytes = unsafe {
            if (self.nvrtc.log_size)(self.program, &mut size) != 0 {
                return String::new();
            }
            let mut bytes = vec![0_u8; size];
            if (self.nvrtc.log)(self.program, bytes.as_mut_ptr().cast()) != 0 {
                return String::new();
            }
            bytes
        };
        String::from_utf8_lossy(&bytes).trim_end_matches(['\0', '\n', ' ']).to_string()
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.program.is_null() {
            // SAFETY: created by this library, and not destroyed before.
            unsafe { (self.nvrtc.destroy)(&mut self.program) };
        }
    }
}

/// Where NVRTC may lie; from the environment, apart so that it can be tested.
#[derive(Debug, Clone, Default)]
struct Places {
    /// `KNUDSEN_NVRTC`: this file and no other.
    named: Option<PathBuf>,
    /// Folders, some with one `*` in a name.
    folders: Vec<PathBuf>,
}

/// Names that the loader is asked for, newest first.
const NAMES: [&str; 4] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"];
/// Where the Python packages put it, below `site-packages`: CUDA 13 and newer, CUDA 12.
const IN_PYTHON: [&str; 2] = ["nvidia/cu1*/lib", "nvidia/cuda_nvrtc/lib"];

impl Places {
    fn of_this_machine() -> Self {
        let folder = |name: &str| {
            let path = std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)?;
            // The loader takes a name without a folder for one of its own path.
            Some(std::path::absolute(&path).unwrap_or(path))
        };
        let home = folder("HOME");
        let cache = folder("XDG_CACHE_HOME").or_else(|| home.as_ref().map(|home| home.join(".cache")));
        // The environment of scripts/setup --tests.
        let own = folder("KNUDSEN_VENV").or_else(|| cache.map(|cache| cache.join("knudsen/venv")));
        Self::new(
            folder("KNUDSEN_NVRTC"),
            &[folder("VIRTUAL_ENV"), folder("CONDA_PREFIX"), own],
            home.as_deref(),
        )
    }

    fn new(named: Option<PathBuf>, environments: &[Option<PathBuf>], home: Option<&Path>) -> Self {
        let mut folders = vec![];
        for toolkit in ["/usr/local/cuda", "/usr/local/cuda-*", "/opt/cuda"] {
            folders.push(Path::new(toolkit).join("lib64"));
            folders.push(Path::new(toolkit).join("targets/x86_64-linux/lib"));
        }
        let mut python = |packages: PathBuf| folders.extend(IN_PYTHON.map(|part| packages.join(part)));
        for environment in environments.iter().flatten() {
            python(environment.join("lib/python3*/site-packages"));
        }
        if let Some(home) = home {
            python(home.join(".local/lib/python3*/site-packages"));
        }
        python("/usr/local/lib/python3*/site-packages".into());
        python("/usr/local/lib/python3*/dist-packages".into());
        python("/usr/lib/python3/dist-packages".into());
        // A conda environment has it in lib itself.
        folders.extend(environments.iter().flatten().map(|environment| environment.join("lib")));
        Self { named, folders }
    }

    /// Files to try, in this order.
    fn candidates(&self) -> Vec<PathBuf> {
        if let Some(named) = &self.named {
            return vec![named.clone()];
        }
        let mut files: Vec<PathBuf> = NAMES.iter().map(PathBuf::from).collect();
        for folder in self.folders.iter().flat_map(|pattern| expand(pattern)) {
            files.extend(libraries_in(&folder));
        }
        files
    }

    /// The places in words.
    fn searched(&self) -> Vec<String> {
        if let Some(named) = &self.named {
            return vec![format!("KNUDSEN_NVRTC={}", named.display())];
        }
        let loader = "the loader's path (LD_LIBRARY_PATH, ldconfig)".to_string();
        std::iter::once(loader)
            .chain(self.folders.iter().map(|folder| folder.display().to_string()))
            .collect()
    }
}

/// The folders of a pattern that are there; `*` stands for any part of a name. Newest names first.
fn expand(pattern: &Path) -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::new()];
    for part in pattern.components() {
        let name = part.as_os_str().to_string_lossy().into_owned();
        let Some((front, back)) = name.split_once('*') else {
            folders.iter_mut().for_each(|folder| folder.push(part));
            continue;
        };
        let fits = |name: &str| {
            name.len() >= front.len() + back.len() && name.starts_with(front) && name.ends_with(back)
        };
        folders = folders.iter().flat_map(|folder| names_in(folder, fits)).collect();
    }
    folders.retain(|folder| folder.is_dir());
    folders
}

/// `libnvrtc.so*` in a folder; not the builtins, not the variant for other C libraries (`.alt`).
fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    names_in(folder, |name| name.starts_with("libnvrtc.so"))
}

/// Entries of a folder by their names, from the last to the first: newer versions come first.
fn names_in(folder: &Path, fits: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| fits(name));
    names.sort_by(|a, b| b.cmp(a));
    names.into_iter().map(|name| folder.join(name)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn folders_of_pip_are_searched_newest_first() {
        let home = tempfile::tempdir().unwrap();
        let place = |name: &str| {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "no library").unwrap();
            path
        };
        let new = place("venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
        place("venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc-builtins.so.13.0");
        place("venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.alt.so.13");
        let old = place("venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
        let user = place(".local/lib/python3.9/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
        let places = Places::new(None, &[Some(home.path().join("venv")), None], Some(home.path()));
        let inside = |file: &PathBuf| file.starts_with(home.path());
        let found: Vec<PathBuf> = places.candidates().into_iter().filter(inside).collect();
        assert_eq!(found, [new.clone(), old, user]);
        assert_eq!(places.candidates()[0], Path::new("libnvrtc.so.13"), "the loader is asked first");

        let named = Places::new(Some(new.clone()), &[Some(home.path().join("venv"))], Some(home.path()));
        assert_eq!(named.candidates(), std::slice::from_ref(&new), "a named file is the only one");
        let told = Nvrtc::search(&named, Need::default()).unwrap_err().to_string();
        for part in [
            &format!("{} does not load", new.display()),
            "KNUDSEN_NVRTC=",
            "pip install 'nvidia-cuda-nvrtc==13.*'",
        ] {
            assert!(told.contains(part), "{part:?} is not in {told}");
        }
    }

    #[test]
    fn without_any_the_message_says_where_it_looked() {
        let places = Places { named: None, folders: vec!["/nowhere/lib".into()] };
        // The loader of this machine may know one.
        if let Err(error) = Nvrtc::search(&places, Need::default()) {
            let told = error.to_string();
            assert!(told.contains("LD_LIBRARY_PATH") && told.contains("/nowhere/lib"), "{told}");
        }
    }
}
