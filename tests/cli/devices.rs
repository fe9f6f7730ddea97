//! `devices`, and how a device is named: `--device`, `--kernels`. Run with and without a GPU and NVRTC.
//! Must not know how devices are found.

use crate::support::Place;

#[test]
fn devices_are_listed_with_what_is_missing() {
    let done = Place::new().works(&["devices"]);
    assert!(done.out.contains("CPU ") && done.out.contains("thread"), "{}", done.out);
    assert!(done.out.contains("--device auto takes "), "{}", done.out);
    let gpu = done.out.contains("compute capability");
    if cfg!(feature = "cuda") {
        assert!(gpu || done.out.contains("--device cpu"), "what to do is told: {}", done.out);
        assert!(done.out.contains("NVRTC "), "{}", done.out);
    } else {
        assert!(done.out.contains("built without CUDA"), "{}", done.out);
    }
}

#[test]
fn a_file_named_as_nvrtc_is_the_only_one() {
    if cfg!(feature = "cuda") {
        let place = Place::new();
        let file = place.write("libnvrtc.so.13", "no library");
        let output = place.command(&["devices"]).env("KNUDSEN_NVRTC", &file).output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success());
        assert!(out.contains(&format!("{} does not load", file.display())), "{out}");
        assert!(out.contains("looked in: KNUDSEN_NVRTC="), "{out}");
    }
}

#[test]
fn a_gpu_that_is_not_there_is_refused() {
    let place = Place::new();
    place.scene("sphere.ron");
    // No machine has sixteen.
    place.refuses(
        &["run", "sphere.ron", "--device", "cuda:15"],
        &[if cfg!(feature = "cuda") { "GPU" } else { "CUDA" }],
    );
    assert_eq!(place.names("."), ["sphere.ron"], "nothing is created");
    for wrong in ["cuda:16", "cuda:", "cuda:-1", "cuda1", "gpu"] {
        assert_eq!(place.call(&["run", "sphere.ron", "--device", wrong]).code, Some(2), "{wrong}");
    }
}

#[test]
fn kernels_are_for_gpus() {
    let place = Place::new();
    place.scene("sphere.ron");
    place.refuses(
        &["run", "sphere.ron", "--device", "cpu", "--kernels", "k"],
        &["--kernels k: only a GPU has kernels, and this is CPU", "--device cuda"],
    );
}
