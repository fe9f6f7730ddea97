//! Tests of the document with its files: opened, changed outside, broken, dropped.
//! Only for tests.

use super::*;
use crate::scene::to_ron;

const CUBE: &str = "tests/data/meshes/cube_quads.obj";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A folder with `a.ron`, the sphere, and an app that has opened it.
fn opened() -> (tempfile::TempDir, PathBuf, App) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.ron");
    std::fs::write(&path, to_ron(&scene("sphere"))).expect("written");
    let mut app = app_of(scene("wing"), None);
    app.world_mut().write_message(DocumentOrder::Open(path.clone()));
    until(&mut app, "opened", |app| document(app).path.is_some());
    let (handed, anew) = taken(&mut app).expect("another scene");
    assert!(anew && handed == document(&app).scene && handed.name == "sphere");
    (folder, path, app)
}

fn rewrite(path: &Path, seed: u64) {
    let new = Scene { seed, ..load(path).expect("a scene") };
    std::fs::write(path, to_ron(&new)).expect("written");
}

#[test]
fn a_file_is_loaded_again_when_it_is_saved_by_someone_else_and_unsaved_edits_stay_in_undo() {
    let (_folder, path, mut app) = opened();
    assert_eq!(document(&app).scene, load(&path).expect("a scene"));
    set_mach(&mut app, 2.5);
    app.update();
    taken(&mut app);
    rewrite(&path, 99);
    until(&mut app, "loaded again", |app| document(app).scene.seed == 99);
    let (handed, anew) = taken(&mut app).expect("the new scene");
    assert!(!anew && handed.seed == 99 && mach(&handed) != 2.5);
    assert!(!document(&app).dirty());
    order(&mut app, DocumentOrder::Undo);
    assert_eq!(mach(&document(&app).scene), 2.5);
    assert!(document(&app).dirty());
    // Saving makes no edit of it, nor does the file that then has another time.
    order(&mut app, DocumentOrder::Save);
    let entries = document(&app).undo.len();
    taken(&mut app);
    for _ in 0..100 {
        app.update();
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(taken(&mut app).is_none() && document(&app).undo.len() == entries && !document(&app).dirty());
}

#[test]
fn a_broken_file_keeps_the_scene_and_shows_where_it_is_broken() {
    let (_folder, path, mut app) = opened();
    let good = std::fs::read_to_string(&path).expect("text");
    let old = document(&app).scene.clone();
    std::fs::write(&path, good.replace("seed:", "sede:")).expect("written");
    until(&mut app, "broken", |app| !document(app).problems.is_empty());
    let problem = &document(&app).problems[0];
    assert!(
        problem.file.ends_with("a.ron") && problem.line > 1 && problem.message.contains("seed"),
        "{problem:?}"
    );
    assert!(problem.source_line.contains("sede:"));
    assert!(taken(&mut app).is_none() && document(&app).scene == old);
    // An edit in the window meanwhile does not hide that.
    set_mach(&mut app, 2.5);
    app.update();
    assert_eq!(document(&app).problems.len(), 1);
    std::fs::write(&path, good).expect("written");
    until(&mut app, "mended", |app| document(app).problems.is_empty());
}

#[test]
fn an_impossible_edit_that_a_file_replaced_comes_back_but_is_not_simulated() {
    let (_folder, path, mut app) = opened();
    set_mach(&mut app, -1.0);
    app.update();
    assert_eq!(document(&app).problems.len(), 1);
    rewrite(&path, 99);
    until(&mut app, "loaded again", |app| document(app).scene.seed == 99);
    assert!(document(&app).problems.is_empty());
    taken(&mut app);
    order(&mut app, DocumentOrder::Undo);
    assert_eq!(mach(&collect(app.world_mut()).expect("a scene")), -1.0);
    assert_eq!((document(&app).problems.len(), document(&app).scene.seed), (1, 99));
    order(&mut app, DocumentOrder::Undo);
    assert!(document(&app).problems.is_empty() && taken(&mut app).is_none());
    assert_eq!(collect(app.world_mut()), Some(document(&app).scene.clone()));
}

#[test]
fn a_missing_and_a_strange_file_keep_the_scene_and_say_why() {
    let (folder, _, mut app) = opened();
    order(&mut app, DocumentOrder::Open(folder.path().join("none.ron")));
    until(&mut app, "missing", |app| !document(app).problems.is_empty());
    assert!(document(&app).problems[0].message.contains("no such file"), "{:?}", document(&app).problems);
    order(&mut app, DocumentOrder::Open(folder.path().join("paper.pdf")));
    assert!(document(&app).messages.last().expect("one").contains(".stl"));
    let large = folder.path().join("large.ron");
    std::fs::write(&large, vec![b' '; 2 << 20]).expect("written");
    order(&mut app, DocumentOrder::Open(large));
    until(&mut app, "too large", |app| {
        document(app).problems.first().is_some_and(|problem| problem.message.contains("1 MiB"))
    });
    order(&mut app, DocumentOrder::OpenShipped("none".into()));
    assert!(document(&app).messages.last().expect("one").contains("free molecular sphere"));
    assert_eq!(document(&app).scene.name, "sphere");
    assert!(taken(&mut app).is_none());
}

#[test]
fn unsaved_edits_are_kept_when_another_scene_is_opened_and_when_the_app_ends() {
    let (folder, path, mut app) = opened();
    set_mach(&mut app, 2.5);
    order(&mut app, DocumentOrder::OpenShipped("combo".into()));
    assert_eq!((document(&app).scene.name.as_str(), &document(&app).path), ("combo", &None));
    assert!(taken(&mut app).expect("another").1);
    let kept = load(&folder.path().join("a.unsaved.ron")).expect("kept");
    assert_eq!(mach(&kept), 2.5);
    assert_ne!(mach(&load(&path).expect("as it was")), 2.5);
    // Even an edit that is not possible.
    order(&mut app, DocumentOrder::Open(path.clone()));
    until(&mut app, "opened", |app| document(app).path.is_some());
    set_mach(&mut app, -1.0);
    app.update();
    app.world_mut().write_message(AppExit::Success);
    app.update();
    let text = std::fs::read_to_string(folder.path().join("a.unsaved-2.ron")).expect("kept");
    assert!(text.contains("-1.0"), "{text}");
    assert!(document(&app).messages.iter().any(|message| message.contains("a.unsaved.ron")));
}

#[test]
fn comments_are_kept_beside_the_file_that_loses_them() {
    let (folder, path, mut app) = opened();
    let text = std::fs::read_to_string(&path).expect("text");
    std::fs::write(&path, format!("// mine\n{text}")).expect("written");
    set_mach(&mut app, 2.5);
    order(&mut app, DocumentOrder::Save);
    assert_eq!(mach(&load(&path).expect("a scene")), 2.5);
    let kept = std::fs::read_to_string(folder.path().join("a.before.ron")).expect("kept");
    assert!(kept.starts_with("// mine"));
}

#[test]
fn triangles_that_are_dropped_come_into_the_scene_or_say_why_not() {
    let (folder, _, mut app) = opened();
    let file = folder.path().join("cube.obj");
    std::fs::copy(root().join(CUBE), &file).expect("copied");
    let count = bodies(&document(&app).scene).len();
    let window = app.world_mut().spawn_empty().id();
    app.world_mut().write_message(FileDragAndDrop::DroppedFile { window, path_buf: file });
    until(&mut app, "added", |app| bodies(&document(app).scene).len() > count);
    let scene = document(&app).scene.clone();
    let body = &bodies(&scene)[count];
    let Shape::Mesh { file, scale } = &body.shape else { panic!("{body:?}") };
    assert_eq!((file.as_str(), body.name.as_str()), ("cube.obj", "cube"));
    // In the middle of the domain, and smaller than that.
    let [low, high] =
        crate::scene::shape::mesh(body, &scene.folder).expect("a mesh").bounds().expect("triangles");
    let stage = *app.world().resource::<Stage>();
    for k in 0..3 {
        assert!(
            (0.5 * (low[k] + high[k]) - stage.middle_m[k]).abs() < 1e-3 * stage.size_m[k],
            "{low:?} {high:?}"
        );
        assert!(high[k] - low[k] < stage.size_m[k], "scale {scale}");
    }
    taken(&mut app);

    let bad = root().join("tests/data/meshes/broken/open_mesh.stl");
    order(&mut app, DocumentOrder::Open(bad));
    until(&mut app, "refused", |app| {
        document(app).messages.last().is_some_and(|message| message.contains("open_mesh.stl"))
    });
    let message = document(&app).messages.last().expect("one");
    assert!(message.starts_with("not added"), "{message}");
    assert!(taken(&mut app).is_none() && document(&app).scene == scene);

    // Saved elsewhere, the triangles are still found.
    let other = folder.path().join("below");
    std::fs::create_dir(&other).expect("a folder");
    order(&mut app, DocumentOrder::SaveAs(other.join("b.ron")));
    let moved = load(&other.join("b.ron")).expect("a good scene");
    assert_eq!(moved, document(&app).scene);
    let Shape::Mesh { file, .. } = &bodies(&moved)[count].shape else { panic!("{moved:?}") };
    assert_eq!(file, "../cube.obj");
}
