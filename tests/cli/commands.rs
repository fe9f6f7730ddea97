//! `check`, `plot`, `bench` and `--help`: what they print and write.
//! Must not know how they work inside.

use crate::run::assert_picture;
use crate::support::{Place, mesh};

#[track_caller]
fn assert_has(text: &str, wanted: &[&str]) {
    for part in wanted {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

#[test]
fn check_says_what_a_scene_means() {
    let place = Place::new();
    place.scene("sphere.ron");
    let out = place.works(&["check", "sphere.ron"]).out;
    assert_has(&out, &["the scene is valid", "n 3.6215e19 1/m^3", "Mach 4.000", "speed 1052.90 m/s"]);
    // Which mean free path, and which Knudsen number: lambda = 42.26 mm over the diameter of 0.3 m.
    assert_has(&out, &["VHS mean free path", "42.26 mm", "Knudsen number 0.1409 (by the length 300.0 mm)"]);
    assert_has(
        &out,
        &["hard-sphere mean free path", "mean free path from viscosity", "mean collision time 129.9 µs"],
    );
    assert_has(&out, &["resolution in the stream", "cell size / mean free path", "too large by 97 %"]);
    assert_has(&out, &["time step / mean collision time     0.154   <= 0.2   ok", "too small by 20 %"]);
    assert_has(
        &out,
        &[
            "behind a normal shock",
            "12 x 10 x 8 = 960 cells",
            "particles of undisturbed gas",
            "memory: about",
        ],
    );
    // 960 cells of 8, less the sphere.
    let particles: f64 = out
        .split(" particles of undisturbed gas")
        .next()
        .unwrap()
        .split(' ')
        .next_back()
        .unwrap()
        .parse()
        .unwrap();
    let sphere = 4.0 / 3.0 * std::f64::consts::PI * 0.15_f64.powi(3) / (1.0 * 0.8 * 0.6);
    assert!((particles / (7680.0 * (1.0 - sphere)) - 1.0).abs() < 1e-3, "{particles}");
    assert_eq!(place.names("."), ["sphere.ron"], "check writes nothing");

    place.scene("icosahedron.ron");
    place.write("body.stl", mesh("icosahedron.stl"));
    let out = place.works(&["check", "icosahedron.ron"]).out;
    assert_has(&out, &["body.stl (ASCII STL): 20 triangles, 12 vertices", "watertight   yes; shells 1"]);
}

#[test]
fn plots_of_the_files_of_a_run() {
    let place = Place::new();
    place.scene("sphere.ron");
    place.works(&["run", "sphere.ron", "-o", "out"]);
    let plots: [(&[&str], &str, &str); 4] = [
        (&["out/fields.vti", "-f", "temperature"], "fields_temperature.png", "temperature T [K] at z = "),
        (
            &["out/fields.vti", "-f", "number_density", "-s", "x=0.25", "--log", "-o", "a.png"],
            "a.png",
            "at x = ",
        ),
        (
            &["out/fields_avg.dat", "-f", "velocity_x", "-s", "y=0.4", "--range", "0..1200", "-o", "b.png"],
            "b.png",
            "at y = ",
        ),
        (&["out/history.csv", "-f", "drag_coefficient_ball", "-o", "c.png"], "c.png", "against time"),
    ];
    for (args, picture, said) in plots {
        let done = place.works(&[&["plot"], args].concat());
        assert_has(&done.out, &[picture, said]);
        assert_picture(&place.path(picture));
    }
    let before = place.names(".");
    let refused: [(&[&str], &[&str]); 7] = [
        (&["out/fields.vti", "-f", "temprature"], &["temprature", "temperature", "number_density"]),
        (&["out/fields.vti", "-f", "temperature", "-s", "z=7"], &["z", "0.6"]),
        (&["out/fields.vti", "-f", "temperature", "-s", "w=0.1"], &["w=0.1"]),
        (&["out/fields.vti", "-f", "temperature", "--range", "5..1"], &["5..1"]),
        (&["out/history.csv", "-f", "drag"], &["drag", "drag_coefficient_ball"]),
        (&["out/missing.vti", "-f", "temperature"], &["out/missing.vti", "check the path"]),
        (&["out/summary.json", "-f", "temperature"], &["out/summary.json"]),
    ];
    for (args, texts) in refused {
        place.refuses(&[&["plot"], args].concat(), texts);
    }
    assert_eq!(place.names("."), before);
    place.refuses(
        &["plot", "out/fields.vti", "-f", "temperature", "-o", "no/where.png"],
        &["no/where.png", "create its folder"],
    );
}

#[test]
fn bench_prints_its_table() {
    let place = Place::new();
    let cpu = ["--steps", "4", "--threads", "1", "--device", "cpu"];
    let args = [&["bench", "--case", "free", "--particles", "2000"][..], &cpu].concat();
    let out = place.works(&args).out;
    assert_has(&out, &["device CPU", "f32", "version", "particles", "cells", "a cell", "M steps/s", "bytes"]);
    assert_has(&out, &["quoted, not measured", "the seed", "SPARTA", "H200"]);
    let at = out.lines().position(|line| line.starts_with("free ")).unwrap();
    let row: Vec<&str> = out.lines().nth(at).unwrap().split_whitespace().collect();
    assert_eq!(row.len(), 12, "{row:?}");
    // 6 x 6 x 6 cells of 10; a quarter of the steps before; one repeat; no samples.
    assert_eq!(row[1..7], ["2160", "216", "10", "1", "1x4", "0"]);
    assert!(row[7].parse::<f64>().unwrap() > 0.0, "speed");
    let phases = out.lines().nth(at + 1).unwrap();
    assert_has(phases, &["collide", "sample", "move", "inflow", "sort"]);
    let words: Vec<&str> = phases.split_whitespace().collect();
    let shares: f64 =
        words.windows(2).filter(|pair| pair[1] == "%").map(|pair| pair[0].parse::<f64>().unwrap()).sum();
    assert!((shares - 100.0).abs() < 0.5, "{phases}");
    let sizes = place.works(&[&["bench", "sizes", "--most", "1000"][..], &cpu].concat()).out;
    assert_eq!(sizes.lines().filter(|line| line.starts_with("seed ")).count(), 6, "{sizes}");
    let few = place.call(&["bench", "--particles", "10"]);
    assert_eq!(few.code, Some(2), "{few:?}");
    assert_has(&few.err, &["--particles", "at least 1000"]);
}

#[test]
fn help_names_every_option_with_what_it_does() {
    let place = Place::new();
    let help = |command: &str| place.works(&[command, "--help"]).out;
    assert_has(
        &place.works(&["--help"]).out,
        &["run", "check", "plot", "bench", "verify", "devices", "scenes/sphere.ron"],
    );
    assert_has(&place.works(&["--version"]).out, &["knudsen ", env!("CARGO_PKG_VERSION")]);
    let run = help("run");
    assert_has(
        &run,
        &[
            "<SCENE>",
            "-o, --output",
            "--steps",
            "--device",
            "--kernels",
            "--threads",
            "--seed",
            "--resume",
            "--checkpoint-every",
            "--particles",
        ],
    );
    assert_has(&run, &["auto", "cpu", "cuda", "[default: auto]", "[default: 100000]"]);
    assert_has(&help("check"), &["<SCENE>"]);
    assert_has(
        &help("plot"),
        &[
            "<FILE>",
            "-f, --field",
            "-s, --slice",
            "-o, --output",
            "--range",
            "--log",
            "--map",
            "--size",
            "Examples:",
        ],
    );
    assert_has(
        &help("bench"),
        &[
            "--case",
            "--particles",
            "--device",
            "--threads",
            "--steps",
            "--warm",
            "--repeat",
            "--every",
            "--sampled",
            "collide",
            "sphere",
            "table",
            "seed100",
            "seed300",
            "sizes",
        ],
    );
    // Every option has a description: no line of the list of options ends with its name.
    for command in ["run", "plot", "bench"] {
        let text = help(command);
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines
            .windows(2)
            .filter(|pair| pair[0].trim_start().starts_with("--") || pair[0].trim_start().starts_with("-o,"))
        {
            let described = pair[0].trim().contains("  ") || pair[1].starts_with("          ");
            assert!(described, "{command}: {}", pair[0]);
        }
    }
}
