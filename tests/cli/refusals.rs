//! What the program refuses: broken scenes and bodies, unwritable outputs, full disks, senseless arguments.
//! Must not know how it finds out.

use crate::support::{Place, SmallDisk, mesh};
use std::fs;

#[test]
fn broken_scenes_are_refused_with_their_places_and_nothing_is_created() {
    let place = Place::new();
    place.changed_scene(
        "sphere.ron",
        &[("radius_m: 0.15", "radius_m: -0.15"), ("steps: 60", "step: 60"), ("(12, 10, 8)", "(12, 0, 8)")],
    );
    // Lines and columns of the three, as an editor counts them.
    let text = fs::read_to_string(place.path("sphere.ron")).unwrap();
    let at = |what: &str| {
        let before = &text[..text.find(what).unwrap()];
        let column = before.len() - before.rfind('\n').unwrap();
        format!("sphere.ron:{}:{column}: ", before.lines().count())
    };
    let places = [at("-0.15"), at("step: 60"), at("0, 8)")];
    for command in [&["run", "sphere.ron", "-o", "out"][..], &["check", "sphere.ron"], &["run", "sphere.ron"]]
    {
        let texts: Vec<&str> =
            places.iter().map(String::as_str).chain(["3 problems; nothing was computed"]).collect();
        let done = place.refuses(command, &texts);
        assert_eq!(done.out, "", "problems are no output");
        assert_eq!(place.names("."), ["sphere.ron"], "nothing is created");
    }
    place.refuses(&["run", "missing.ron"], &["missing.ron"]);
    place.refuses(&["check", "."], &[]);
    place.write("bytes.ron", [0xff, 0xfe, 0x00, 0x80]);
    place.refuses(&["run", "bytes.ron"], &["bytes.ron"]);
    assert_eq!(place.names("."), ["bytes.ron", "sphere.ron"]);
}

#[test]
fn broken_bodies_are_refused_with_what_to_do() {
    let place = Place::new();
    place.scene("icosahedron.ron");
    place.refuses(&["check", "icosahedron.ron"], &["icosahedron.ron:17:31", "there is no file", "body.stl"]);
    for (file, text) in [
        ("broken/open_mesh.stl", "not watertight"),
        ("broken/truncated_binary.stl", "body.stl"),
        ("broken/garbage.stl", "body.stl"),
        ("broken/nan_ascii.stl", "line"),
    ] {
        place.write("body.stl", mesh(file));
        for command in [&["run", "icosahedron.ron", "-o", "out"][..], &["check", "icosahedron.ron"]] {
            place.refuses(command, &["body", text]);
            assert!(!place.path("out").exists(), "{file}");
        }
    }
    // Sound, but in millimetres, or in the wrong place, or so large that it leaves no gas.
    place.write("body.stl", mesh("icosahedron.stl"));
    for (old, new, text) in [
        (
            "(0.5, 0.5, 0.5)",
            "(0.5, 0.5, -3.0)",
            "obstacle \"body\" is outside the domain: it reaches from z =",
        ),
        ("scale: 0.15", "scale: 1e3", "the obstacles fill the whole domain"),
    ] {
        place.changed_scene("icosahedron.ron", &[(old, new)]);
        place.refuses(&["run", "icosahedron.ron", "-o", "out"], &[text]);
        place.refuses(&["check", "icosahedron.ron"], &[text]);
        assert!(!place.path("out").exists());
    }
}

#[test]
fn too_large_for_memory_is_refused_with_what_would_fit() {
    let place = Place::new();
    place.changed_scene("sphere.ron", &[("particles_per_cell: 8.0", "particles_per_cell: 4.0e6")]);
    let done = place
        .refuses(&["run", "sphere.ron", "-o", "out"], &["not enough memory", "would fit with these cells"]);
    assert!(!place.path("out").exists());
    let fitting = done.err.split("particles_per_cell: ").nth(1).unwrap().split(' ').next().unwrap();
    assert!(fitting.parse::<f64>().unwrap() > 1.0, "{fitting}");
    place.refuses(&["check", "sphere.ron"], &["not enough memory", "would fit with these cells"]);

    // Cells so many that even their table does not fit are refused before it is made.
    place.changed_scene(
        "sphere.ron",
        &[("(12, 10, 8)", "(1290, 1290, 1290)"), ("particles_per_cell: 8.0", "particles_per_cell: 0.01")],
    );
    for command in ["run", "check"] {
        place.refuses(&[command, "sphere.ron"], &["not enough memory", "are too many: take fewer"]);
    }
}

#[test]
fn unwritable_outputs_are_refused_before_the_run() {
    let place = Place::new();
    place.scene("sphere.ron");
    place.write("file", "kept");
    // Very long, so that refusing afterwards would be noticed.
    let run = |folder: &str, text: &str| {
        place.refuses(&["run", "sphere.ron", "--steps", "100000000", "-o", folder], &[folder, text]);
    };
    run("file", "is a file, not a folder");
    run("file/out", "is a file, not a folder");
    assert_eq!(fs::read(place.path("file")).unwrap(), b"kept");
    run("/proc/out", "cannot write");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let closed = place.path("closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
        if fs::write(closed.join("try"), "").is_ok() {
            eprintln!("SKIPPED: this user may write into read-only folders (root?): they are not tested");
        } else {
            run("closed", "choose a folder in which you may write");
            run("closed/out", "choose a folder in which you may write");
        }
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    }
    // A folder that has the name of a result is found at the end only: the others must not be written then.
    fs::create_dir_all(place.path("taken/summary.json")).unwrap();
    place.refuses(&["run", "sphere.ron", "-o", "taken"], &["summary.json", "there is a folder of this name"]);
    assert_eq!(place.names("taken"), ["summary.json"]);
}

#[test]
fn a_full_disk_leaves_earlier_results_whole() {
    let place = Place::new();
    place.scene("sphere.ron");
    // Room for the results once, but not for those of a second run beside them before they are exchanged.
    let Some(disk) = SmallDisk::mount(place.path("disk"), 2_000_000) else {
        eprintln!("SKIPPED: no right to mount a tmpfs: a full disk is not tested");
        return;
    };
    place.works(&["run", "sphere.ron", "-o", "disk/out"]);
    let before = place.files("disk/out");
    place.refuses(
        &["run", "sphere.ron", "-o", "disk/out", "--seed", "9"],
        &["cannot write disk/out/", "No space left on device", "free some space, or choose another folder"],
    );
    assert!(place.files("disk/out") == before, "earlier results are untouched, and no .part file is left");

    // A checkpoint that does not fit any more.
    place.write("disk/filling", vec![0; 500_000]);
    let args = ["run", "sphere.ron", "-o", "disk/out", "--checkpoint-every", "20"];
    place.refuses(&args, &["disk/out/checkpoint.ckpt", "free some space"]);
    assert!(place.files("disk/out") == before);
    drop(disk);
}

#[test]
fn senseless_arguments_are_refused() {
    let place = Place::new();
    place.scene("sphere.ron");
    let wrong: [&[&str]; 12] = [
        &[],
        &["fly"],
        &["run"],
        &["run", "sphere.ron", "--steps", "0"],
        &["run", "sphere.ron", "--steps", "-5"],
        &["run", "sphere.ron", "--steps", "many"],
        &["run", "sphere.ron", "--threads", "100000"],
        &["run", "sphere.ron", "--checkpoint-every", "0"],
        &["run", "sphere.ron", "--device", "abacus"],
        &["run", "sphere.ron", "--fast"],
        &["check"],
        &["plot", "fields.vti"],
    ];
    for args in wrong {
        let done = place.call(args);
        assert_eq!(done.code, Some(2), "{args:?}: {done:?}");
        assert!(done.err.contains("Usage:") || done.err.contains("--help"), "{args:?}: {}", done.err);
    }
    assert_eq!(place.names("."), ["sphere.ron"], "nothing is created");
}

#[test]
fn the_device_that_computes_is_told() {
    let place = Place::new();
    place.scene("sphere.ron");
    let devices = place.works(&["devices"]).out;
    let auto = place.works(&["run", "sphere.ron", "--device", "auto", "--steps", "2", "-o", "out"]).out;
    if devices.contains("--device auto takes the CPU") {
        place.refuses(&["run", "sphere.ron", "--device", "cuda"], &["use --device cpu"]);
        assert!(
            auto.contains("no CUDA: ") && auto.contains("`knudsen devices`"),
            "the fallback is told: {auto}"
        );
    } else {
        assert!(auto.contains("GPU 0: "), "{auto}");
    }
}

#[test]
fn senseless_numbers_are_refused_before_the_run() {
    let place = Place::new();
    for (old, new, text) in [
        ("Seconds(2e-5)", "Seconds(1.0)", "particles enter a domain that holds"),
        ("Seconds(2e-5)", "Seconds(1e-60)", "time step is too small or too large"),
        ("Seconds(2e-5)", "Seconds(1e-20)", "is so short that the gas needs"),
        ("particles_per_cell: 8.0", "particles_per_cell: 1e-7", "raise particles_per_cell"),
        ("size_m: (1.0, 0.8, 0.6)", "size_m: (1.0, 0.8, 1.0e13)", "edges must be from 1e-12 to 1e12 m"),
    ] {
        place.changed_scene("sphere.ron", &[(old, new)]);
        place.refuses(&["run", "sphere.ron", "-o", "out"], &[text]);
        assert!(!place.path("out").exists(), "{new}");
    }
}
