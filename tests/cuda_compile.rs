//! The kernels compile for every kind of GPU and every kind of scene. Needs NVRTC, and no GPU.
//! Must not know what the kernels compute.

#![cfg(feature = "cuda")]
// Helpers of tests may fall over as tests do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use knudsen::device::cuda::gas::{abi_checks, all_constants};
use knudsen::device::cuda::{CudaError, KernelSource, Need, Nvrtc, Target, compile_in};
use knudsen::device::gas::GasSetup;
use knudsen::scene::{Face, Model, Scene, Scheme, load};
use std::collections::BTreeSet;
use std::path::Path;

/// NVRTC; without it nothing can be tested, which is a failure where `scripts/test` has installed it.
fn has_nvrtc() -> bool {
    match Nvrtc::find(Need::default()) {
        Ok(_) => true,
        Err(error) => {
            assert!(std::env::var_os("KNUDSEN_NEED_NVRTC").is_none(), "{error}");
            eprintln!("SKIPPED: nothing was compiled: {error}");
            false
        }
    }
}

fn shipped() -> Vec<Scene> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let scenes: Vec<Scene> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "ron"))
        .map(|path| load(&path).unwrap_or_else(|error| panic!("{error}")))
        .collect();
    assert!(scenes.len() >= 5);
    scenes
}

/// Shipped scenes made small, so that cutting the walls takes no time, and variants of one of them with what none has.
fn scenes() -> Vec<Scene> {
    let mut scenes = shipped();
    for scene in &mut scenes {
        let Model::Gas(gas) = &mut scene.model;
        gas.domain.cells = gas.domain.cells.map(|cells| cells.min(12));
    }
    let sphere = scenes.iter().find(|scene| scene.name == "sphere").unwrap().clone();
    let mut vary = |change: &dyn Fn(&mut knudsen::scene::GasScene)| {
        let mut scene = sphere.clone();
        let Model::Gas(gas) = &mut scene.model;
        change(gas);
        scenes.push(scene);
    };
    for omega in [0.5, 0.75, 1.0, 0.74] {
        vary(&|gas| gas.gas.species[0].omega = omega);
    }
    vary(&|gas| gas.gas.species[0].alpha = 1.4);
    vary(&|gas| gas.gas.species[0].rotational_dof = 2);
    vary(&|gas| gas.collisions.scheme = Scheme::Off);
    vary(&|gas| gas.obstacles.clear());
    vary(&|gas| {
        gas.faces.y_min = Face::Periodic;
        gas.faces.y_max = Face::Periodic;
    });
    scenes
}

/// Compiles every kind of scene for a GPU: its number, and what its driver tells of it (threads of a multiprocessor, most
/// shared memory of a block; CUDA C++ Programming Guide, table of technical specifications per compute capability).
fn compiles(arch: u32, threads: u32, shared_bytes: u32) {
    if !has_nvrtc() {
        return;
    }
    let source = KernelSource::Embedded.assemble(&abi_checks()).unwrap();
    let mut kinds = BTreeSet::new();
    for (index, scene) in scenes().iter().enumerate() {
        let setup = GasSetup::new(scene).unwrap_or_else(|error| panic!("{}: {error}", scene.name));
        kinds.insert(all_constants(&setup, index == 0, (threads, shared_bytes)));
    }
    assert!(kinds.len() >= 8, "{kinds:#?}");
    let target = Target::only_compile(arch);
    for options in kinds {
        let code = compile_in(None, &source, &options, &target)
            .unwrap_or_else(|error| panic!("with {options:?}: {error}"));
        assert!(code.cubin.starts_with(b"\x7fELF") && !code.cached);
        assert_eq!(code.warnings, "", "with {options:?}");
        // The names of the kernels are in the table of symbols.
        for name in ["core_32", "fly_queue", "plan_scan", "fill_cells", "draw_pack"] {
            let name = name.as_bytes();
            assert!(code.cubin.windows(name.len()).any(|part| part == name), "{name:?}");
        }
    }
}

#[test]
fn for_turing() {
    compiles(75, 1024, 65_536);
}

#[test]
fn for_ampere() {
    compiles(80, 2048, 166_912);
}

#[test]
fn for_hopper() {
    compiles(90, 2048, 232_448);
}

#[test]
fn for_blackwell() {
    compiles(100, 2048, 232_448);
}

/// A kernel for the tests of the compiler and its cache.
const KERNEL: &str =
    "#line 7 \"here.cu\"\nextern \"C\" __global__ void twice(float* x) {\n    x[threadIdx.x] *= FACTOR;\n}\n";

#[test]
fn messages_carry_file_and_line_of_the_source() {
    if !has_nvrtc() {
        return;
    }
    let target = Target::only_compile(90);
    let error = compile_in(None, KERNEL, &[], &target).unwrap_err();
    let CudaError::Compile { arch, log } = &error else { panic!("{error}") };
    assert_eq!(arch, "sm_90");
    assert!(log.contains("here.cu(8): error") && log.contains("FACTOR"), "{log}");
    assert!(error.to_string().contains(log.as_str()));
}

#[test]
fn a_struct_laid_out_otherwise_does_not_compile() {
    if !has_nvrtc() {
        return;
    }
    let checks = abi_checks();
    let right = KernelSource::Embedded.assemble(&checks).unwrap();
    let setup = GasSetup::new(&scenes()[0]).unwrap();
    let options = all_constants(&setup, false, (2048, 232_448));
    let target = Target::only_compile(90);
    // One size, as Rust has it, is made another.
    let is_size = |line: &&str| line.starts_with("static_assert(sizeof(Control)");
    let first = checks.lines().find(is_size).unwrap();
    let number = 1 + checks.lines().position(|line| is_size(&line)).unwrap();
    let size = first.split("== ").nth(1).unwrap().split(',').next().unwrap();
    let wrong = right.replace(first, &first.replace(&format!("== {size},"), &format!("== {size}1,")));
    assert_ne!(right, wrong);
    let error = compile_in(None, &wrong, &options, &target).unwrap_err().to_string();
    let expected = format!("checks of shared structs({number}): error: static assertion failed");
    assert!(error.contains(&expected), "{error}");
}

#[test]
fn code_is_kept_and_a_broken_entry_is_made_anew() {
    if !has_nvrtc() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let options = ["-DFACTOR=2.0f".to_string()];
    let compile = |options: &[String], arch: u32| {
        compile_in(Some(folder.path()), KERNEL, options, &Target::only_compile(arch)).unwrap()
    };
    let first = compile(&options, 90);
    let again = compile(&options, 90);
    assert!(!first.cached && again.cached && first.cubin == again.cubin);
    assert!(!compile(&["-DFACTOR=3.0f".to_string()], 90).cached);
    assert!(!compile(&options, 80).cached);
    let entries: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(entries.len(), 3);
    for entry in &entries {
        let whole = std::fs::read(entry).unwrap();
        std::fs::write(entry, &whole[..whole.len() / 2]).unwrap();
    }
    let anew = compile(&options, 90);
    assert!(!anew.cached && anew.cubin == first.cubin);
    assert!(compile(&options, 90).cached);

    // A folder that cannot be made is no error: a file is in its place.
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let code = compile_in(Some(&file.join("in")), KERNEL, &options, &Target::only_compile(90)).unwrap();
    assert_eq!(code.cubin, first.cubin);
}

#[test]
fn what_nvrtc_cannot_do_is_told() {
    if !has_nvrtc() {
        return;
    }
    // A GPU of 2010, and a driver older than any NVRTC.
    for (need, text) in [
        (Need { driver: None, arch: Some(20) }, "does not compile for sm_20"),
        (Need { driver: Some((1, 0)), arch: None }, "too new for a driver of CUDA 1.0"),
    ] {
        let told = Nvrtc::find(need).unwrap_err().to_string();
        assert!(told.contains(text) && told.contains("pip install"), "{told}");
    }
}
