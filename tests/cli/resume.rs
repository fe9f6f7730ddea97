//! Interruption and resumption: the same numbers as if nothing had happened, and no checkpoint taken for another.
//! Must not know what is in a checkpoint, but for its first bytes.

use crate::support::{Done, Place, done, mesh, signal, timeless, wait_until};
use std::fs;
use std::path::Path;

/// Fails unless two folders hold the same results.
#[track_caller]
fn assert_same(place: &Place, one: &str, other: &str) {
    let (mut a, mut b) = (place.files(one), place.files(other));
    for files in [&mut a, &mut b] {
        files.remove("checkpoint.ckpt");
        files.remove("summary.json");
    }
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    assert!(a.len() > 8);
    for (name, bytes) in &a {
        assert!(b[name] == *bytes, "{name} differs between {one} and {other}");
    }
    assert_eq!(timeless(place.summary(one)), timeless(place.summary(other)));
}

/// Runs until the checkpoint is there, and then sends that signal; the scene must be long enough.
fn cut(place: &Place, args: &[&str], checkpoint: &str, how: &str) -> Done {
    let child = place.start(args);
    wait_until("a checkpoint", || place.path(checkpoint).exists());
    signal(&child, how);
    done(child.wait_with_output().unwrap())
}

/// Step of the checkpoint in a folder, from what the program says when it goes on.
fn resumed_from(done: &Done) -> u64 {
    let line = done.out.lines().find_map(|line| line.strip_prefix("continuing from step ")).unwrap();
    line.parse().unwrap()
}

#[test]
fn killed_and_resumed_gives_the_same_numbers() {
    let place = Place::new();
    // Long enough that the kill comes before the end.
    for (scene, steps) in [("sphere.ron", "900"), ("auto.ron", "3000")] {
        place.scene(scene);
        let whole = format!("{scene}.whole");
        let parts = format!("{scene}.parts");
        place.works(&["run", scene, "-o", &whole, "--steps", steps, "--threads", "1"]);
        let checkpoint = format!("{parts}/checkpoint.ckpt");
        let args =
            ["run", scene, "-o", &parts, "--steps", steps, "--threads", "2", "--checkpoint-every", "30"];
        let killed = cut(&place, &args, &checkpoint, "KILL");
        assert_eq!(killed.code, None, "killed before its end: {killed:?}");
        assert!(!place.path(&parts).join("summary.json").exists(), "killed before its end");
        let last = place.works(&["run", scene, "-o", &parts, "--steps", steps, "--resume", &checkpoint]);
        let step = resumed_from(&last);
        assert!(step > 0 && step.is_multiple_of(30) && step < steps.parse().unwrap(), "{step}");
        // What a killed process was writing when it died stays behind under a temporary name.
        for name in place.names(&parts).iter().filter(|name| name.ends_with(".part")) {
            fs::remove_file(place.path(&parts).join(name)).unwrap();
        }
        assert_same(&place, &whole, &parts);
    }
}

#[test]
fn ctrl_c_writes_everything_and_the_run_goes_on_later() {
    let place = Place::new();
    place.scene("sphere.ron");
    place.works(&["run", "sphere.ron", "-o", "whole", "--steps", "900"]);
    let args = ["run", "sphere.ron", "-o", "parts", "--steps", "900", "--checkpoint-every", "30"];
    let interrupted = cut(&place, &args, "parts/checkpoint.ckpt", "INT");
    assert_eq!(interrupted.code, Some(130), "{interrupted:?}");
    assert!(interrupted.err.contains("interrupted: writing results and a checkpoint"), "{}", interrupted.err);
    assert!(interrupted.out.contains("continue with --resume parts/checkpoint.ckpt"), "{}", interrupted.out);
    let names = place.names("parts");
    assert!(
        names.contains(&"fields.vti".to_owned()) && names.contains(&"summary.json".to_owned()),
        "{names:?}"
    );
    assert!(!names.iter().any(|name| name.ends_with(".part")), "{names:?}");
    let step = place.summary("parts")["steps"].as_u64().unwrap();
    assert!((30..900).contains(&step), "{step}");

    let last = place.works(&[
        "run",
        "sphere.ron",
        "-o",
        "parts",
        "--steps",
        "900",
        "--resume",
        "parts/checkpoint.ckpt",
    ]);
    assert_eq!(resumed_from(&last), step);
    assert_same(&place, "whole", "parts");
}

#[test]
fn a_run_may_be_lengthened_and_one_that_is_over_says_so() {
    let place = Place::new();
    place.scene("sphere.ron");
    place.works(&["run", "sphere.ron", "-o", "out", "--steps", "30", "--checkpoint-every", "1000"]);
    let longer = place.works(&[
        "run",
        "sphere.ron",
        "-o",
        "longer",
        "--steps",
        "50",
        "--resume",
        "out/checkpoint.ckpt",
    ]);
    assert_eq!(resumed_from(&longer), 30);
    let summary = place.summary("longer");
    assert_eq!((&summary["steps"], &summary["scene"]["model"]["Gas"]["steps"]), (&50.into(), &50.into()));
    assert_eq!(
        summary["phase"],
        serde_json::json!({"Sampling": {"since": 20, "samples": 15}}),
        "averages go on"
    );

    for steps in ["30", "25"] {
        let over = place.works(&[
            "run",
            "sphere.ron",
            "-o",
            "over",
            "--steps",
            steps,
            "--resume",
            "out/checkpoint.ckpt",
        ]);
        assert!(over.err.contains("nothing is left to compute; ask for more with --steps"), "{}", over.err);
        assert_eq!(place.summary("over")["steps"], 30);
    }
}

#[test]
fn a_changed_scene_goes_on_where_it_can() {
    let place = Place::new();
    place.scene("sphere.ron");
    place.works(&["run", "sphere.ron", "-o", "out", "--steps", "40", "--checkpoint-every", "1000"]);
    let resume = ["run", "sphere.ron", "-o", "next", "--resume", "out/checkpoint.ckpt"];

    place.changed_scene("sphere.ron", &[("Diffuse(temperature_k: 300.0)", "Diffuse(temperature_k: 900.0)")]);
    place.works(&resume);
    let summary = place.summary("next");
    assert_eq!(summary["phase"]["Sampling"]["since"], 40, "averages start anew");
    assert!(summary["notes"].to_string().contains("step 40: the scene was changed, averages start anew"));

    for (old, new) in [
        ("seed: 3", "seed: 4"),
        ("radius_m: 0.15", "radius_m: 0.14"),
        ("(12, 10, 8)", "(12, 10, 9)"),
        ("particles_per_cell: 8.0", "particles_per_cell: 9.0"),
        ("omega: 0.75", "omega: 0.8"),
    ] {
        place.changed_scene("sphere.ron", &[(old, new)]);
        let before = place.files("next");
        place.refuses(&resume, &["out/checkpoint.ckpt", "start from the beginning", "leave out --resume"]);
        assert!(place.files("next") == before, "nothing is overwritten");
    }
}

#[test]
fn triangle_files_that_changed_are_noticed() {
    let place = Place::new();
    place.scene("icosahedron.ron");
    place.write("body.stl", mesh("icosahedron.stl"));
    place.works(&["run", "icosahedron.ron", "-o", "out", "--steps", "12", "--checkpoint-every", "1000"]);
    let resume = ["run", "icosahedron.ron", "-o", "next", "--resume", "out/checkpoint.ckpt"];
    place.works(&resume);
    fs::remove_dir_all(place.path("next")).unwrap();
    // As many triangles, elsewhere.
    place.write("body.stl", mesh("icosahedron_jittered.stl"));
    place.refuses(
        &resume,
        &["triangles of the obstacles are not those of this checkpoint", "put the triangle files back"],
    );
    assert!(!place.path("next").exists());
}

#[test]
fn broken_and_foreign_checkpoints_are_refused() {
    let place = Place::new();
    place.scene("sphere.ron");
    place.works(&["run", "sphere.ron", "-o", "out", "--steps", "25", "--checkpoint-every", "1000"]);
    let good = fs::read(place.path("out/checkpoint.ckpt")).unwrap();
    place.works(&["run", "sphere.ron", "-o", "kept"]);
    let kept = place.files("kept");
    let refused = |what: &str, path: &Path, texts: &[&str]| {
        let path = path.to_str().unwrap();
        let done =
            place.refuses(&["run", "sphere.ron", "-o", "kept", "--resume", path], &[&[path], texts].concat());
        assert!(place.files("kept") == kept, "{what}: something was overwritten");
        // Something to do is in it.
        assert!(
            ["start the scene anew", "give a file", "name ", "use ", "again", "resume with"]
                .iter()
                .any(|word| done.err.contains(word)),
            "{what}: {}",
            done.err
        );
        // Neither is the folder of a run created that cannot begin.
        place.refuses(&["run", "sphere.ron", "-o", "fresh", "--resume", path], &[]);
        assert!(!place.path("fresh").exists(), "{what}");
    };
    for length in [0, 3, 20, 200, good.len() / 2, good.len() - 1] {
        let path = place.write("cut.ckpt", &good[..length]);
        refused(&format!("cut to {length} bytes"), &path, &["not a usable checkpoint"]);
    }
    for at in [0, 9, 14, 40, good.len() / 3, good.len() / 2, good.len() - 2] {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        let path = place.write("flipped.ckpt", bytes);
        refused(&format!("bit flipped in byte {at}"), &path, &["not a usable checkpoint"]);
    }
    // Of another version of the format, with sound check sums.
    let mut bytes = good.clone();
    bytes[8..12].copy_from_slice(&7_u32.to_le_bytes());
    let sum = crc32fast::hash(&bytes[..28]);
    bytes[28..32].copy_from_slice(&sum.to_le_bytes());
    refused("version 7", &place.write("new.ckpt", bytes), &["not a usable checkpoint", "7"]);
    refused("longer", &place.write("longer.ckpt", [&good[..], b"x"].concat()), &["not a usable checkpoint"]);
    refused("picture", &place.path("out/slice_mach_z.png"), &["not a usable checkpoint"]);
    refused("folder", &place.path("out"), &["name the file in it", "out/checkpoint.ckpt"]);
    refused("missing", &place.path("missing.ckpt"), &["cannot be opened"]);
}
