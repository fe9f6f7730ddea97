//! Compiles tests/cuda_host/walls_main.cpp with g++ and runs it on binary cases.
//! Knows nothing of what the cases are, beyond walls.

use bytemuck::Pod;
use knudsen::device::cuda::walls::{HostWalls, WallsAddresses, layout_asserts};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// The compiled program.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cuda_walls");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("layout.h"), layout_asserts()).unwrap();
    let program = folder.join("walls_main");
    let output = Command::new("g++")
        .args(["-std=c++17", "-O1", "-ffp-contract=off", "-Wno-unknown-pragmas", "-Wall", "-Wextra", "-o"])
        .arg(&program)
        .arg(root.join("tests/cuda_host/walls_main.cpp"))
        .arg("-I")
        .arg(root.join("kernels"))
        .arg("-I")
        .arg(&folder)
        .output()
        .expect("g++ does not run: install the package g++");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.is_empty(), "g++ on tests/cuda_host/walls_main.cpp:\n{text}");
    program
});

/// Runs the program; returns its answers, one for each case.
pub fn run<A: Pod>(what: &str, input: Vec<u8>) -> Vec<A> {
    let mut child =
        Command::new(&*PROGRAM).arg(what).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&input).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{what}");
    assert!(output.stdout.len().is_multiple_of(size_of::<A>()), "{what}");
    output.stdout.chunks_exact(size_of::<A>()).map(bytemuck::pod_read_unaligned).collect()
}

/// Writes a count and as many values.
pub fn put<T: Pod>(bytes: &mut Vec<u8>, values: &[T]) {
    bytes.extend_from_slice(&(values.len() as u64).to_le_bytes());
    bytes.extend_from_slice(bytemuck::cast_slice(values));
}

/// A case's walls as the program reads them.
pub fn packed(walls: &HostWalls) -> Vec<u8> {
    let mut bytes = bytemuck::bytes_of(&walls.view(WallsAddresses::default())).to_vec();
    put(&mut bytes, &walls.faces);
    put(&mut bytes, &walls.states);
    put(&mut bytes, &walls.clearance);
    put(&mut bytes, &walls.wall_cells);
    put(&mut bytes, &walls.list);
    put(&mut bytes, &walls.sieves);
    put(&mut bytes, &walls.triangles);
    bytes
}
