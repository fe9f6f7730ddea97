//! `knudsen run` to the end: every file, and the same bits again.
//! Must not know how files are written.

use crate::support::{Place, timeless};
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn a_run_leaves_all_its_files_whole() {
    let place = Place::new();
    place.scene("sphere.ron");
    let done = place.works(&["run", "sphere.ron", "-o", "deep/out", "--device", "cpu", "--threads", "2"]);
    let expected = [
        "fields.vti",
        "fields_avg.dat",
        "history.csv",
        "history_drag_coefficient_ball.png",
        "particles.vtp",
        "slice_mach_z.png",
        "slice_number_density_z.png",
        "slice_temperature_z.png",
        "slice_velocity_x_z.png",
        "summary.json",
        "surface.vtp",
    ];
    assert_eq!(place.names("deep/out"), expected, "these files, and none half-written");
    for name in expected {
        assert!(done.out.contains(name), "{name} is not told: {}", done.out);
    }
    for text in
        ["C_D ", " +- ", "free-molecular theory", "F_x", "heat", "resolution", "steps/s", "collisions of"]
    {
        assert!(done.out.contains(text), "{text:?} is not in {}", done.out);
    }
    // No terminal: no control characters.
    assert!(!done.out.contains('\u{1b}') && !done.err.contains('\u{1b}'));

    check_summary(&place.summary("deep/out"));
    check_history(&fs::read_to_string(place.path("deep/out/history.csv")).unwrap());
    check_table(&fs::read_to_string(place.path("deep/out/fields_avg.dat")).unwrap());
    for name in expected.iter().filter(|name| name.ends_with(".png")) {
        assert_picture(&place.path("deep/out").join(name));
    }
    check_by_vtk(&place.path("deep/out"));

    // Writing again into the same folder replaces, and the number of drawn particles is obeyed.
    place.works(&["run", "sphere.ron", "-o", "deep/out", "--steps", "25", "--particles", "0"]);
    assert_eq!(place.names("deep/out"), expected);
    assert_eq!(place.summary("deep/out")["steps"], 25);
    let particles = fs::read(place.path("deep/out/particles.vtp")).unwrap();
    assert!(String::from_utf8_lossy(&particles).contains("NumberOfPoints=\"0\""));
}

fn check_summary(summary: &serde_json::Value) {
    assert_eq!(
        (&summary["name"], &summary["steps"], &summary["seed"]),
        (&"small sphere".into(), &60.into(), &3.into())
    );
    assert_eq!(summary["phase"], serde_json::json!({"Sampling": {"since": 20, "samples": 20}}));
    let loads = &summary["obstacles"][0]["loads"];
    let drag = &loads["drag_coefficient"];
    let (value, error) = (drag["value"].as_f64().unwrap(), drag["error"].as_f64().unwrap());
    // Far from resolved, but a drag: of the sphere in free-molecular flow it would be 2.54.
    assert!(value > 1.0 && value < 3.5 && error > 0.0 && error < 0.5, "C_D {value} +- {error}");
    assert!((loads["free_molecular_drag_coefficient"].as_f64().unwrap() - 2.5435).abs() < 1e-3);
    assert!(loads["force_n"][0]["value"].as_f64().unwrap() > 0.0);
    let counters = &summary["counters"];
    for key in ["collisions", "collision_candidates", "entered", "left", "wall_hits", "particle_steps"] {
        assert!(counters[key].as_u64().unwrap() > 0, "{key}");
    }
    for key in ["bounce_limit", "put_back", "lost"] {
        assert_eq!(counters[key], 0, "{key}");
    }
    assert_eq!(summary["resolution"]["criteria"].as_array().unwrap().len(), 4);
    assert_eq!(summary["timings"].as_array().unwrap().len(), 5);
    assert_eq!(summary["scene"]["model"]["Gas"]["domain"]["cells"], serde_json::json!([12, 10, 8]));
}

fn check_history(text: &str) {
    let mut lines = text.lines();
    assert_eq!(
        lines.next().unwrap(),
        "step,time [s],particles,energy [J],collision_rate [1/s],drag_coefficient_ball,lift_coefficient_ball,\
         heat_ball [W]"
    );
    let rows: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|number| number.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), 60);
    assert!(rows.iter().all(|row| row.len() == 8 && row.iter().all(|number| number.is_finite())));
    assert_eq!(rows[59][0], 60.0);
    assert!((rows[59][1] - 60.0 * 2e-5).abs() < 1e-9);
}

fn check_table(text: &str) {
    assert_eq!(text.lines().next().unwrap(), "# x y z n ux uy uz T avg_count");
    let (nx, ny, nz) = (12, 10, 8);
    // A blank line after each row of z, and another after each plane.
    assert_eq!(text.lines().count(), 1 + nx * (ny * (nz + 1) + 1));
    let rows: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert_eq!(rows.len(), nx * ny * nz);
    assert!(rows.iter().all(|row| row.split(' ').count() == 9));
    assert!(rows[0].starts_with("4.166667e-02 4.000000e-02 3.750000e-02 "), "{}", rows[0]);
}

/// Fails unless that is a picture with more than one colour.
#[track_caller]
pub fn assert_picture(path: &Path) {
    let file = std::io::BufReader::new(fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert!(info.width >= 300 && info.height >= 100, "{}", path.display());
    assert!(pixels.chunks_exact(info.color_type.samples()).any(|pixel| pixel != &pixels[..pixel.len()]));
}

/// `KNUDSEN_PYTHON` names a Python that has the package `vtk`; by default `python3`.
fn check_by_vtk(folder: &Path) {
    let python = std::env::var("KNUDSEN_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let importable = Command::new(&python).args(["-c", "import vtk"]).output();
    if !importable.is_ok_and(|output| output.status.success()) {
        eprintln!(
            "SKIPPED: {python} has no package vtk (pip install vtk; or set KNUDSEN_PYTHON): VTK read nothing"
        );
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/output/vtk_read.py");
    let output = Command::new(&python).arg(script).arg(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for name in ["fields.vti", "surface.vtp", "particles.vtp"] {
        assert_eq!(report[name]["messages"], serde_json::json!([]), "{name}");
    }
    let image = &report["fields.vti"];
    assert_eq!(image["cells"], serde_json::json!([12, 10, 8]));
    for name in ["number_density", "temperature", "velocity", "temperature_error", "sample_count"] {
        assert!(image["arrays"][name].is_object(), "{name} is not in {image}");
    }
    assert!(report["surface.vtp"]["arrays"]["pressure"]["sum"].as_f64().unwrap() > 0.0);
    assert!(report["particles.vtp"]["points"].as_u64().unwrap() > 1000);
}

#[test]
fn the_same_bits_again_and_with_any_number_of_threads() {
    let place = Place::new();
    place.scene("sphere.ron");
    let run = |folder: &str, extra: &[&str]| {
        place.works(&[&["run", "sphere.ron", "-o", folder], extra].concat());
        let mut files = place.files(folder);
        files.remove("summary.json");
        (files, timeless(place.summary(folder)))
    };
    let first = run("one", &["--threads", "1"]);
    assert!(first.0.len() == 10 && first.0.contains_key("fields.vti"));
    for (folder, threads) in [("again", "1"), ("two", "2"), ("three", "3")] {
        let other = run(folder, &["--threads", threads]);
        for (name, bytes) in &first.0 {
            assert!(other.0[name] == *bytes, "{name} differs with {threads} threads");
        }
        assert_eq!(other.1, first.1);
    }
    let other = run("seed", &["--seed", "4"]);
    for name in ["fields_avg.dat", "surface.vtp", "particles.vtp", "history.csv"] {
        assert!(other.0[name] != first.0[name], "{name} does not depend on the seed");
    }
    assert_eq!(other.1["seed"], 4);
}

#[test]
fn a_run_shorter_than_its_transient_says_so() {
    let place = Place::new();
    place.scene("sphere.ron");
    let done = place.works(&["run", "sphere.ron", "-o", "out", "--steps", "10"]);
    assert!(done.err.contains("note: the scene takes averages from step 20"), "{}", done.err);
    assert!(done.err.contains("from step 5 instead"), "{}", done.err);
    assert_eq!(place.summary("out")["phase"]["Sampling"]["since"], 5);

    // Without averages: the fields of the last instant, the body without loads, and a hint.
    place.scene("auto.ron");
    let done = place.works(&["run", "auto.ron", "--steps", "10"]);
    assert!(
        done.out.contains("no averages: ended in the transient, ask for more with --steps"),
        "{}",
        done.out
    );
    assert!(done.out.contains("not steady yet"), "{}", done.out);
    let summary = place.summary("out/small auto");
    assert_eq!(summary["phase"], "Transient");
    assert_eq!(summary["obstacles"][0]["name"], "wing");
    assert_eq!(summary["obstacles"][0]["loads"], serde_json::Value::Null);
    assert!(place.names("out/small auto").contains(&"surface.vtp".to_owned()));
}

#[test]
fn the_steady_state_is_found_told_and_sampled() {
    let place = Place::new();
    place.scene("auto.ron");
    let done = place.works(&["run", "auto.ron", "-o", "out", "--steps", "600"]);
    assert_eq!(done.err.matches("steady since step").count(), 1, "told once: {}", done.err);
    assert_eq!(done.out.matches("steady since step").count(), 1, "{}", done.out);
    let summary = place.summary("out");
    let sampling = &summary["phase"]["Sampling"];
    assert!(
        sampling["since"].as_u64().unwrap() >= 195,
        "not before 1.5 transit times of 130 steps: {sampling}"
    );
    assert!(sampling["samples"].as_u64().unwrap() > 0);
    // A plate is one-sided in its reference area, two-sided for the molecules.
    assert!((summary["obstacles"][0]["loads"]["reference_area_m2"].as_f64().unwrap() - 0.16).abs() < 1e-9);
}

/// A reader that goes away (`| head -1`) or a full standard output ends neither the run nor its results.
#[test]
fn a_closed_pipe_does_not_end_a_run() {
    let place = Place::new();
    place.changed_scene("sphere.ron", &[]);
    for stream in ["2>&1 | head -1", "2>&1 >/dev/full | head -1"] {
        let script = format!("{} run sphere.ron -o out {stream}", env!("CARGO_BIN_EXE_knudsen"));
        let status = std::process::Command::new("sh")
            .args(["-c", &script])
            .current_dir(place.path("."))
            .stdout(std::process::Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
        assert!(place.path("out/summary.json").exists(), "{stream}");
        std::fs::remove_dir_all(place.path("out")).unwrap();
    }
}
