//! Output files: read back by ParaView's own library and by this program, refused politely, never half-written.
//! Must not know simulations: its snapshot is a formula.

// `cfg(test)` lets the lints know that helpers outside a test function may unwrap, too.
#[cfg(test)]
mod example;
#[cfg(test)]
mod plots;

use example::*;
use knudsen::output::{OutputError, seed, vti_read, write_run};
use knudsen::scene::Scene;
use knudsen::sim::Fields;
use std::fs;
use std::process::Command;

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
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/output/vtk_read.py");
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
    assert_eq!(scene.name, example::scene().name);
    let wrote = serde_json::to_string(&example::scene()).unwrap();
    assert_eq!(json["scene"], serde_json::from_str::<serde_json::Value>(&wrote).unwrap());
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
