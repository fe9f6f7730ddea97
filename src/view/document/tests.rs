//! Tests of the document: kept without loss, edited, undone, saved, loaded again, broken.
//! Only for tests.

use super::*;
use crate::scene::{Model, Obstacle, Stream, Velocity, Wall, load};
use crate::view::stage::Stage;
use bevy::gizmos::transform_gizmo::TransformGizmoState;
use std::time::{Duration, Instant};

/// An app with the sphere of the gallery, of no file.
fn app() -> App {
    app_of(scene("sphere"), None)
}

fn app_of(scene: Scene, path: Option<PathBuf>) -> App {
    let mut app = App::new();
    app.add_plugins(MinimalPlugins).add_plugins(DocumentPlugin { scene, path });
    app.update();
    taken(&mut app);
    app
}

fn scene(name: &str) -> Scene {
    let one = shipped().iter().find(|one| one.name == name).expect("a shipped scene");
    one.scene(&std::env::temp_dir()).expect("a good scene")
}

fn document(app: &App) -> &Document {
    app.world().resource::<Document>()
}

fn order(app: &mut App, order: DocumentOrder) {
    app.world_mut().write_message(order);
    app.update();
}

/// Frames until it is so.
fn until(app: &mut App, what: &str, is: impl Fn(&App) -> bool) {
    let start = Instant::now();
    while !is(app) {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}: {:?}", document(app));
        app.update();
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The scene handed to the simulation since the last look, and whether it is another one.
fn taken(app: &mut App) -> Option<(Scene, bool)> {
    let handover = std::mem::take(&mut *app.world_mut().resource_mut::<Handover>());
    handover.waiting().map(|(scene, anew)| (scene.clone(), anew))
}

fn bodies(scene: &Scene) -> &[Obstacle] {
    let Model::Gas(gas) = &scene.model;
    &gas.obstacles
}

fn stream(scene: &Scene) -> &Stream {
    let Model::Gas(gas) = &scene.model;
    &gas.stream
}

fn first(app: &mut App) -> Entity {
    let world = app.world_mut();
    let mut bodies: Vec<_> = world.query::<(&BodyIndex, Entity)>().iter(world).collect();
    bodies.sort();
    bodies[0].1
}

fn edit<C: Component<Mutability = bevy::ecs::component::Mutable>>(app: &mut App, how: impl Fn(&mut C)) {
    let world = app.world_mut();
    let mut query = world.query::<&mut C>();
    how(&mut query.iter_mut(world).next().expect("such a component"));
}

fn set_mach(app: &mut App, mach: f64) {
    edit(app, |stream: &mut FlowStream| stream.0.velocity = Velocity::Mach(mach));
}

fn mach(scene: &Scene) -> f64 {
    match stream(scene).velocity {
        Velocity::Mach(mach) => mach,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_scene_comes_back_from_its_entities_also_after_others() {
    let mut world = World::new();
    assert_eq!(collect(&mut world), None);
    for one in shipped().iter().chain(shipped().iter().rev()) {
        let scene = scene(one.name);
        spawn(&mut world, &scene);
        assert_eq!(collect(&mut world).as_ref(), Some(&scene), "{}", one.name);
        let Model::Gas(gas) = &scene.model;
        assert_eq!(world.resource::<Stage>(), &Stage::of(&gas.domain));
    }
}

#[test]
fn scenes_of_many_kinds_come_back_too() {
    let mut state = 7_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let all: Vec<Scene> = shipped().iter().map(|one| scene(one.name)).collect();
    let mut world = World::new();
    let mut made = scene("sphere");
    let mut most = 0;
    for round in 0..300 {
        let other = all[random(all.len())].clone();
        let Model::Gas(theirs) = other.model;
        let value = (random(1_000_000) as f64).sqrt() / 7.0;
        let Model::Gas(gas) = &mut made.model;
        match random(12) {
            0 => gas.obstacles = theirs.obstacles,
            1 => gas.obstacles.reverse(),
            2 => gas.obstacles.truncate(1),
            3 => gas.obstacles.iter_mut().for_each(|body| body.position_m[1] = value),
            4 => gas.obstacles.iter_mut().for_each(|body| body.rotation_deg = [value, -value, 1.0 / value]),
            5 => gas.obstacles.iter_mut().for_each(|body| body.wall = Wall::Specular),
            6 => gas.obstacles.push(Obstacle {
                name: format!("body {round}"),
                shape: Shape::Mesh { file: "a/b.stl".into(), scale: value },
                position_m: [value; 3],
                rotation_deg: [0.1; 3],
                wall: Wall::Diffuse { temperature_k: value, accommodation: 0.3 },
            }),
            7 => (gas.domain, gas.faces) = (theirs.domain, theirs.faces),
            8 => (gas.gas, gas.stream, gas.sampling) = (theirs.gas, theirs.stream, theirs.sampling),
            9 => {
                (gas.time_step, gas.steps, gas.start) = (theirs.time_step, random(1000) as u64, theirs.start)
            }
            10 => (gas.collisions, gas.reference) = (theirs.collisions, theirs.reference),
            _ => {
                let camera = crate::scene::Camera::new([value; 3], [0.0; 3]);
                made.view.bookmarks.push(crate::scene::Bookmark { name: format!("{round}"), camera });
                made.view.path.push(crate::scene::KeyFrame { time_s: value, camera });
                made.folder = format!("/folder/{round}").into();
                (made.name, made.about, made.seed) = (format!("n{round}"), other.about, random(99) as u64);
            }
        }
        most = most.max(bodies(&made).len());
        spawn(&mut world, &made);
        assert_eq!(collect(&mut world).as_ref(), Some(&made));
    }
    assert!(made.view.path.len() > 5 && most > 4, "the edits were too tame: {made:?}");
}

#[test]
fn bodies_that_stay_keep_their_entities() {
    let mut world = World::new();
    let scene = scene("combo");
    spawn(&mut world, &scene);
    let named = |world: &mut World, name: &str| {
        let mut query = world.query::<(Entity, &Name)>();
        query.iter(world).find(|(_, one)| one.as_str() == name).map(|(entity, _)| entity)
    };
    let last = bodies(&scene).last().expect("a body").name.clone();
    let entity = named(&mut world, &last);
    assert!(entity.is_some());
    let mut fewer = scene.clone();
    let Model::Gas(gas) = &mut fewer.model;
    let new = Obstacle { name: "new".into(), ..gas.obstacles[0].clone() };
    gas.obstacles = vec![new, gas.obstacles.last().expect("a body").clone()];
    spawn(&mut world, &fewer);
    assert_eq!(named(&mut world, &last), entity);
    assert_eq!(collect(&mut world), Some(fewer));
}

#[test]
fn an_edit_is_told_beforehand_and_is_one_entry_when_it_is_finished() {
    let mut app = app();
    let old = mach(&document(&app).scene);
    app.world_mut().resource_mut::<Dragging>().0 = true;
    for k in 1..=5 {
        set_mach(&mut app, old + f64::from(k));
        app.update();
        assert_eq!(document(&app).pending, Some(Impact::AveragesReset));
        assert!(taken(&mut app).is_none() && document(&app).undo.is_empty());
    }
    // Back where it was: nothing to pay for.
    set_mach(&mut app, old);
    app.update();
    assert_eq!(document(&app).pending, None);
    set_mach(&mut app, old + 2.0);
    app.update();
    app.world_mut().resource_mut::<Dragging>().0 = false;
    app.update();
    let (handed, anew) = taken(&mut app).expect("a scene");
    assert_eq!((mach(&handed), anew), (old + 2.0, false));
    assert_eq!((document(&app).pending, document(&app).undo.len()), (None, 1));
    assert!(document(&app).dirty());
    for _ in 0..3 {
        app.update();
    }
    assert!(taken(&mut app).is_none() && document(&app).undo.len() == 1);

    order(&mut app, DocumentOrder::Undo);
    assert_eq!(mach(&taken(&mut app).expect("the old scene").0), old);
    assert!(!document(&app).dirty());
    assert_eq!(collect(app.world_mut()), Some(document(&app).scene.clone()));
    order(&mut app, DocumentOrder::Undo);
    assert!(taken(&mut app).is_none());
    order(&mut app, DocumentOrder::Redo);
    assert_eq!(mach(&taken(&mut app).expect("the new scene").0), old + 2.0);
    // Another edit ends what could be made again.
    order(&mut app, DocumentOrder::Undo);
    set_mach(&mut app, old + 3.0);
    app.update();
    assert!(document(&app).redo.is_empty() && document(&app).undo.len() == 1);
}

#[test]
fn an_impossible_edit_is_shown_and_not_handed_on_and_can_be_undone() {
    let mut app = app();
    let old = mach(&document(&app).scene);
    set_mach(&mut app, -1.0);
    app.update();
    assert!(taken(&mut app).is_none() && document(&app).undo.is_empty());
    assert_eq!(mach(&document(&app).scene), old);
    let problems = &document(&app).problems;
    assert!(problems.len() == 1 && problems[0].field.contains("stream"), "{problems:?}");
    assert_eq!(mach(&collect(app.world_mut()).expect("a scene")), -1.0);
    order(&mut app, DocumentOrder::Undo);
    assert!(document(&app).problems.is_empty() && taken(&mut app).is_none());
    assert_eq!(mach(&collect(app.world_mut()).expect("a scene")), old);
    order(&mut app, DocumentOrder::Redo);
    assert_eq!((document(&app).problems.len(), mach(&document(&app).scene)), (1, old));
    // Mended by hand.
    set_mach(&mut app, 3.0);
    app.update();
    assert!(document(&app).problems.is_empty());
    assert_eq!(mach(&taken(&mut app).expect("a scene").0), 3.0);
}

#[test]
fn a_gizmo_moves_the_placement_and_a_drag_is_one_entry() {
    let mut app = app();
    let body = first(&mut app);
    let old = bodies(&document(&app).scene)[0].position_m;
    let stage = *app.world().resource::<Stage>();
    let begin = *app.world().get::<Transform>(body).expect("a transform");
    assert!((begin.translation - stage.place(old)).length() < 1e-6);
    let mut mouse = ButtonInput::<MouseButton>::default();
    mouse.press(MouseButton::Left);
    app.insert_resource(mouse);
    app.insert_resource(TransformGizmoState { active: true, entity: Some(body), ..default() });
    for k in 1..=4 {
        let mut now = begin;
        now.translation.x += 0.05 * k as f32;
        app.world_mut().entity_mut(body).insert(now);
        app.update();
        assert_eq!(document(&app).pending, Some(Impact::Restart));
        assert_eq!(
            app.world().get::<Transform>(body),
            Some(&now),
            "the gizmo has the say while it holds a body"
        );
    }
    app.world_mut().resource_mut::<ButtonInput<MouseButton>>().release(MouseButton::Left);
    app.update();
    let now = bodies(&document(&app).scene)[0].position_m;
    assert!((now[0] - old[0] - 0.2 / stage.scale()).abs() < 2e-5 * stage.size_m[0], "{old:?} {now:?}");
    assert_eq!(now[1..], old[1..]);
    assert!(now[0].to_string().len() <= 10, "a tidy number, not {}", now[0]);
    assert_eq!(document(&app).undo.len(), 1);
    assert_eq!(bodies(&taken(&mut app).expect("a scene").0)[0].position_m, now);
    order(&mut app, DocumentOrder::Undo);
    assert_eq!(bodies(&document(&app).scene)[0].position_m, old);
    assert_eq!(app.world().get::<Transform>(body), Some(&begin));
}

#[test]
fn bodies_are_added_duplicated_and_deleted() {
    let mut app = app();
    let count = bodies(&document(&app).scene).len();
    order(&mut app, DocumentOrder::Add(Shape::Sphere { radius_m: 0.01 }));
    let added = app.world().resource::<Selection>().0.expect("the new body is selected");
    assert_eq!(bodies(&document(&app).scene).len(), count + 1);
    order(&mut app, DocumentOrder::Duplicate(added));
    let all = bodies(&document(&app).scene).to_vec();
    assert_eq!(all.len(), count + 2);
    let (one, other) = (&all[count], &all[count + 1]);
    assert!(one.name != other.name && one.shape == other.shape);
    assert!((one.position_m[1] - other.position_m[1]).abs() > 0.02, "beside it, not in it");
    order(&mut app, DocumentOrder::Delete(added));
    let left: Vec<_> = bodies(&document(&app).scene).iter().map(|body| body.name.as_str()).collect();
    assert_eq!(left[count..], [other.name.as_str()]);
    assert!(document(&app).problems.is_empty() && document(&app).undo.len() == 3);
    for _ in 0..3 {
        order(&mut app, DocumentOrder::Undo);
    }
    assert!(!document(&app).dirty());
    order(&mut app, DocumentOrder::Delete(added));
    assert!(!document(&app).dirty(), "a body that is gone cannot be deleted");
}

#[test]
fn what_is_saved_loads_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    for one in shipped() {
        let path = folder.path().join(one.name);
        let mut app = app_of(scene(one.name), None);
        edit(&mut app, |settings: &mut SceneSettings| settings.seed = 4711);
        order(&mut app, DocumentOrder::Save);
        assert!(document(&app).dirty() && document(&app).messages[0].contains("no file"));
        order(&mut app, DocumentOrder::SaveAs(path.clone()));
        assert!(!document(&app).dirty(), "{:?}", document(&app).messages);
        let path = path.with_extension("ron");
        assert_eq!(document(&app).path.as_ref(), Some(&path));
        assert_eq!(load(&path).expect("a good scene"), document(&app).scene);
        assert_eq!(document(&app).scene.seed, 4711);
    }
    let mut app = app();
    order(&mut app, DocumentOrder::SaveAs(folder.path().join("no/such/folder.ron")));
    let message = document(&app).messages.last().expect("a message");
    assert!(message.contains("not saved") && message.contains("create its folder"), "{message}");
    set_mach(&mut app, -1.0);
    order(&mut app, DocumentOrder::SaveAs(folder.path().join("bad.ron")));
    assert!(!folder.path().join("bad.ron").exists());
}

#[test]
fn rotations_come_back_from_their_matrix() {
    use crate::scene::mesh::transform::rotation;
    let angles = [-180.0, -135.0, -90.0, -30.0, 0.0, 1e-3, 45.0, 89.9999, 90.0, 120.0, 180.0, 200.0];
    for x in angles {
        for y in angles {
            for z in angles {
                let (given, matrix) = ([x, y, z], rotation([x, y, z]));
                for near in [given, [0.0; 3], [10.0, -20.0, 700.0]] {
                    let back = rotation(degrees(matrix, near));
                    for k in 0..9 {
                        let (one, other) = (matrix[k / 3][k % 3], back[k / 3][k % 3]);
                        assert!((one - other).abs() < 1e-12, "{given:?} near {near:?}: {one} {other}");
                    }
                }
                let same = degrees(matrix, given);
                let level = (y - 90.0).rem_euclid(180.0).abs() > 1e-6;
                if level {
                    assert!((0..3).all(|k| (same[k] - given[k]).abs() < 1e-9), "{given:?} {same:?}");
                }
                // And through the single precision of the picture.
                let stage = Stage { middle_m: [0.0; 3], size_m: [1.0; 3] };
                let placement = Placement { position_m: [0.0; 3], rotation_deg: given };
                let quat = transform(&placement, &stage).rotation;
                for (axis, unit) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
                    let turned = quat * unit;
                    assert!((0..3).all(|k| (f64::from(turned[k]) - matrix[k][axis]).abs() < 1e-6));
                }
                let stood = Transform::default();
                let new = placement::moved(&placement, &stood, &Transform::from_rotation(quat), &stage);
                let back = rotation(new.rotation_deg);
                let off =
                    (0..9).map(|k| (matrix[k / 3][k % 3] - back[k / 3][k % 3]).abs()).fold(0.0, f64::max);
                assert!(off < 5e-5, "{given:?} became {:?}, off by {off}", new.rotation_deg);
            }
        }
    }
}

mod files;
