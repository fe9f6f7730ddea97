//! `knudsen record` and `knudsen view` from end to end, by the software driver: videos that decode frame by frame, and what
//! is refused. Must not know how they are made.

use crate::support::{Place, SmallDisk, done, signal, wait_until};
use openh264::decoder::Decoder;
use openh264::formats::YUVSource;
use std::fs;
use std::path::Path;

/// A recording that takes seconds.
const SHORT: [&str; 8] = ["--size", "320x180", "--fps", "10", "--every", "2", "--particles", "5000"];

fn record<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ["record", "sphere.ron"].iter().chain(&SHORT).chain(more).copied().collect()
}

/// The frames of an mp4 file: mean brightness, and the luma plane.
fn frames(path: &Path) -> Vec<(f64, Vec<u8>)> {
    let bytes = fs::read(path).unwrap();
    // The samples lie one after the other in the mdat box, each NAL unit behind its length.
    let mdat = boxes(&bytes).into_iter().find(|(kind, _)| kind == b"mdat").expect("an mdat box").1;
    let mut decoder = Decoder::new().unwrap();
    let mut shown = Vec::new();
    let mut take = |picture: openh264::decoder::DecodedYUV<'_>| {
        let ((width, height), stride) = (picture.dimensions(), picture.strides().0);
        let luma: Vec<u8> =
            (0..height).flat_map(|y| picture.y()[y * stride..y * stride + width].iter().copied()).collect();
        let mean = luma.iter().map(|&y| f64::from(y)).sum::<f64>() / luma.len() as f64;
        shown.push((mean, luma));
    };
    // Parameter sets are in the sample description, and in front of key frames in the stream.
    for set in parameter_sets(&bytes) {
        decoder.decode(&[&[0, 0, 0, 1], set.as_slice()].concat()).unwrap();
    }
    let mut rest = mdat;
    while rest.len() > 4 {
        let length = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
        let unit = &rest[4..4 + length];
        rest = &rest[4 + length..];
        if let Some(picture) = decoder.decode(&[&[0, 0, 0, 1], unit].concat()).unwrap() {
            take(picture);
        }
    }
    for picture in decoder.flush_remaining().unwrap() {
        take(picture);
    }
    shown
}

fn boxes(mut bytes: &[u8]) -> Vec<(&[u8], &[u8])> {
    let mut found = Vec::new();
    while bytes.len() >= 8 {
        let length = u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
        found.push((&bytes[4..8], &bytes[8..length]));
        bytes = &bytes[length..];
    }
    found
}

/// The sequence and picture parameter sets of the avcC box.
fn parameter_sets(bytes: &[u8]) -> Vec<Vec<u8>> {
    let at = bytes.windows(4).position(|window| window == b"avcC").expect("an avcC box") + 4;
    let avcc = &bytes[at..];
    let mut sets = Vec::new();
    let mut place = 5;
    for mask in [0x1f, 0xff] {
        let count = avcc[place] & mask;
        place += 1;
        for _ in 0..count {
            let length = u16::from_be_bytes([avcc[place], avcc[place + 1]]) as usize;
            sets.push(avcc[place + 2..place + 2 + length].to_vec());
            place += 2 + length;
        }
    }
    sets
}

#[test]
fn a_video_has_its_frames_and_a_sidecar_that_says_how() {
    let place = Place::new();
    place.scene("sphere.ron");
    place.works(&record(&["--seconds", "1", "-o", "out/a.mp4"]));
    assert_eq!(place.names("out"), ["a.mp4", "a.txt"], "nothing else stays behind");
    let shown = frames(&place.path("out/a.mp4"));
    assert_eq!(shown.len(), 10);
    for (mean, luma) in &shown {
        assert_eq!(luma.len(), 320 * 180);
        // A dark background with something bright on it.
        let bright = luma.iter().filter(|&&y| y > 120).count() as f64 / luma.len() as f64;
        assert!(
            (20.0..140.0).contains(mean) && bright > 0.005 && bright < 0.7,
            "mean {mean}, bright {bright}"
        );
    }
    // The flow moves, and the camera turns: no two frames are the same picture.
    assert!(shown.windows(2).all(|pair| pair[0].1 != pair[1].1));
    let sidecar = fs::read_to_string(place.path("out/a.txt")).unwrap();
    for text in ["record sphere.ron", "seed: ", "frames: 10 of 10", "radius_m: 0.15", "device: CPU"] {
        assert!(sidecar.contains(text), "{text:?} is not in {sidecar}");
    }
}

#[test]
fn the_same_recording_twice_is_the_same_bytes() {
    let place = Place::new();
    place.scene("sphere.ron");
    for folder in ["one", "two"] {
        place.works(&record(&["--seconds", "0.4", "--from-step", "3", "-o", folder, "--supersampling", "2"]));
    }
    assert_eq!(place.names("one").len(), 4, "{:?}", place.names("one"));
    assert!(place.files("one") == place.files("two"));
    let sidecar = fs::read_to_string(place.path("one.txt")).unwrap();
    assert!(sidecar.contains("frames: 4 of 4"), "{sidecar}");
}

#[test]
fn everything_there_is_to_draw_can_be_recorded() {
    let place = Place::new();
    place.scene("sphere.ron");
    let look = [
        "--seconds",
        "0.2",
        "-o",
        "all",
        "--paint",
        "temperature",
        "--additive",
        "--slice",
        "z=0.5",
        "--slice",
        "x=0.4",
        "--field",
        "mach",
        "--map",
        "viridis",
        "--range",
        "0,4",
        "--cells",
        "--surface",
        "pressure",
        "--half",
        "--glyphs",
        "--streamlines",
        "--isosurface",
        "temperature=300",
        "--from",
        "+x",
        "--turn",
        "0",
    ];
    place.works(&record(&look));
    assert_eq!(place.names("all"), ["frame_00000.png", "frame_00001.png"]);
}

#[test]
fn what_cannot_be_recorded_is_said_with_what_to_do() {
    let place = Place::new();
    place.scene("sphere.ron");
    let refuses = |more: &[&str], texts: &[&str]| {
        place.refuses(&record(more), texts);
    };
    place.refuses(&["record", "missing.ron"], &["missing.ron"]);
    refuses(&["--seconds", "0"], &["--seconds", "3600"]);
    refuses(&["--field", "warmth", "--seconds", "0.1"], &["no field \"warmth\"", "temperature"]);
    refuses(&["--surface", "shine", "--seconds", "0.1"], &["\"shine\"", "pressure"]);
    refuses(&["--from", "nowhere"], &["nowhere", "+x"]);
    refuses(&["--slice", "q=1"], &["q=1"]);
    refuses(&["--slice", "z=99"], &["99", "outside"]);
    refuses(&["--log", "--range", "-1,5"], &["above 0"]);
    let odd = ["record", "sphere.ron", "--size", "321x180", "-o", "a.mp4", "--seconds", "0.1"];
    place.refuses(&odd, &["321", "even"]);
    refuses(&["-o", "/proc/none/a.mp4"], &["/proc/none"]);
    refuses(&["-o", "a.avi", "--seconds", "0.1"], &[".avi", ".mp4"]);
    assert!(!place.path("out/sphere.mp4").exists() && !place.path("a.mp4").exists());
    for wrong in ["--turn=nan", "--camera=1,2", "--range=3,1", "--isosurface=temperature", "--map=jet"] {
        let told = place.call(&record(&[wrong]));
        assert_eq!(told.code, Some(2), "{told:#?}");
    }
}

#[test]
fn without_a_graphics_driver_or_a_display_there_is_a_plain_message() {
    let place = Place::new();
    place.scene("sphere.ron");
    let without = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = place.command(args);
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
        command.envs(variables.iter().copied());
        let told = done(command.output().unwrap());
        assert_eq!(told.code, Some(1), "{told:#?}");
        assert!(!told.err.contains("panicked"), "{told:#?}");
        told.err
    };
    let no_driver = [("VK_DRIVER_FILES", "/nowhere.json"), ("VK_ICD_FILENAMES", "/nowhere.json")];
    let message = without(&record(&["-o", "a.mp4"]), &no_driver);
    assert!(message.contains("no Vulkan driver") && message.contains("mesa-vulkan-drivers"), "{message}");
    assert_eq!(place.names("."), ["sphere.ron"], "nothing is created");
    let message = without(&["view", "sphere.ron"], &[]);
    assert!(message.contains("no display") && message.contains("knudsen record"), "{message}");
    let message = without(&["view", "sphere.ron"], &[("DISPLAY", ":9731")]);
    assert!(message.contains(":9731") && message.contains("does not answer"), "{message}");
}

#[test]
fn a_full_disk_keeps_the_frames_before_it() {
    let place = Place::new();
    place.scene("sphere.ron");
    let Some(_disk) = SmallDisk::mount(place.path("disk"), 200_000) else {
        eprintln!("SKIPPED: no right to mount a tmpfs: a full disk is not tested");
        return;
    };
    let long = record(&["--seconds", "20", "-o", "disk/a.mp4"]);
    place.refuses(&long, &["No space left on device", "the frames before", "disk/a.mp4"]);
    let kept = frames(&place.path("disk/a.mp4")).len();
    assert!((1..200).contains(&kept), "{kept} frames");
    assert!(!place.path("disk/a.part.h264").exists());
}

#[test]
fn interrupted_recordings_keep_what_there_is() {
    let place = Place::new();
    place.scene("sphere.ron");
    let child = place.start(&record(&["--seconds", "60", "-o", "a.mp4"]));
    let spare = place.path("a.part.h264");
    wait_until("frames are on the disk", || fs::metadata(&spare).is_ok_and(|file| file.len() > 20_000));
    signal(&child, "INT");
    let told = done(child.wait_with_output().unwrap());
    assert_eq!(told.code, Some(130), "{told:#?}");
    let kept = frames(&place.path("a.mp4")).len();
    assert!((2..600).contains(&kept), "{kept} frames");
    assert!(fs::read_to_string(place.path("a.txt")).unwrap().contains(&format!("frames: {kept} of 600")));
    assert!(!spare.exists());
}

#[test]
fn the_way_to_the_first_frame_can_be_interrupted() {
    let place = Place::new();
    place.scene("sphere.ron");
    let child = place.start(&record(&["--from-step", "100000000", "-o", "a.mp4"]));
    let spare = place.path("a.part.h264");
    wait_until("the recording has begun", || spare.exists());
    std::thread::sleep(std::time::Duration::from_secs(2));
    signal(&child, "INT");
    let told = done(child.wait_with_output().unwrap());
    assert_eq!(told.code, Some(130), "{told:#?}");
    assert_eq!(place.names("."), ["sphere.ron"], "nothing was recorded, and nothing stays behind");
}
