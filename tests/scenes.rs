//! Scene files: the shipped ones load, broken ones are refused with every problem located, what is written reads back.
//! Must not know devices: no simulation is built here.

#![allow(clippy::unwrap_used, clippy::panic)]

use knudsen::scene::*;
use ron::Options;
use ron::extensions::Extensions;
use std::fs;
use std::path::{Path, PathBuf};

/// Boltzmann's constant, J/K, and Avogadro's, 1/mol (SI 2019).
const BOLTZMANN: f64 = 1.380649e-23;
const AVOGADRO: f64 = 6.02214076e23;

fn files(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ron"));
    files.sort();
    files
}

fn shipped(name: &str) -> Scene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes").join(name);
    load(&path).unwrap_or_else(|error| panic!("{error}"))
}

fn gas(scene: &Scene) -> &GasScene {
    let Model::Gas(gas) = &scene.model;
    gas
}

fn ron_itself() -> Options {
    Options::default().with_default_extension(Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES)
}

#[test]
fn all_shipped_scenes_load_and_the_ron_crate_reads_the_same() {
    let paths = files("scenes");
    assert!(paths.len() >= 6, "{paths:?}");
    for path in paths {
        let scene = load(&path).unwrap_or_else(|error| panic!("{error}"));
        let text = fs::read_to_string(&path).unwrap();
        let mut other: Scene = ron_itself().from_str(&text).unwrap();
        other.folder = scene.folder.clone();
        assert_eq!(scene, other, "{}", path.display());
        assert_eq!(scene.folder, path.parent().unwrap());
        assert!(!scene.about.is_empty() && text.starts_with("//"), "{} explains itself", path.display());
    }
}

/// The figures published for the project whose cases these are: n 3.62e19, U 1052.9 m/s, weight 2.897e12.
#[test]
fn the_seeds_cases_have_the_seeds_figures() {
    for name in ["sphere.ron", "wing.ron", "combo.ron"] {
        let scene = shipped(name);
        let gas = gas(&scene);
        let one = &gas.gas.species[0];
        assert_eq!(one.mass_kg, 0.040 / AVOGADRO);
        let Density::PressurePa(pressure) = gas.stream.density else { panic!("a pressure") };
        let Velocity::Mach(mach) = gas.stream.velocity else { panic!("a Mach number") };
        let number_density = pressure / (BOLTZMANN * gas.stream.temperature_k);
        let speed = mach * (5.0 / 3.0 * BOLTZMANN * gas.stream.temperature_k / one.mass_kg).sqrt();
        let volume: f64 = gas.domain.size_m.iter().product();
        let cells: f64 = gas.domain.cells.iter().map(|n| f64::from(*n)).product();
        let weight = number_density * volume / (cells * gas.particles_per_cell);
        assert!((number_density / 3.6215e19 - 1.0).abs() < 1e-5, "{number_density}");
        assert!((speed - 1052.9).abs() < 0.05, "{speed}");
        assert!((weight / 2.897e12 - 1.0).abs() < 1e-4, "{weight}");
        // 4.0e-10 m without 1/Gamma(5/2 - omega) is this diameter with it.
        let bird = 4.0e-10 * libm::tgamma(2.5 - one.omega).sqrt();
        assert!((one.diameter_m - bird).abs() < 0.5e-13, "{bird}");
        assert_eq!(gas.time_step, TimeStep::Seconds(1e-5));
        assert_eq!(gas.steps, 2000);
        assert_eq!(gas.sampling, Sampling::From { from: 1000, every: 10 });
        assert_eq!(gas.faces.as_array(), [Face::Stream; 6]);
        assert_eq!(gas.stream.incidence_deg, if name == "sphere.ron" { 0.0 } else { 30.0 });
        assert!(gas.obstacles.iter().all(|o| o.wall == Wall::default()), "diffuse at 300 K");
    }
    assert_eq!(gas(&shipped("combo.ron")).obstacles.len(), 3);
}

#[test]
fn the_group_in_the_comment_of_combo_is_a_scene() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/combo.ron");
    let text = fs::read_to_string(path).unwrap();
    let group: String =
        text.lines().filter_map(|l| l.trim().strip_prefix("//     ")).collect::<Vec<_>>().join("\n");
    let start = text.find("obstacles: [").unwrap();
    let grouped = format!("{}obstacles: [{group}]))", &text[..start]);
    let scene = parse(&grouped, "combo.ron", Path::new(".")).unwrap_or_else(|error| panic!("{error}"));
    let Shape::Group { parts } = &gas(&scene).obstacles[0].shape else { panic!("no group") };
    let moved = |i: usize, axis: usize| parts[i].position_m[axis] + gas(&scene).obstacles[0].position_m[axis];
    for (i, one) in gas(&shipped("combo.ron")).obstacles.iter().enumerate() {
        assert_eq!(parts[i].shape, one.shape);
        for axis in 0..3 {
            assert!((moved(i, axis) - one.position_m[axis]).abs() < 1e-12);
        }
    }
}

#[test]
fn spartas_cases_have_spartas_figures() {
    let sphere = shipped("argon_sphere.ron");
    let cells: f64 = gas(&sphere).domain.cells.iter().map(|n| f64::from(*n)).product();
    assert!((cells * gas(&sphere).particles_per_cell / 1e6 - 1.0).abs() < 0.03);
    let boxed = shipped("argon_box.ron");
    let domain = &gas(&boxed).domain;
    for axis in 0..3 {
        assert!((domain.size_m[axis] / f64::from(domain.cells[axis]) - 1e-5).abs() < 1e-18);
    }
    assert_eq!(gas(&boxed).faces.as_array(), [Face::Specular; 6]);
}

/// What a broken file says should be found: lines `// expect: LINE:COLUMN field: part of the message`.
fn expectations(text: &str) -> Vec<(usize, usize, String, String)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("// expect: "));
    lines
        .map(|line| {
            let (place, rest) = line.split_once(' ').unwrap();
            let (field, part) = rest.split_once(": ").unwrap();
            let (at, column) = place.split_once(':').unwrap();
            (at.parse().unwrap(), column.parse().unwrap(), field.to_string(), part.to_string())
        })
        .collect()
}

#[test]
fn broken_scenes_are_refused_with_every_problem_located() {
    let paths = files("tests/data/scenes/broken");
    assert!(paths.len() >= 40, "only {} broken scenes", paths.len());
    let (mut several, mut failures) = (0, Vec::new());
    for path in &paths {
        let name = path.file_name().unwrap().to_string_lossy();
        let text = fs::read_to_string(path).unwrap();
        let expected = expectations(&text);
        assert!(!expected.is_empty(), "{name} expects nothing");
        several += usize::from(expected.len() > 2);
        let found = match load(path) {
            Ok(_) => {
                failures.push(format!("{name}: loads"));
                continue;
            }
            Err(error) => error,
        };
        let matches = found.problems.len() == expected.len()
            && found.problems.iter().zip(&expected).all(|(p, (line, column, field, part))| {
                p.line == *line && p.column == *column && p.field == *field && p.message.contains(part)
            });
        if !matches {
            failures.push(format!("{name}: expected {expected:#?}\nfound\n{found}"));
        }
        for problem in &found.problems {
            assert_eq!(problem.file, path.display().to_string());
            assert_eq!(problem.source_line, text.lines().nth(problem.line - 1).unwrap_or_default());
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(several >= 3, "only {several} files have several problems");
}

#[test]
fn a_file_that_cannot_be_read_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let message = |path: &Path| {
        let error = load(path).unwrap_err();
        assert_eq!(error.problems.len(), 1);
        assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
        error.problems[0].message.clone()
    };
    assert!(message(&folder.path().join("absent.ron")).contains("no such file"));
    assert!(message(folder.path()).contains("folder"));
    let binary = folder.path().join("binary.ron");
    fs::write(&binary, b"(\nname: \"\xff\"").unwrap();
    assert!(message(&binary).contains("UTF-8") && message(&binary).contains("line 2"));
    let large = folder.path().join("large.ron");
    fs::write(&large, vec![b' '; (1 << 20) + 1]).unwrap();
    assert!(message(&large).contains("MiB"));
}

#[test]
fn lenient_where_ron_is() {
    let text =
        fs::read_to_string(files("scenes").into_iter().find(|p| p.ends_with("sphere.ron")).unwrap()).unwrap();
    let plain = parse(&text, "a.ron", Path::new("")).unwrap();
    let variants = [
        format!("\u{feff}{}", text.replace('\n', "\r\n")),
        format!("#![enable(implicit_some, unwrap_variant_newtypes)]\n{text}"),
        text.replace("(1.0, 1.0, 1.0)", "[1, 1, 1]"),
        text.replace("model: Gas(", "model: Gas((").replacen("\n    ),\n)", "\n    )),\n)", 1),
        text.replace("domain: (", "domain: Domain("),
        text.replace("\"sphere\"", "r#\"sphere\"#"),
        text.replace("seed: 1,", "seed: 0x1, /* a /* nested */ comment */"),
        text.replace("steps: 2000", "steps: 2_000"),
    ];
    for variant in variants {
        assert_ne!(variant, text);
        assert_eq!(parse(&variant, "a.ron", Path::new("")).unwrap_or_else(|e| panic!("{e}")), plain);
    }
}

/// Scenes in which every variant and every field that may be left out occurs.
fn generated() -> Vec<Scene> {
    let base = shipped("sphere.ron");
    let mut scenes = Vec::new();
    let mut add = |change: &dyn Fn(&mut Scene, usize), count: usize| {
        for i in 0..count {
            let mut scene = base.clone();
            change(&mut scene, i);
            scenes.push(scene);
        }
    };
    fn inner(scene: &mut Scene) -> &mut GasScene {
        let Model::Gas(gas) = &mut scene.model;
        gas
    }
    let part = |shape, x| Part { shape, position_m: [x, 0.0, 0.1], rotation_deg: [0.0, x, 0.0] };
    let shapes = [
        Shape::Sphere { radius_m: 0.1 },
        Shape::Plate { chord_m: 0.1, span_m: 0.2 },
        Shape::Box { size_m: [0.1, 0.2, 1.0 / 3.0] },
        Shape::Cylinder { radius_m: 0.1, height_m: 0.2 },
        Shape::Capsule { radius_m: 0.1, length_m: 0.2 },
        Shape::Cone { radius_m: 0.1, height_m: 0.2 },
        Shape::Mesh { file: "body.STL".into(), scale: 0.001 },
        Shape::Group {
            parts: vec![
                part(Shape::Sphere { radius_m: 0.1 }, -0.1),
                part(Shape::Group { parts: vec![part(Shape::Box { size_m: [0.1; 3] }, 1e-9)] }, 0.1),
            ],
        },
    ];
    add(&|s, i| inner(s).obstacles[0].shape = shapes[i].clone(), shapes.len());
    let faces =
        [Face::Stream, Face::Vacuum, Face::Specular, Face::Periodic, Face::Diffuse { temperature_k: 1e3 }];
    add(&|s, i| (inner(s).faces.y_min, inner(s).faces.y_max) = (faces[i], faces[i]), faces.len());
    let walls = [Wall::Specular, Wall::Diffuse { temperature_k: 77.0, accommodation: 0.0 }];
    add(&|s, i| inner(s).obstacles[0].wall = walls[i], walls.len());
    let schemes = [Scheme::Off, Scheme::Ntc, Scheme::HalfSplitShuffle, Scheme::Mixed];
    add(
        &|s, i| inner(s).collisions = Collisions { scheme: schemes[i], heavy_cell_threshold: 7 },
        schemes.len(),
    );
    let sampling = [Sampling::Auto, Sampling::From { from: 0, every: 3 }];
    add(&|s, i| inner(s).sampling = sampling[i], sampling.len());
    let steps = [TimeStep::Auto, TimeStep::Seconds(1.234_567_890_123_456_7e-6)];
    add(&|s, i| inner(s).time_step = steps[i], steps.len());
    let starts = [Start::Filled, Start::Empty];
    add(&|s, i| inner(s).start = starts[i], starts.len());
    let references = [Reference::Auto, Reference::Given { area_m2: 0.1, length_m: 0.2 }];
    add(&|s, i| inner(s).reference = references[i], references.len());
    let densities = [Density::PressurePa(f64::MIN_POSITIVE), Density::PerCubicMeter(1e300)];
    add(&|s, i| inner(s).stream.density = densities[i], densities.len());
    let velocities = [Velocity::Mach(0.0), Velocity::MetersPerSecond(0.1 + 0.2)];
    add(&|s, i| inner(s).stream.velocity = velocities[i], velocities.len());
    let texts = ["quotes", "back\\slash \"q\" \t\n tab", "é – 😀", "r#\"raw\"# // no comment /*"];
    add(&|s, i| s.about = texts[i].into(), texts.len());
    add(&|s, _| s.seed = u64::MAX, 1);
    add(&|s, _| inner(s).gas.species[0].rotational_dof = 2, 1);
    add(&|s, _| inner(s).obstacles.clear(), 1);
    let camera = Camera {
        up: [0.1, -2.0, 1.0 / 3.0],
        field_of_view_deg: 120.0,
        orthographic: true,
        ..Camera::new([-1e-9, 2.0, 3.0], [0.5; 3])
    };
    let bookmark = |name: &str| Bookmark { name: name.into(), camera };
    let key = |time_s: f64| KeyFrame { time_s, camera: Camera::new([time_s, 2.0, 0.1], [0.5; 3]) };
    let views = [
        View { bookmarks: vec![bookmark("a"), bookmark("\"b\"")], path: Vec::new() },
        View { bookmarks: Vec::new(), path: vec![key(0.0), key(0.1 + 0.2), key(1e9)] },
        View { bookmarks: vec![bookmark("é")], path: vec![key(3.0)] },
    ];
    add(&|s, i| s.view = views[i].clone(), views.len());
    scenes
}

#[test]
fn what_is_written_reads_back_equal() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("body.STL"), "solid\nendsolid\n").unwrap();
    let mut scenes: Vec<Scene> = files("scenes").iter().map(|path| load(path).unwrap()).collect();
    scenes.extend(generated());
    for mut scene in scenes {
        scene.folder = folder.path().into();
        let text = to_ron(&scene);
        let back =
            parse(&text, "written.ron", folder.path()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(back, scene, "{text}");
        assert_eq!(to_ron(&back), text);
        let mut other: Scene = ron_itself().from_str(&text).unwrap();
        other.folder = scene.folder.clone();
        assert_eq!(other, scene, "{text}");
    }
}

#[test]
fn a_view_is_written_only_where_there_is_one_and_most_of_a_camera_may_be_left_out() {
    let scene = shipped("sphere.ron");
    let text = to_ron(&scene);
    assert!(scene.view.is_empty() && !text.contains("view"), "{text}");
    let with = |view: &str| {
        let text = text.replacen("    model:", &format!("    view: {view},\n    model:"), 1);
        parse(&text, "a.ron", Path::new(".")).unwrap_or_else(|error| panic!("{error}")).view
    };
    assert_eq!(with("()"), View::default());
    let camera = Camera::new([2.0, 1.0, 0.5], [0.5; 3]);
    assert_eq!((camera.up, camera.field_of_view_deg, camera.orthographic), ([0.0, 1.0, 0.0], 45.0, false));
    let view = with("(path: [(time_s: 1, camera: (eye_m: (2, 1, 0.5), target_m: (0.5, 0.5, 0.5)))])");
    assert_eq!(view, View { path: vec![KeyFrame { time_s: 1.0, camera }], ..View::default() });
}

#[test]
fn a_scene_in_memory_is_validated_without_places() {
    let mut scene = shipped("sphere.ron");
    validate::validate(&scene).unwrap();
    let Model::Gas(gas) = &mut scene.model;
    gas.stream.temperature_k = f64::NAN;
    gas.obstacles[0].position_m[0] = 7.0;
    let error = validate::validate(&scene).unwrap_err();
    let shown = error.to_string();
    assert_eq!(error.problems.len(), 2, "{shown}");
    assert!(shown.starts_with("sphere: model.stream.temperature_k: must be a finite number"), "{shown}");
    assert!(shown.contains("outside the domain"), "{shown}");
}

/// Whatever the text is, the answer is a scene or problems with places, never a panic or an endless loop.
#[test]
fn damaged_text_never_panics() {
    let text: String = to_ron(&shipped("combo.ron"));
    let commented =
        fs::read_to_string(files("scenes").into_iter().find(|p| p.ends_with("sphere.ron")).unwrap()).unwrap();
    let lines = text.lines().count() + commented.lines().count();
    let try_one = |text: &str| {
        if let Err(error) = parse(text, "damaged.ron", Path::new(".")) {
            assert!(!error.problems.is_empty());
            assert!(error.problems.iter().all(|p| p.line >= 1 && p.line <= lines + 2 && p.column >= 1));
            assert!(!error.to_string().is_empty());
        }
    };
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        try_one(&text[..end]);
        try_one(&text[end..]);
    }
    // A small linear congruential generator: the damage is the same in every run.
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    const PIECES: [&str; 24] = [
        "(", ")", "[", "]", "{", "}", ",", ":", "\"", "'", "\\", "//", "/*", "*/", "#", "r#\"", "-", "1e999",
        "NaN", "é", "\0", "\n", "Auto", "0x",
    ];
    for source in [&text, &commented] {
        for _ in 0..1500 {
            let mut bytes = source.clone().into_bytes();
            for _ in 0..=random(4) {
                let at = random(bytes.len());
                match random(4) {
                    0 => bytes[at] ^= 1 << random(7),
                    1 => drop(bytes.remove(at)),
                    2 => drop(bytes.splice(at..at, PIECES[random(PIECES.len())].bytes())),
                    _ => drop(bytes.drain(at..(at + random(200)).min(bytes.len()))),
                }
                if bytes.is_empty() {
                    break;
                }
            }
            try_one(&String::from_utf8_lossy(&bytes));
        }
    }
}

/// Text that is far too much of something is refused in seconds.
#[test]
fn large_nonsense_is_refused_quickly() {
    let begun = std::time::Instant::now();
    for (head, piece) in [
        ("(", "nam: 1,"),
        ("(", "name: 1,"),
        ("(name: \"a\", model: Gas(obstacles: [", "(),"),
        ("(name: \"a\", model: Gas(obstacles: [", "(name: 1, shape: Sphere(radius_m: -1)),"),
        ("(name: \"a\", model: Gas(obstacles: [", "(name: \"b\", shape: Box(size_m: (0, 1, nan))),"),
        ("", "("),
        ("", "a("),
        ("", "r#"),
        ("(", "- "),
    ] {
        let body = format!("{head}{}", piece.repeat(200_000 / piece.len()));
        let closing =
            ["]))", ")", ""].into_iter().find(|end| head.contains('[') || !end.contains(']')).unwrap();
        let error = parse(&format!("{body}{closing}"), "large.ron", Path::new(".")).unwrap_err();
        assert!(!error.problems.is_empty() && error.to_string().len() < 1 << 20);
    }
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}
