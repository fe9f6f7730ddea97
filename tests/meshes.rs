//! Triangle files: good ones against published areas and other readers, broken ones against their messages.
//! Must not know how the readers work.

use knudsen::scene::TriangleMesh;
use knudsen::scene::mesh::file::{inspect, load, parse};
use std::path::{Path, PathBuf};

/// Areas of the bodies of the free-molecular reference values, m^2 (their STL files hold nine digits).
const ICOSAHEDRON_AREA: f64 = 9.57454138327;
const WEDGE_AREA: f64 = 6.47921561087;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/meshes").join(name)
}

fn near(value: f64, expected: f64, relative: f64) {
    assert!((value / expected - 1.0).abs() < relative, "{value} is not {expected} within {relative}");
}

#[test]
fn the_reference_bodies_have_their_areas_in_every_format() {
    for (name, format, triangles, vertices, area) in [
        ("icosahedron.stl", "ASCII STL", 20, 12, ICOSAHEDRON_AREA),
        ("icosahedron_binary.stl", "binary STL", 20, 12, ICOSAHEDRON_AREA),
        ("icosahedron.obj", "OBJ", 20, 12, ICOSAHEDRON_AREA),
        ("wedge.stl", "ASCII STL", 8, 6, WEDGE_AREA),
        ("wedge_binary_solid.stl", "binary STL", 8, 6, WEDGE_AREA),
        ("wedge.obj", "OBJ", 8, 6, WEDGE_AREA),
    ] {
        let (mesh, report) = load(&data(name), 1.0).unwrap();
        // Nine digits of the ASCII files; f32 in the binary ones.
        near(mesh.area(), area, if format == "binary STL" { 1e-7 } else { 2e-9 });
        assert_eq!((mesh.triangles.len(), mesh.vertices.len()), (triangles, vertices), "{name}");
        assert!(mesh.closed && mesh.volume() > 0.0 && mesh.part == vec![0; triangles]);
        assert_eq!(report.format, format);
        assert!(report.repairs.is_empty() && report.as_read == report.result, "{name}: {report}");
        assert!(report.to_string().contains("watertight   yes; shells 1"), "{report}");
    }
}

#[test]
fn volumes_are_right() {
    // Wedge: triangle of base 0.8 and height 2, times 1. Regular icosahedron with circumradius 1: 2.53615...
    near(load(&data("wedge.stl"), 1.0).unwrap().0.volume(), 0.8, 1e-8);
    let edge = 1.0 / (2.0 * std::f64::consts::PI / 5.0).sin();
    let icosahedron = 5.0 / 12.0 * (3.0 + 5f64.sqrt()) * edge.powi(3);
    near(load(&data("icosahedron.stl"), 1.0).unwrap().0.volume(), icosahedron, 1e-7);
    // In mm.
    near(load(&data("wedge.stl"), 1e-3).unwrap().0.volume(), 0.8e-9, 1e-8);
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(load(&data("wedge.stl"), scale).unwrap_err().0.contains("scale"));
    }
}

#[test]
fn polygons_are_cut_into_triangles() {
    let (cube, _) = load(&data("cube_quads.obj"), 2.0).unwrap();
    assert_eq!((cube.triangles.len(), cube.vertices.len()), (12, 8));
    near(cube.volume(), 8.0, 1e-14);
    let (prism, report) = load(&data("l_prism.obj"), 1.0).unwrap();
    near(prism.volume(), 3.0, 1e-14);
    // A fan that left the L would have a larger area.
    near(prism.area(), 2.0 * 3.0 + 8.0, 1e-14);
    assert!(report.repairs.is_empty());
}

#[test]
fn bodies_of_several_shells() {
    let (mesh, report) = load(&data("two_cubes_at_an_edge.stl"), 1.0).unwrap();
    assert_eq!((report.result.shells, report.result.non_manifold_edges), (2, 1));
    near(mesh.volume(), 2.0, 1e-14);

    let (mesh, report) = load(&data("two_cubes_at_a_face.stl"), 1.0).unwrap();
    assert!(report.to_string().contains("4 duplicate triangles were dropped"), "{report}");
    assert_eq!((report.result.shells, mesh.triangles.len()), (1, 20));
    near(mesh.volume(), 2.0, 1e-14);
    near(mesh.area(), 10.0, 1e-14);

    // The common face is cut by the other diagonal: the inner wall stays, harmless, with no gas on either side.
    let (mesh, report) = load(&data("two_cubes_at_a_face_cut_otherwise.stl"), 1.0).unwrap();
    assert_eq!((report.result.non_manifold_edges, mesh.triangles.len()), (4, 24));
    assert!(report.repairs.is_empty(), "{report}");
    near(mesh.volume(), 2.0, 1e-14);

    let (mesh, report) = load(&data("two_cubes_one_inside_out.stl"), 1.0).unwrap();
    assert!(report.to_string().contains("1 shells were inside out"), "{report}");
    near(mesh.volume(), 2.0, 1e-14);

    // Both shells have their fronts outside in the file; the inner one becomes a cavity.
    let (mesh, report) = load(&data("hollow_cube.stl"), 1.0).unwrap();
    near(mesh.volume(), 26.0, 1e-14);
    assert!(report.to_string().contains("1 shells lie inside another"), "{report}");
}

#[test]
fn needles_and_near_vertices_are_repaired() {
    let (mesh, report) = load(&data("cube_needle.stl"), 1.0).unwrap();
    assert!(report.to_string().contains("1 triangles without area were mended"), "{report}");
    assert_eq!((report.as_read.degenerate, report.result.degenerate), (1, 0));
    assert_eq!((mesh.triangles.len(), mesh.vertices.len()), (14, 9));
    near(mesh.volume(), 1.0, 1e-14);
    near(mesh.area(), 6.0, 1e-14);

    let (mesh, report) = load(&data("icosahedron_jittered.stl"), 1.0).unwrap();
    assert_eq!(mesh.vertices.len(), 12);
    assert!(report.to_string().contains("vertices were moved"), "{report}");
    near(mesh.area(), ICOSAHEDRON_AREA, 1e-7);
}

#[test]
fn other_readers_see_the_same_bodies() {
    for name in ["icosahedron.stl", "icosahedron_binary.stl", "wedge.stl"] {
        let theirs = stl_io::read_stl(&mut std::fs::File::open(data(name)).unwrap()).unwrap();
        let (ours, _) = parse(&std::fs::read(data(name)).unwrap(), "stl").unwrap();
        assert_eq!(theirs.faces.len(), ours.triangles.len());
        for (i, face) in theirs.faces.iter().enumerate() {
            for (corner, v) in ours.corners(i).into_iter().zip(face.vertices) {
                assert_eq!(corner.map(|x| x as f32), theirs.vertices[v].0, "{name}");
            }
        }
    }
    // What they cannot read is why there are readers here.
    let solid = &mut std::fs::File::open(data("wedge_binary_solid.stl")).unwrap();
    assert!(stl_io::read_stl(solid).is_err());
    for name in ["icosahedron.obj", "cube_quads.obj"] {
        let options = tobj::LoadOptions { triangulate: true, ..Default::default() };
        let (models, _) = tobj::load_obj(data(name), &options).unwrap();
        let theirs = &models[0].mesh;
        let (ours, _) = parse(&std::fs::read(data(name)).unwrap(), "obj").unwrap();
        let corners = (0..ours.triangles.len()).flat_map(|i| ours.corners(i));
        assert_eq!(theirs.indices.len(), 3 * ours.triangles.len());
        for (corner, &v) in corners.zip(&theirs.indices) {
            let v = v as usize;
            assert_eq!(corner.map(|x| x as f32), theirs.positions[3 * v..3 * v + 3], "{name}");
        }
    }
}

#[test]
fn broken_files_get_their_messages() {
    let table = std::fs::read_to_string(data("broken/expected.txt")).unwrap();
    let mut named = vec!["expected.txt".to_string()];
    let mut wrong = Vec::new();
    for line in table.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let [name, verdict, fragments] = line.splitn(3, " | ").collect::<Vec<_>>().try_into().unwrap();
        named.push(name.to_string());
        let path = data("broken").join(name);
        let (got, text) = match load(&path, 1.0) {
            Ok((mesh, report)) => {
                let sound = mesh.closed && mesh.volume() > 0.0 && report.result.watertight();
                (if sound { "repaired" } else { "unsound" }, report.to_string())
            }
            Err(e) => ("refused", e.to_string()),
        };
        if got != verdict {
            wrong.push(format!("{name}: {got}, not {verdict}: {text}"));
        }
        for fragment in fragments.split("; ").chain([name]).filter(|f| !text.contains(f)) {
            wrong.push(format!("{name}: no \"{fragment}\" in: {text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for entry in std::fs::read_dir(data("broken")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(named.contains(&name), "{name} is not in expected.txt");
    }
}

#[test]
fn repaired_files_are_the_sound_body() {
    let (sound, _) = load(&data("icosahedron.stl"), 1.0).unwrap();
    for name in ["flipped_all.stl", "flipped_some.stl", "duplicated.stl", "degenerate.stl"] {
        let (mesh, _) = load(&data("broken").join(name), 1.0).unwrap();
        near(mesh.area(), sound.area(), 1e-7);
        near(mesh.volume(), sound.volume(), 1e-7);
        for d in [[1.0, 0.0, 0.0], [-0.3, 0.5, 2.0]] {
            near(mesh.reference_area(d), sound.reference_area(d), 1e-6);
        }
    }
}

#[test]
fn an_open_mesh_can_be_looked_at() {
    let (mesh, report) = inspect(&data("broken/open_mesh.stl"), 1.0).unwrap();
    assert_eq!((mesh.closed, mesh.triangles.len(), report.result.open_edges), (false, 19, 3));
    assert!(report.to_string().contains("watertight   NO: 3 open edges"), "{report}");
}

/// Every truncation, and many byte changes, of good files: refused or read, never a panic, and what is accepted is
/// sound. Deterministic.
#[test]
fn damaged_bytes_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let mut state = 1u64;
    let mut random = move |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let (mut refused, mut accepted) = (0, 0);
    for name in ["wedge.stl", "wedge_binary_solid.stl", "l_prism.obj", "cube_needle.stl"] {
        let good = std::fs::read(data(name)).unwrap();
        let extension = &name[name.len() - 3..];
        for length in 0..good.len() {
            let _ = parse(&good[..length], extension);
        }
        let path = folder.path().join(name);
        for _ in 0..400 {
            let mut bytes = good.clone();
            for _ in 0..1 + random(3) {
                let at = random(bytes.len());
                bytes[at] = match random(4) {
                    0 => random(256) as u8,
                    1 => bytes[at] ^ (1 << random(8)),
                    2 => b"0123456789 .-e/\\\n"[random(17)],
                    _ => bytes[random(good.len())],
                };
            }
            std::fs::write(&path, &bytes).unwrap();
            match load(&path, 1.0) {
                Ok((mesh, report)) => {
                    accepted += 1;
                    assert_sound(&mesh);
                    assert!(report.refusal().is_none());
                }
                Err(e) => {
                    refused += 1;
                    assert!(e.0.contains(name), "{e}");
                }
            }
        }
    }
    // The damage is neither always fatal nor always harmless: both ways were tried.
    assert!(refused > 100 && accepted > 100, "{refused} {accepted}");
}

fn assert_sound(mesh: &TriangleMesh) {
    let mut directed = std::collections::HashMap::new();
    for &[a, b, c] in &mesh.triangles {
        for (p, q, sign) in [(a, b, 1), (b, c, 1), (c, a, 1)] {
            let (key, sign) = if p < q { ((p, q), sign) } else { ((q, p), -sign) };
            *directed.entry(key).or_insert(0) += sign;
        }
    }
    assert!(directed.values().all(|&n| n == 0));
    assert!((0..mesh.triangles.len()).all(|i| mesh.triangle_area(i) > 0.0));
    assert!(mesh.vertices.iter().flatten().all(|x| x.is_finite()));
    assert!(mesh.closed && mesh.volume() > 0.0);
}
