//! Pictures of `knudsen plot` and of a run: any plane, every source, odd domains, wrong requests.
//! Must not know simulations.

use super::example::*;
use knudsen::cli::plot::{PlotArgs, run as plot};
use knudsen::output::{vti_read, write_run};
use knudsen::sim::{Fields, Snapshot};
use std::fs;
use std::path::{Path, PathBuf};

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

/// Needles, sheets, single cells, microns and empty layers.
#[test]
fn pictures_of_odd_domains() {
    let folder = tempfile::tempdir().unwrap();
    let kept = std::env::var_os("KNUDSEN_TEST_PICTURES").map(PathBuf::from);
    let out = kept.as_deref().unwrap_or(folder.path());
    for (name, cells, size_m, empty) in [
        ("needle", [4, 60, 4], [0.1, 1.5, 0.1], false),
        ("sheet", [200, 2, 2], [10.0, 0.1, 0.1], false),
        ("single", [1, 1, 1], [1.0, 1.0, 1.0], false),
        ("micron", [30, 20, 10], [3e-6, 2e-6, 1e-6], false),
        ("empty", [10, 10, 10], [1.0, 1.0, 1.0], true),
    ] {
        let count: u32 = cells.iter().product();
        let values: Vec<f32> =
            (0..count).map(|n| if empty { f32::NAN } else { 300.0 + (n % 37) as f32 }).collect();
        let column = column("temperature", "K", &values, &[]);
        let odd = Fields { cells, corner_m: [0.0; 3], size_m, samples: 1, batches: 0, columns: vec![column] };
        let run = out.join(name);
        let snapshot = Snapshot { fields: Some(odd.clone()), ..Snapshot::default() };
        write_run(&run, &scene(), "cpu", &snapshot).unwrap();
        let (width, height, _) = picture(&run.join("slice_temperature_z.png"));
        assert!(width == 1000 && (300..1300).contains(&height), "{name}: {width} x {height}");
        let read = vti_read::read_fields(&run.join("fields.vti")).unwrap();
        assert_eq!(read.cells, cells, "{name}");
        let mut args = plot_args(&run.join("fields.vti"), "temperature", "", &run.join("log.png"));
        (args.log, args.size) = (true, 300);
        plot(&args).unwrap();
        assert_eq!(picture(&run.join("log.png")).0, 300);
    }
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
