//! Odd but possible scenes: they run, without NaN in what is printed, and without losing particles.
//! Must not judge physics: the scenes are far from resolved.

use crate::support::{Place, changed, small};

const FACES: &str = "        obstacles: [(";
const BALL: &str = "shape: Sphere(radius_m: 0.15),\n            position_m: (0.5, 0.4, 0.3)";

/// Runs a changed scene; the summary, and what was printed.
fn odd(changes: &[(&str, &str)]) -> (serde_json::Value, String) {
    let place = Place::new();
    place.write("odd.ron", changed(&small("sphere.ron"), changes));
    let said = place.works(&["check", "odd.ron"]).out;
    let done = place.works(&["run", "odd.ron", "-o", "out", "--steps", "24", "--threads", "1"]);
    for text in [&said, &done.out, &done.err] {
        for word in ["NaN", " inf", "-inf", "panicked", "fault"] {
            assert!(!text.contains(word), "{changes:?}: {word} in {text}");
        }
    }
    let summary = place.summary("out");
    for key in ["lost", "bounce_limit"] {
        assert_eq!(summary["counters"][key], 0, "{changes:?}");
    }
    assert_eq!(summary["steps"], 24);
    (summary, done.out)
}

fn faces(kind: &str) -> String {
    let all = ["x_min", "x_max", "y_min", "y_max", "z_min", "z_max"]
        .map(|face| format!("{face}: {kind}"))
        .join(", ");
    format!("        faces: ({all}),\n{FACES}")
}

#[test]
fn places_and_sizes() {
    // No obstacles at all.
    let body = {
        let text = small("sphere.ron");
        text[text.find(FACES).unwrap()..text.rfind("    ),\n)").unwrap()].to_owned()
    };
    let (summary, out) = odd(&[(&body, "")]);
    assert_eq!(summary["obstacles"], serde_json::json!([]));
    assert!(!out.contains("C_D"));
    // A single cell.
    odd(&[("(12, 10, 8)", "(1, 1, 1)"), ("particles_per_cell: 8.0", "particles_per_cell: 500.0")]);
    // A micrometre at atmospheric pressure, and ten kilometres in near vacuum: the same but for scale.
    let tiny = "shape: Sphere(radius_m: 1.5e-7),\n            position_m: (5e-7, 4e-7, 3e-7)";
    let (micro, _) = odd(&[
        ("(1.0, 0.8, 0.6)", "(1.0e-6, 0.8e-6, 0.6e-6)"),
        (BALL, tiny),
        ("PressurePa(0.1)", "PressurePa(1e5)"),
        ("Seconds(2e-5)", "Seconds(2e-11)"),
    ]);
    let huge = "shape: Sphere(radius_m: 1.5e3),\n            position_m: (5e3, 4e3, 3e3)";
    let (kilo, _) = odd(&[
        ("(1.0, 0.8, 0.6)", "(1.0e4, 0.8e4, 0.6e4)"),
        (BALL, huge),
        ("PressurePa(0.1)", "PressurePa(1e-5)"),
        ("Seconds(2e-5)", "Seconds(0.2)"),
    ]);
    let drag = |summary: &serde_json::Value| {
        summary["obstacles"][0]["loads"]["drag_coefficient"]["value"].as_f64().unwrap()
    };
    assert!((drag(&micro) / drag(&kilo) - 1.0).abs() < 0.3, "{} {}", drag(&micro), drag(&kilo));
    // Far from the origin.
    odd(&[
        ("size_m: (1.0,", "corner_m: (-1000.0, 5.0, 1.0e3), size_m: (1.0,"),
        ("(0.5, 0.4, 0.3)", "(-999.5, 5.4, 1000.3)"),
    ]);
}

#[test]
fn bodies_that_touch_overlap_or_stick_out() {
    // Half of it outside: no free-molecular value, which holds for the whole surface.
    let (summary, out) = odd(&[("(0.5, 0.4, 0.3)", "(0.5, 0.4, 0.65)")]);
    assert_eq!(summary["obstacles"][0]["loads"]["free_molecular_drag_coefficient"], serde_json::Value::Null);
    assert!(out.contains("not wholly in the domain"), "{out}");
    // Two that overlap, and one inside another, which nothing can hit.
    let second = |name: &str, radius: f64, x: f64| {
        format!(
            "obstacles: [(name: \"{name}\", shape: Sphere(radius_m: {radius}), position_m: ({x}, 0.4, 0.3)), ("
        )
    };
    let (summary, _) = odd(&[("obstacles: [(", &second("front", 0.15, 0.4))]);
    let drag = |i: usize| summary["obstacles"][i]["loads"]["drag_coefficient"]["value"].as_f64().unwrap();
    assert!(drag(0) > drag(1), "the second stands in the shadow: {} {}", drag(0), drag(1));
    let (summary, out) = odd(&[("obstacles: [(", &second("core", 0.05, 0.5))]);
    assert_eq!(summary["obstacles"][0]["loads"]["hits_per_s"]["value"], 0.0);
    assert!(out.contains("no molecule has hit it"), "{out}");
    // A box that stands on a face, a plate all across, and a needle.
    for shape in [
        "shape: Box(size_m: (0.3, 0.4, 0.2)),\n            position_m: (0.5, 0.2, 0.3)",
        "shape: Plate(chord_m: 1.0, span_m: 0.6),\n            position_m: (0.5, 0.4, 0.3)",
        "shape: Plate(chord_m: 0.5, span_m: 0.5),\n            position_m: (0.5, 1e-9, 0.3)",
        "shape: Cone(radius_m: 1e-4, height_m: 0.5),\n            position_m: (0.5, 0.4, 0.3)",
    ] {
        odd(&[(BALL, shape)]);
    }
}

#[test]
fn faces_and_starts() {
    for kind in ["Periodic", "Specular", "Diffuse(temperature_k: 500.0)"] {
        let (summary, _) = odd(&[(FACES, &faces(kind))]);
        assert_eq!(
            (&summary["counters"]["entered"], &summary["counters"]["left"]),
            (&0.into(), &0.into()),
            "{kind}"
        );
    }
    let (summary, _) = odd(&[(FACES, &faces("Vacuum"))]);
    assert_eq!(summary["counters"]["entered"], 0);
    assert!(summary["counters"]["left"].as_u64().unwrap() > 0);
    let (summary, _) = odd(&[("steps: 60,", "steps: 60, start: Empty,")]);
    let counters = &summary["counters"];
    let inside = counters["entered"].as_u64().unwrap() - counters["left"].as_u64().unwrap();
    assert_eq!(summary["particles"], inside, "what came in and did not leave is there");
}

#[test]
fn gases_and_numbers() {
    // At rest there is no drag coefficient, but there are forces; no picture of a drag that is none.
    let (summary, out) = odd(&[("Mach(4.0)", "MetersPerSecond(0.0)")]);
    let loads = &summary["obstacles"][0]["loads"];
    assert_eq!(loads["drag_coefficient"], serde_json::Value::Null);
    assert!(
        loads["force_n"][0]["value"].is_f64() && !out.contains("C_D") && !out.contains("history_drag"),
        "{out}"
    );
    odd(&[("reference_temperature_k: 200.0,", "reference_temperature_k: 200.0, rotational_dof: 2,")]);
    odd(&[("Mach(4.0)", "Mach(100.0)"), ("Seconds(2e-5)", "Auto")]);
    odd(&[("velocity: Mach(4.0)", "incidence_deg: 180.0, sideslip_deg: 89.0, velocity: Mach(4.0)")]);
    for few in ["1.0", "0.05"] {
        odd(&[("particles_per_cell: 8.0", &format!("particles_per_cell: {few}"))]);
    }
    // No gas at the start, and none enters in so few steps from so thin a stream.
    let (summary, out) = odd(&[
        ("particles_per_cell: 8.0", "particles_per_cell: 0.0015"),
        ("steps: 60,", "steps: 60, start: Empty,"),
        ("Seconds(2e-5)", "Seconds(1e-9)"),
    ]);
    assert_eq!(summary["particles"], 0);
    assert!(out.contains("no cell with gas to judge"), "{out}");
    let (summary, _) = odd(&[("steps: 60,", "steps: 60, collisions: (scheme: Off),")]);
    assert_eq!(summary["counters"]["collision_candidates"], 0);
}
