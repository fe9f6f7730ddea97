//! Output files: read back by ParaView's own library and by this program, refused politely, never half-written.
//! Must not know simulations: its snapshot is a formula.

use knudsen::cli::plot::{PlotArgs, run as plot};
use knudsen::output::{OutputError, seed, vti_read, write_run};
use knudsen::scene::*;
use knudsen::sim::*;
use knudsen::units::Quantity;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

const CELLS: [u32; 3] = [40, 30, 20];
const CORNER: [f64; 3] = [-0.1, 0.0, 0.25];
const SIZE: [f64; 3] = [1.0, 0.75, 0.5];
const CENTRE: [f64; 3] = [0.4, 0.375, 0.5];
const RADIUS: f64 = 0.12;

fn scene() -> Scene {
    Scene {
        name: "ball in a stream".to_owned(),
        about: String::new(),
        seed: 7,
        model: Model::Gas(GasScene {
            gas: Gas {
                species: vec![Species {
                    name: "Ar".to_owned(),
                    mass_kg: 6.63e-26,
                    diameter_m: 4.17e-10,
                    omega: 0.81,
                    reference_temperature_k: 273.0,
                    rotational_dof: 0,
                    fraction: 1.0,
                }],
            },
            stream: Stream {
                velocity: Velocity::Mach(4.0),
                density: Density::PressurePa(0.1),
                temperature_k: 200.0,
                incidence_deg: 0.0,
                sideslip_deg: 0.0,
            },
            domain: Domain { corner_m: CORNER, size_m: SIZE, cells: CELLS },
            particles_per_cell: 10.0,
            time_step: TimeStep::Auto,
            steps: 100,
            sampling: Sampling::Auto,
            collisions: Collisions::default(),
            start: Start::Filled,
            faces: Faces::default(),
            reference: Reference::Auto,
            obstacles: Vec::new(),
        }),
        folder: PathBuf::new(),
    }
}

/// A flow made of formulas: a bow of hot, dense, slow gas before a ball, and noise of a known seed.
fn fields() -> Fields {
    let quantities = [
        Quantity::new("number_density", "number density", "n", "1/m^3"),
        Quantity::new("velocity_x", "velocity along x", "u", "m/s"),
        Quantity::new("velocity_y", "velocity along y", "v", "m/s"),
        Quantity::new("velocity_z", "velocity along z", "w", "m/s"),
        Quantity::new("temperature", "temperature", "T", "K"),
        Quantity::new("temperature_x", "temperature along x", "T_x", "K"),
        Quantity::new("temperature_y", "temperature along y", "T_y", "K"),
        Quantity::new("temperature_z", "temperature along z", "T_z", "K"),
        Quantity::new("mach", "Mach number", "M", ""),
        Quantity::new("sample_count", "samples", "N", ""),
    ];
    let mut columns: Vec<Column> = quantities
        .into_iter()
        .map(|quantity| Column { quantity, values: Vec::new(), errors: Vec::new() })
        .collect();
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24) - 0.5
    };
    for k in 0..CELLS[2] {
        for j in 0..CELLS[1] {
            for i in 0..CELLS[0] {
                let at: [f64; 3] = std::array::from_fn(|a| {
                    CORNER[a] + (f64::from([i, j, k][a]) + 0.5) * SIZE[a] / f64::from(CELLS[a]) - CENTRE[a]
                });
                let r = at.iter().map(|x| x * x).sum::<f64>().sqrt();
                let shock = (-((r - 0.2) / 0.07).powi(2)).exp() * (1.0 - at[0] / r) / 2.0;
                let wake = if at[0] > 0.0 { (-(at[1].powi(2) + at[2].powi(2)) / 0.01).exp() } else { 0.0 };
                let t = 200.0 + 900.0 * shock + 300.0 * wake;
                let row = [
                    3.6e19 * (1.0 + 3.0 * shock - 0.9 * wake),
                    1050.0 * (1.0 - 0.9 * shock - 0.7 * wake),
                    900.0 * shock * at[1] / r,
                    900.0 * shock * at[2] / r,
                    t,
                    1.1 * t,
                    0.9 * t,
                    t,
                    4.0 * (1.0 - 0.9 * shock - 0.7 * wake),
                ];
                for (at, value) in row.into_iter().enumerate() {
                    let value = value * (1.0 + 0.04 * noise());
                    columns[at].values.push(if r < RADIUS { f32::NAN } else { value as f32 });
                }
                columns[9].values.push(if r < RADIUS { 0.0 } else { 5000.0 });
            }
        }
    }
    columns[4].errors = columns[4].values.iter().map(|t| 0.01 * t).collect();
    Fields { cells: CELLS, corner_m: CORNER, size_m: SIZE, samples: 500, batches: 25, columns }
}

fn octahedron(centre: [f64; 3], radius: f64) -> TriangleMesh {
    let mut vertices = Vec::new();
    for a in 0..3 {
        for sign in [-1.0, 1.0] {
            let mut vertex = centre;
            vertex[a] += sign * radius;
            vertices.push(vertex);
        }
    }
    let mut triangles = Vec::new();
    for (x, y, z) in (0..8).map(|n| (n & 1, n >> 1 & 1, n >> 2 & 1)) {
        let [a, b, c] = [x, 2 + y, 4 + z];
        triangles.push(if (x + y + z) % 2 == 1 { [a, b, c] } else { [a, c, b] });
    }
    TriangleMesh { part: vec![3; triangles.len()], vertices, triangles, closed: true }
}

fn column(key: &'static str, unit: &'static str, values: &[f32], errors: &[f32]) -> Column {
    let quantity = Quantity::new(key, key, key, unit);
    Column { quantity, values: values.to_vec(), errors: errors.to_vec() }
}

fn snapshot() -> Snapshot {
    let estimate = Estimate { value: 2.5, error: f64::NAN, batches: 1 };
    let loads = Loads {
        force_n: [estimate; 3],
        moment_n_m: [estimate; 3],
        heat_w: estimate,
        hits_per_s: estimate,
        drag_coefficient: Some(estimate),
        lift_coefficient: None,
        side_coefficient: None,
        free_molecular_drag_coefficient: Some(2.54),
        reference_area_m2: 0.045,
        reference_length_m: 0.24,
    };
    let first = Surface {
        name: "ball & <chain>".to_owned(),
        mesh: Arc::new(octahedron(CENTRE, RADIUS)),
        columns: vec![
            column("pressure", "Pa", &[1., 2., 3., 4., 5., 6., 7., 8.], &[0.5; 8]),
            column("hits", "", &[9.; 8], &[]),
        ],
        loads: Some(loads),
    };
    let second = Surface {
        name: "stone".to_owned(),
        mesh: Arc::new(octahedron([0.8, 0.2, 0.5], 0.05)),
        columns: vec![column("pressure", "Pa", &[10.; 8], &[]), column("shear", "Pa", &[0.25; 8], &[])],
        loads: None,
    };
    let rows = (0..200).flat_map(|n| {
        let t = f64::from(n) * 1e-5;
        [t, 1e5 + f64::from(n), 2.5 + (-t * 3e3).exp() * (t * 2e4).cos()]
    });
    Snapshot {
        step: 1200,
        time_s: 0.012,
        time_step_s: 1e-5,
        phase: Phase::Sampling { since: 700, samples: 500 },
        particles: 240_000,
        weight: 2.9e12,
        drawn: (0..50)
            .map(|n| DrawnParticle { position: [0.01 * n as f32, 0.5, 0.3], speed: n as f32 })
            .collect(),
        fields: Some(fields()),
        surfaces: vec![first, second],
        history: History {
            columns: vec![
                Quantity::new("time", "time", "t", "s"),
                Quantity::new("particles", "particles", "N", ""),
                Quantity::new("drag_coefficient", "drag coefficient", "C_D", ""),
            ],
            first_row: 0,
            values: rows.collect(),
        },
        timings: vec![("move", 3.0), ("collide", 1.0)],
        memory_bytes: 1 << 24,
        notes: vec!["steady since step 700".to_owned()],
        ..Snapshot::default()
    }
}

fn written(folder: &Path) -> Vec<PathBuf> {
    write_run(folder, &scene(), "cpu, 2 threads", &snapshot()).unwrap()
}

fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries.map(|e| (e.file_name().to_string_lossy().into_owned(), fs::read(e.path()).unwrap())).collect()
}

fn plot_args(file: &Path, field: &str, slice: &str, output: &Path) -> PlotArgs {
    PlotArgs {
        file: file.to_owned(),
        field: field.to_owned(),
        slice: (!slice.is_empty()).then(|| slice.to_owned()),
        output: Some(output.to_owned()),
        range: "auto".to_owned(),
        log: false,
        map: None,
        size: 1000,
    }
}

#[test]
fn a_run_leaves_all_its_files_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let paths = written(&folder.path().join("a/b"));
    let names: Vec<String> = contents(&folder.path().join("a/b")).into_keys().collect();
    assert_eq!(
        names,
        [
            "fields.vti",
            "fields_avg.dat",
            "history.csv",
            "history_drag_coefficient.png",
            "particles.vtp",
            "slice_mach_z.png",
            "slice_number_density_z.png",
            "slice_temperature_z.png",
            "slice_velocity_x_z.png",
            "summary.json",
            "surface.vtp",
        ]
    );
    assert_eq!(paths.len(), names.len());
    assert!(paths.iter().all(|path| path.is_file()));
}

#[test]
fn fields_come_back_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let (wrote, read) = (fields(), vti_read::read_fields(&folder.path().join("fields.vti")).unwrap());
    assert_eq!((read.cells, read.samples, read.batches), (wrote.cells, wrote.samples, wrote.batches));
    for a in 0..3 {
        assert!((read.corner_m[a] - wrote.corner_m[a]).abs() < 1e-12);
        assert!((read.size_m[a] - wrote.size_m[a]).abs() < 1e-12);
    }
    assert_eq!(read.columns.len(), wrote.columns.len());
    let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    for (read, wrote) in read.columns.iter().zip(&wrote.columns) {
        assert_eq!(read.quantity, wrote.quantity);
        assert_eq!(bits(&read.values), bits(&wrote.values));
        assert_eq!(bits(&read.errors), bits(&wrote.errors));
    }
    let mesh = vti_read::read_surface(&folder.path().join("surface.vtp")).unwrap();
    assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (12, 16));
    assert_eq!(mesh.vertices[6..], snapshot().surfaces[1].mesh.vertices[..]);
    assert_eq!(mesh.triangles[8], snapshot().surfaces[1].mesh.triangles[0].map(|c| c + 6));
}

/// The three files in VTK's own words: header, then one length and its bytes an array, to the last byte.
#[test]
fn vtk_files_are_laid_out_as_vtk_wants() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    for (name, kind) in
        [("fields.vti", "ImageData"), ("surface.vtp", "PolyData"), ("particles.vtp", "PolyData")]
    {
        let bytes = fs::read(folder.path().join(name)).unwrap();
        let mark = b"<AppendedData encoding=\"raw\">\n_";
        let at = bytes.windows(mark.len()).position(|w| w == mark).unwrap();
        let header = std::str::from_utf8(&bytes[..at]).unwrap();
        assert!(
            header.contains(&format!("<VTKFile type=\"{kind}\" version=\"1.0\" byte_order=\"LittleEndian\""))
        );
        let mut next = at + mark.len();
        let first = next;
        for piece in header.split(" offset=\"").skip(1) {
            let offset: usize = piece.split('"').next().unwrap().parse().unwrap();
            assert_eq!(first + offset, next, "{name}");
            let length = u64::from_le_bytes(bytes[next..next + 8].try_into().unwrap());
            next += 8 + usize::try_from(length).unwrap();
        }
        assert_eq!(&bytes[next..], b"\n  </AppendedData>\n</VTKFile>\n", "{name}");
    }
}

/// `KNUDSEN_PYTHON` names a Python that has the package `vtk`; by default `python3`.
#[test]
fn paraviews_library_reads_the_files() {
    let python = std::env::var("KNUDSEN_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let importable = Command::new(&python).args(["-c", "import vtk"]).output();
    if !importable.is_ok_and(|output| output.status.success()) {
        eprintln!(
            "SKIPPED: {python} has no package vtk (pip install vtk; or set KNUDSEN_PYTHON): VTK read nothing"
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vtk_read.py");
    let output = Command::new(&python).arg(script).arg(folder.path()).output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let image = &report["fields.vti"];
    assert_eq!(image["messages"], serde_json::json!([]), "VTK complained");
    assert_eq!(image["cells"], serde_json::json!(CELLS));
    assert_eq!(image["arrays"]["velocity"]["components"], 3);
    assert_eq!(image["arrays"]["temperature"]["unit"], "K");
    assert_eq!(image["field"]["TimeValue"], 0.012);
    let close = |found: &serde_json::Value, wanted: f64| {
        let found = found.as_f64().unwrap();
        assert!((found - wanted).abs() <= 1e-9 * wanted.abs().max(1e-3), "{found} instead of {wanted}");
    };
    for a in 0..3 {
        close(&image["origin"][a], CORNER[a]);
        close(&image["spacing"][a], SIZE[a] / f64::from(CELLS[a]));
    }
    // The value at a place, found by VTK from the place: the order of the cells is right.
    let fields = fields();
    let [i, j, k] = [7, 11, 13];
    let cell = (k * 30 + j) * 40 + i;
    let place = [-0.1 + 7.5 * 0.025, 11.5 * 0.025, 0.25 + 13.5 * 0.025];
    for (a, x) in place.into_iter().enumerate() {
        close(&report["probe"]["place"][a], x);
    }
    for column in &fields.columns {
        close(&report["probe"]["values"][column.quantity.key.as_ref()], f64::from(column.values[cell]));
    }
    close(&report["probe"]["values"]["temperature_error"], f64::from(fields.columns[4].errors[cell]));

    let surface = &report["surface.vtp"];
    assert_eq!(surface["messages"], serde_json::json!([]));
    assert_eq!(surface["polygons"], 16);
    assert_eq!(surface["names"], serde_json::json!(["ball & <chain>", "stone"]));
    close(&surface["volume"], 4.0 / 3.0 * (RADIUS.powi(3) + 0.05_f64.powi(3)));
    let sum: f64 = (1..=8).map(f64::from).sum();
    close(&surface["arrays"]["pressure"]["sum"], sum + 80.0);
    close(&surface["arrays"]["pressure_error"]["sum"], 4.0);
    assert_eq!(surface["arrays"]["shear"]["missing"], 8);
    assert_eq!(surface["arrays"]["hits"]["missing"], 8);
    close(&surface["arrays"]["obstacle"]["sum"], 8.0);
    close(&surface["arrays"]["part"]["sum"], 48.0);

    let particles = &report["particles.vtp"];
    assert_eq!(particles["messages"], serde_json::json!([]));
    assert_eq!((&particles["vertices"], &particles["points"]), (&50.into(), &50.into()));
    close(&particles["arrays"]["speed"]["sum"], f64::from((0..50).sum::<i32>()));
}

#[test]
fn the_seeds_table_is_as_the_seed_wrote_it() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = Fields {
        cells: [2, 1, 2],
        corner_m: [0.0; 3],
        size_m: [0.04, 0.02, 0.04],
        samples: 8,
        batches: 0,
        columns: vec![
            column("number_density", "1/m^3", &[3.62e19, 1.0, f32::NAN, 2.0], &[]),
            column("velocity_x", "m/s", &[1052.875, -2.5, f32::NAN, 0.0], &[]),
            column("temperature", "K", &[200.0, 250.0, f32::NAN, 1.25e-5], &[]),
            column("sample_count", "", &[800.0, 4.0, 0.0, 1.0], &[]),
        ],
    };
    let mut text = Vec::new();
    seed::write_table(&tiny, &mut text).unwrap();
    let expected =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/output/fields_avg.dat"));
    assert_eq!(String::from_utf8(text).unwrap(), expected.unwrap());

    let path = folder.path().join("fields_avg.dat");
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/output/fields_avg.dat"), &path).unwrap();
    let read = seed::read_table(&path).unwrap();
    assert_eq!(read.cells, [2, 1, 2]);
    assert!((0..3).all(|a| read.corner_m[a].abs() < 1e-9 && (read.size_m[a] - tiny.size_m[a]).abs() < 1e-9));
    let u = &read.column("velocity_x").unwrap().values;
    assert_eq!((u[0], u[1], u[3]), (1052.875, -2.5, 0.0));
    assert!(u[2].is_nan());
}

#[test]
fn the_summary_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let text = fs::read_to_string(folder.path().join("summary.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["name"], "ball in a stream");
    assert_eq!(
        (&json["seed"], &json["steps"], &json["particles"]),
        (&7.into(), &1200.into(), &240_000.into())
    );
    assert_eq!(json["device"], "cpu, 2 threads");
    assert_eq!(json["phase"]["Sampling"]["samples"], 500);
    assert_eq!(json["obstacles"][0]["loads"]["drag_coefficient"]["value"], 2.5);
    assert!(json["obstacles"][0]["loads"]["drag_coefficient"]["error"].is_null(), "NaN is null");
    assert!(json["obstacles"][1]["loads"].is_null());
    assert_eq!(json["timings"][0]["share"], 0.75);
    assert_eq!(json["counters"]["lost"], 0);
    assert_eq!(json["notes"][0], "steady since step 700");
    // Compared as text: by default serde_json does not read the last bit of a number back.
    let scene: Scene = serde_json::from_value(json["scene"].clone()).unwrap();
    assert_eq!(scene.name, self::scene().name);
    let wrote = serde_json::to_string(&self::scene()).unwrap();
    assert_eq!(json["scene"], serde_json::from_str::<serde_json::Value>(&wrote).unwrap());
}

fn picture(path: &Path) -> (u32, u32, Vec<u8>) {
    let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, info.height, pixels)
}

#[test]
fn pictures_of_any_plane_and_of_every_source() {
    let folder = tempfile::tempdir().unwrap();
    // Set this to look at the pictures.
    let kept = std::env::var_os("KNUDSEN_TEST_PICTURES").map(PathBuf::from);
    let out = kept.as_deref().unwrap_or(folder.path());
    written(out);
    let vti = out.join("fields.vti");
    let draw = |file: &str, field: &str, slice: &str, name: &str, change: fn(&mut PlotArgs)| {
        let mut args = plot_args(&out.join(file), field, slice, &out.join(name));
        change(&mut args);
        plot(&args).unwrap();
        picture(&out.join(name))
    };
    let (width, height, plain) = draw("fields.vti", "temperature", "z=0.5", "plain.png", |_| {});
    assert_eq!(width, 1000);
    assert!((600..900).contains(&height), "{height}");
    // A run draws the same cells: only the subtitle differs.
    let (_, _, by_run) = picture(&out.join("slice_temperature_z.png"));
    let from = 80 * 3 * width as usize;
    assert!(plain[from..] == by_run[from..], "plot draws what run draws");
    let mut seen = vec![plain];
    type Case = (&'static str, &'static str, &'static str, &'static str, fn(&mut PlotArgs));
    let cases: [Case; 7] = [
        ("fields.vti", "velocity_y", "x=0.1", "x.png", |_| {}),
        ("fields.vti", "number_density", "y=0.4", "log.png", |a| a.log = true),
        ("fields.vti", "temperature", "", "range.png", |a| a.range = "150..700".into()),
        ("fields.vti", "temperature", "", "full.png", |a| a.range = "full".into()),
        ("fields.vti", "mach", "", "cividis.png", |a| a.map = Some("cividis".into())),
        ("fields_avg.dat", "velocity_x", "z=0.55", "seed.png", |a| a.map = Some("inferno".into())),
        ("history.csv", "drag_coefficient", "", "history.png", |_| {}),
    ];
    for (file, field, slice, name, change) in cases {
        let (width, _, pixels) = draw(file, field, slice, name, change);
        assert_eq!(width, 1000, "{name}");
        assert!(!seen.contains(&pixels), "{name} is different");
        seen.push(pixels);
    }
    let (width, ..) = draw("fields.vti", "temperature", "z=0.5", "small.png", |a| a.size = 400);
    assert_eq!(width, 400);
    assert!(vti.is_file());
}

#[test]
fn wrong_requests_are_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let at = |name: &str| folder.path().join(name);
    let whole = fs::read(at("fields.vti")).unwrap();
    fs::write(at("cut.vti"), &whole[..whole.len() / 2]).unwrap();
    fs::write(at("head.vti"), &whole[..300]).unwrap();
    fs::write(at("noise.vti"), b"solid cube").unwrap();
    fs::write(at("empty.vti"), b"").unwrap();
    let lied = replace(&whole, b"0 40 0 30 0 20", b"0 41 0 30 0 20");
    assert_ne!(lied, whole);
    fs::write(at("lied.vti"), lied).unwrap();
    fs::write(at("table.dat"), "# x y z n ux uy uz T avg_count\n1 2 3\n").unwrap();
    let foreign = "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" compressor=\"vtkZLibDataCompressor\">\n\
                   <AppendedData encoding=\"base64\">_AAAA</AppendedData></VTKFile>";
    fs::write(at("foreign.vti"), foreign).unwrap();
    let before = contents(folder.path());
    for (file, field, slice, expected) in [
        ("no.vti", "temperature", "", "check the path"),
        ("cut.vti", "temperature", "", "cut off"),
        ("head.vti", "temperature", "", "cut off"),
        ("noise.vti", "temperature", "", "not an XML file of VTK"),
        ("empty.vti", "temperature", "", "not an XML file of VTK"),
        ("lied.vti", "temperature", "", "24000 values for 24600 cells"),
        ("foreign.vti", "temperature", "", "open this one in ParaView"),
        ("surface.vtp", "pressure", "", "it is no text: give"),
        ("table.dat", "temperature", "", "line 2 is not nine numbers"),
        ("fields.vti", "enthalpy", "", "there are: number_density, velocity_x"),
        ("fields.vti", "temperature", "z=0.8", "z runs from 0.25 to 0.75 m"),
        ("fields.vti", "temperature", "q=1", "write it as z=0.55"),
        ("history.csv", "temperature", "", "there are: time, particles, drag_coefficient"),
        ("history.csv", "particles", "z=1", "a history has no slice"),
    ] {
        let text = plot(&plot_args(&at(file), field, slice, &at("never.png"))).unwrap_err().to_string();
        assert!(text.contains(expected), "{file} {field} {slice}: {text}");
    }
    let mut args = plot_args(&at("fields.vti"), "velocity_y", "", &at("never.png"));
    for (range, log, expected) in [
        ("5..4", false, "does not run upwards"),
        ("-5..4", true, "must lie above 0"),
        ("wide", false, "write it as 100..400"),
    ] {
        (args.range, args.log) = (range.to_owned(), log);
        let text = plot(&args).unwrap_err().to_string();
        assert!(text.contains(expected), "{range}: {text}");
    }
    args = plot_args(&at("fields.vti"), "mach", "", &at("no/folder.png"));
    let text = plot(&args).unwrap_err().to_string();
    assert!(text.contains("create its folder first"), "{text}");
    assert!(contents(folder.path()) == before, "nothing was written or changed");
}

fn replace(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    while let Some(at) = bytes.windows(old.len()).position(|window| window == old) {
        bytes.splice(at..at + old.len(), new.iter().copied());
    }
    bytes
}

#[test]
fn a_column_of_a_wrong_length_is_a_fault_that_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut broken = snapshot();
    broken.surfaces[1].columns[0].values.pop();
    let error = write_run(folder.path(), &scene(), "cpu", &broken).unwrap_err();
    assert!(matches!(error, OutputError::Data(_)), "{error}");
    assert!(error.to_string().contains("pressure has 7 values where 8 belong"), "{error}");
    assert!(contents(folder.path()).is_empty());
}

#[test]
fn an_output_folder_that_is_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results");
    fs::write(&path, "precious").unwrap();
    for target in [path.clone(), path.join("deeper")] {
        let text = write_run(&target, &scene(), "cpu", &snapshot()).unwrap_err().to_string();
        assert!(text.contains("results") && text.contains("is a file, not a folder"), "{text}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn a_result_whose_name_is_a_folder_leaves_the_others_untouched() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("summary.json")).unwrap();
    fs::write(folder.path().join("fields.vti"), "of an earlier run").unwrap();
    let text = write_run(folder.path(), &scene(), "cpu", &snapshot()).unwrap_err().to_string();
    assert!(text.contains("summary.json") && text.contains("there is a folder of this name"), "{text}");
    assert_eq!(fs::read_to_string(folder.path().join("fields.vti")).unwrap(), "of an earlier run");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Mounts a small memory disk, which takes root; elsewhere this test says that it could not.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_and_leaves_an_earlier_run_whole() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(disk).output();
    if !mounted.as_ref().is_ok_and(|output| output.status.success()) {
        eprintln!(
            "SKIPPED: no small disk could be mounted (it takes root): a full disk was not tried: {mounted:?}"
        );
        return;
    }
    let result = std::panic::catch_unwind(|| {
        let mut small = snapshot();
        small.fields = None;
        write_run(disk, &scene(), "cpu", &small).unwrap();
        let before = contents(disk);
        let text = write_run(disk, &scene(), "cpu", &snapshot()).unwrap_err().to_string();
        assert!(text.contains("fields.vti") && text.contains("free some space"), "{text}");
        assert!(contents(disk) == before, "the earlier run is whole and nothing else is there");
    });
    let gone = Command::new("umount").arg(disk).status();
    assert!(gone.is_ok_and(|status| status.success()), "umount");
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}
