//! Compiles CUDA sources with the host's C++ compiler under the shim of `tests/cuda_host`, and runs them.
//! Must not know what the programs compute.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A compiled program; its folder goes when it is dropped.
pub struct HostProgram {
    _folder: tempfile::TempDir,
    binary: PathBuf,
}

impl HostProgram {
    /// Compiles `tests/cuda_host/<main>` with `defines` such as "VSS=1".
    ///
    /// Products and sums are not contracted, so that results are the same on every machine; kernels' warnings fail.
    pub fn compile(main: &str, defines: &[&str]) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = tempfile::tempdir().expect("a temporary folder is needed to compile in");
        let binary = folder.path().join("program");
        let mut command = Command::new(compiler());
        command
            .args(["-std=c++17", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"])
            // `#pragma unroll` is for the device; not each program calls every device function.
            .args(["-Wno-unknown-pragmas", "-Wno-unused-function"])
            .arg("-I")
            .arg(root.join("tests/cuda_host"))
            .arg("-I")
            .arg(root.join("kernels"))
            .args(defines.iter().map(|define| format!("-D{define}")))
            .arg("-o")
            .arg(&binary)
            .arg(root.join("tests/cuda_host").join(main));
        let output = command.output().expect("the compiler answered before");
        assert!(
            output.status.success(),
            "{main} does not compile on the host:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        Self { _folder: folder, binary }
    }

    /// Runs the program with these arguments and this input; what it wrote. Panics with its message if it fails.
    pub fn run(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        self.try_run(arguments, input).unwrap_or_else(|message| panic!("{arguments:?} failed: {message}"))
    }

    /// As [`Self::run`]; what it wrote to standard error if it fails.
    pub fn try_run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
        let mut child = Command::new(&self.binary)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the compiled program starts");
        let mut stdin = child.stdin.take().expect("the input is piped");
        // From a second thread: the program may fill its output's pipe before it has read all its input.
        let output = std::thread::scope(|scope| {
            scope.spawn(move || {
                // A program that stops early closes the pipe; its status then says why.
                let _ = stdin.write_all(input);
            });
            child.wait_with_output().expect("the compiled program ends")
        });
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }
}

/// The C++ compiler: `$CXX`, or the first of the usual names that answers.
fn compiler() -> String {
    let named = std::env::var("CXX").ok();
    let usual = ["c++", "g++", "clang++"].map(str::to_owned);
    named
        .into_iter()
        .chain(usual)
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()))
        .unwrap_or_else(|| {
            panic!(
                "no C++ compiler: install the package g++ (Debian, Ubuntu) or gcc-c++ (Fedora), or set CXX"
            )
        })
}
