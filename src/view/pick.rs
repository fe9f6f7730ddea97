//! A click selects the body under it; the selected body is outlined and has handles to move and turn it.
//! Must not know the simulation, nor how bodies are drawn: it looks at their shapes.

use super::document::{BodyIndex, BodyShape, DocumentSystems, Placement, SceneSettings, Selection};
use super::stage::Stage;
use crate::scene::mesh::transform::rotation;
use crate::scene::{Shape, TriangleMesh, shape};
use bevy::camera::visibility::RenderLayers;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::gizmos::GizmoPlugin;
use bevy::gizmos::transform_gizmo::{
    TransformGizmoCamera, TransformGizmoFocus, TransformGizmoPlugin, TransformGizmoState,
    TransformGizmoSystems,
};
use bevy::prelude::*;
use bevy::tasks::{AsyncComputeTaskPool, Task, futures::check_ready};
use bevy::window::PrimaryWindow;
use bevy_egui::EguiContext;
use bevy_egui::input::EguiWantsInput;
use std::collections::HashMap;

/// Pixels that the mouse may move between press and release of a click; more turns the camera.
const CLICK: f32 = 4.0;
/// Edges looked through for an outline at most.
const EDGES: usize = 200_000;
/// Edges whose faces have a smaller cosine between them are always drawn.
const SHARP: f32 = 0.8;
/// The layer of the gizmo's own camera, which Bevy keeps to itself.
const HANDLES: usize = 15;
const OUTLINE: Color = Color::srgb(1.0, 0.85, 0.3);

/// Selects bodies by click, and moves the selected one by Bevy's transform gizmo (its mode is in
/// `TransformGizmoSettings`). To be added after `DefaultPlugins`.
pub struct PickPlugin;

impl Plugin for PickPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Selection>()
            .add_systems(Update, (solidify, pick, deselect, focus).chain().after(DocumentSystems));
        if app.is_plugin_added::<GizmoPlugin>() {
            app.add_plugins(TransformGizmoPlugin)
                .configure_sets(PostUpdate, TransformGizmoSystems.run_if(handles_free))
                .add_systems(Update, (mark_camera, outline.after(focus)))
                .add_systems(PostUpdate, overlay.before(TransformSystems::Propagate));
        }
    }
}

/// Triangles of a body in its own axes, m: empty while a file is being read, or if it cannot be.
#[derive(Component, Default)]
pub struct Solid {
    mesh: TriangleMesh,
    edges: Vec<Edge>,
    coming: Option<Task<(TriangleMesh, Vec<Edge>)>>,
}

/// An edge with the normals of its two faces.
struct Edge {
    ends: [Vec3; 2],
    normals: [Vec3; 2],
}

/// The triangles follow the shape. Files may be large: they are read beside the frames.
fn solidify(
    settings: Query<Ref<SceneSettings>>,
    mut bodies: Query<(Entity, Ref<BodyShape>, Option<&mut Solid>)>,
    mut commands: Commands,
) {
    let Some(settings) = settings.iter().next() else { return };
    for (entity, body, solid) in &mut bodies {
        let of_file = matches!(body.0, Shape::Mesh { .. } | Shape::Group { .. });
        let changed = body.is_changed() || solid.is_none() || (of_file && settings.is_changed());
        let mut coming = changed.then(|| {
            let (shape, folder) = (body.0.clone(), settings.folder.clone());
            AsyncComputeTaskPool::get().spawn(async move {
                // Why there are none is told by whoever simulates it.
                let mesh = shape::body(&shape, &folder).map(|body| body.mesh).unwrap_or_default();
                let edges = edges(&mesh);
                (mesh, edges)
            })
        });
        let Some(mut solid) = solid else {
            commands.entity(entity).insert(Solid { coming, ..default() });
            continue;
        };
        if coming.is_some() {
            solid.coming = coming.take();
        }
        if solid.coming.is_some()
            && let Some((mesh, edges)) = solid.coming.as_mut().and_then(check_ready)
        {
            *solid = Solid { mesh, edges, coming: None };
        }
    }
}

/// The first body on the ray, and how far it is, m. Origin in m.
fn first_hit<'a>(
    origin_m: [f64; 3],
    direction: [f64; 3],
    bodies: impl Iterator<Item = (Entity, &'a Placement, &'a Solid)>,
) -> Option<(Entity, f64)> {
    let hit = |(entity, placement, solid): (Entity, &Placement, &Solid)| {
        let turn = rotation(placement.rotation_deg);
        let own = |v: [f64; 3]| -> [f64; 3] {
            std::array::from_fn(|k| (0..3).map(|row| turn[row][k] * v[row]).sum())
        };
        let origin = own(std::array::from_fn(|k| origin_m[k] - placement.position_m[k]));
        let direction = own(direction);
        let far = |triangle: usize| distance(origin, direction, solid.mesh.corners(triangle));
        let nearest = (0..solid.mesh.triangles.len()).filter_map(far).min_by(f64::total_cmp)?;
        Some((entity, nearest))
    };
    bodies.filter_map(hit).min_by(|one, other| one.1.total_cmp(&other.1))
}

/// Where a ray meets a triangle (Moeller & Trumbore 1997), in lengths of `direction`.
fn distance(origin: [f64; 3], direction: [f64; 3], [a, b, c]: [[f64; 3]; 3]) -> Option<f64> {
    use bevy::math::DVec3;
    let (origin, direction, a) = (DVec3::from(origin), DVec3::from(direction), DVec3::from(a));
    let (ab, ac) = (DVec3::from(b) - a, DVec3::from(c) - a);
    let p = direction.cross(ac);
    let determinant = ab.dot(p);
    if determinant == 0.0 {
        return None;
    }
    let from = origin - a;
    let u = from.dot(p) / determinant;
    let q = from.cross(ab);
    let v = direction.dot(q) / determinant;
    let along = ac.dot(q) / determinant;
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && along > 0.0).then_some(along)
}

fn pick(
    mouse: Option<Res<ButtonInput<MouseButton>>>,
    egui: Option<Res<EguiWantsInput>>,
    gizmo: Option<Res<TransformGizmoState>>,
    stage: Option<Res<Stage>>,
    window: Query<&Window, With<PrimaryWindow>>,
    marked: Query<(&Camera, &GlobalTransform), With<TransformGizmoCamera>>,
    cameras: Query<(&Camera, &GlobalTransform), OfScene>,
    bodies: Query<(Entity, &Placement, &Solid), With<BodyIndex>>,
    mut pressed: Local<Option<Vec2>>,
    mut selection: ResMut<Selection>,
) {
    let (Some(mouse), Some(stage)) = (mouse, stage) else { return };
    let Some(cursor) = window.iter().next().and_then(Window::cursor_position) else { return };
    if mouse.just_pressed(MouseButton::Left) {
        let covered = egui.is_some_and(|egui| egui.wants_any_pointer_input());
        let handle = gizmo.is_some_and(|gizmo| gizmo.active || gizmo.hovered_axis.is_some());
        *pressed = (!covered && !handle).then_some(cursor);
    }
    if !mouse.just_released(MouseButton::Left) {
        return;
    }
    let Some(start) = pressed.take().filter(|start| start.distance(cursor) <= CLICK) else { return };
    let camera = marked.iter().next().or_else(|| cameras.iter().find(|(camera, _)| camera.is_active));
    let Some(ray) = camera.and_then(|(camera, place)| camera.viewport_to_world(place, start).ok()) else {
        return;
    };
    let hit = first_hit(stage.metres(ray.origin), ray.direction.as_dvec3().to_array(), bodies.iter());
    selection.set_if_neq(Selection(hit.map(|(entity, _)| entity)));
}

fn deselect(
    keys: Option<Res<ButtonInput<KeyCode>>>,
    egui: Option<Res<EguiWantsInput>>,
    mut selection: ResMut<Selection>,
) {
    let typing = egui.is_some_and(|egui| egui.wants_any_keyboard_input());
    if !typing && keys.is_some_and(|keys| keys.just_pressed(KeyCode::Escape)) {
        selection.set_if_neq(Selection(None));
    }
}

/// The selected body has the handles, no other.
fn focus(
    selection: Res<Selection>,
    bodies: Query<Entity, With<BodyIndex>>,
    focused: Query<Entity, With<TransformGizmoFocus>>,
    mut commands: Commands,
) {
    let wanted = selection.0.filter(|entity| bodies.contains(*entity));
    for entity in focused.iter().filter(|entity| Some(*entity) != wanted) {
        commands.entity(entity).remove::<TransformGizmoFocus>();
    }
    if let Some(entity) = wanted.filter(|entity| !focused.contains(*entity)) {
        commands.entity(entity).insert(TransformGizmoFocus);
    }
}

/// A panel over a handle covers it; a drag that began goes on over panels.
fn handles_free(egui: Option<Res<EguiWantsInput>>, gizmo: Option<Res<TransformGizmoState>>) -> bool {
    gizmo.is_some_and(|gizmo| gizmo.active) || !egui.is_some_and(|egui| egui.wants_any_pointer_input())
}

/// Bevy's gizmo wants to know its camera where there are several, and brings one of its own.
fn mark_camera(
    marked: Query<(), With<TransformGizmoCamera>>,
    cameras: Query<(Entity, &Camera, Option<&RenderLayers>), With<Camera3d>>,
    mut commands: Commands,
) {
    let sees_scene =
        |layers: Option<&RenderLayers>| layers.is_none_or(|layers| layers.intersects(&default()));
    let main = cameras.iter().find(|(_, camera, layers)| camera.is_active && sees_scene(*layers));
    if let (true, Some((entity, ..))) = (marked.is_empty(), main) {
        commands.entity(entity).insert(TransformGizmoCamera);
    }
}

type OfScene = (With<Camera3d>, Without<RenderLayers>);
type Overlay = (
    &'static mut Camera,
    &'static mut Projection,
    &'static mut Tonemapping,
    &'static RenderLayers,
    Has<EguiContext>,
);

/// The gizmo's own camera draws nothing but the handles, over everything. It takes place and direction of the main one,
/// but not how that projects; and it is not needed while nothing is selected, unless panels are drawn by it.
fn overlay(
    selection: Res<Selection>,
    main: Query<&Projection, With<TransformGizmoCamera>>,
    mut overlays: Query<Overlay, Without<TransformGizmoCamera>>,
) {
    let Some(main) = main.iter().next() else { return };
    for (mut camera, mut projection, mut tonemapping, layers, panels) in &mut overlays {
        if *layers != RenderLayers::layer(HANDLES) {
            continue;
        }
        let needed = selection.0.is_some() || panels;
        if camera.is_active != needed {
            camera.is_active = needed;
        }
        tonemapping.set_if_neq(Tonemapping::None);
        match (main, &*projection) {
            (Projection::Perspective(new), Projection::Perspective(old))
                if (new.fov, new.near) == (old.fov, old.near) => {}
            _ => *projection = main.clone(),
        }
    }
}

/// Outline and sharp edges of the selected body, where its placement says it is: during a drag the simulation, and what
/// is drawn of it, still have the old one.
fn outline(
    selection: Res<Selection>,
    stage: Option<Res<Stage>>,
    bodies: Query<(&Transform, &Solid)>,
    cameras: Query<&GlobalTransform, With<TransformGizmoCamera>>,
    mut gizmos: Gizmos,
) {
    let (Some(stage), Some(camera)) = (stage, cameras.iter().next()) else { return };
    let Some((place, solid)) = selection.0.and_then(|entity| bodies.get(entity).ok()) else { return };
    let scale = stage.scale() as f32;
    let eye = place.rotation.inverse() * (camera.translation() - place.translation) / scale;
    for Edge { ends, normals } in &solid.edges {
        let faces = normals.map(|normal| normal.dot(eye - ends[0]) > 0.0);
        if faces[0] != faces[1] || normals[0].dot(normals[1]) < SHARP {
            let [from, to] = ends.map(|end| place.translation + place.rotation * (scale * end));
            gizmos.line(from, to, OUTLINE);
        }
    }
}

/// The edges of a mesh, each once; none of a mesh that is too large to look through in every frame.
fn edges(mesh: &TriangleMesh) -> Vec<Edge> {
    if mesh.triangles.len() * 3 / 2 > EDGES {
        return Vec::new();
    }
    let mut found: HashMap<[u32; 2], Edge> = HashMap::new();
    for (index, triangle) in mesh.triangles.iter().enumerate() {
        let normal = Vec3::from_array(mesh.normal(index).map(|x| x as f32));
        for k in 0..3 {
            let [a, b] = [triangle[k], triangle[(k + 1) % 3]];
            let point = |vertex: u32| Vec3::from_array(mesh.vertices[vertex as usize].map(|x| x as f32));
            found
                .entry([a.min(b), a.max(b)])
                .and_modify(|edge| edge.normals[1] = normal)
                // An edge with one face, or the rim of a plate, is sharp.
                .or_insert_with(|| Edge { ends: [point(a), point(b)], normals: [normal, -normal] });
        }
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Scene;
    use crate::view::document::{DocumentPlugin, shipped};
    use bevy::camera::RenderTargetInfo;
    use bevy::window::WindowResolution;

    const SIZE: u32 = 200;

    /// The sphere of the gallery, in the middle of a window of 200 x 200, seen along -z by a parallel projection.
    fn app() -> (App, Entity) {
        let sphere = shipped()[0].scene(&std::env::temp_dir()).expect("a scene");
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, TransformPlugin))
            .init_resource::<ButtonInput<MouseButton>>()
            .init_resource::<ButtonInput<KeyCode>>()
            .add_plugins(DocumentPlugin { scene: Scene { ..sphere }, path: None })
            .add_plugins(PickPlugin);
        let resolution = WindowResolution::new(SIZE, SIZE).with_scale_factor_override(1.0);
        app.world_mut().spawn((Window { resolution, ..default() }, PrimaryWindow));
        let world = app.world_mut();
        let (body, place) = world.query::<(Entity, &Placement)>().iter(world).next().expect("a body");
        let middle = world.resource::<Stage>().place(place.position_m);
        let mut camera = Camera::default();
        camera.computed.target_info =
            Some(RenderTargetInfo { physical_size: UVec2::splat(SIZE), scale_factor: 1.0 });
        // Two units of the picture over the window.
        camera.computed.clip_from_view = Mat4::orthographic_rh(-1.0, 1.0, -1.0, 1.0, 100.0, 0.0);
        app.world_mut().spawn((
            Camera3d::default(),
            camera,
            Transform::from_translation(middle + 10.0 * Vec3::Z),
        ));
        for _ in 0..500 {
            app.update();
            if app.world().get::<Solid>(body).is_some_and(|solid| !solid.edges.is_empty()) {
                return (app, body);
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        panic!("no triangles came");
    }

    fn click(app: &mut App, from: Vec2, to: Vec2) -> Option<Entity> {
        let put = |app: &mut App, at: Vec2| {
            let world = app.world_mut();
            let mut windows = world.query::<&mut Window>();
            windows.iter_mut(world).next().expect("a window").set_cursor_position(Some(at));
        };
        put(app, from);
        app.world_mut().resource_mut::<ButtonInput<MouseButton>>().press(MouseButton::Left);
        app.update();
        app.world_mut().resource_mut::<ButtonInput<MouseButton>>().clear();
        put(app, to);
        app.world_mut().resource_mut::<ButtonInput<MouseButton>>().release(MouseButton::Left);
        app.update();
        app.world_mut().resource_mut::<ButtonInput<MouseButton>>().clear();
        app.update();
        app.world().resource::<Selection>().0
    }

    #[test]
    fn a_click_selects_what_is_under_it_and_gives_it_the_handles() {
        let (mut app, body) = app();
        let radius = match app.world().get::<BodyShape>(body).expect("a shape").0 {
            Shape::Sphere { radius_m } => radius_m * app.world().resource::<Stage>().scale(),
            ref other => panic!("{other:?}"),
        };
        let at = |share: f64| Vec2::new(100.0 + (share * radius * 100.0) as f32, 100.0);
        assert_eq!(click(&mut app, at(1.1), at(1.1)), None);
        assert_eq!(click(&mut app, at(0.9), at(0.9)), Some(body));
        assert!(app.world().get::<TransformGizmoFocus>(body).is_some());
        // A drag turns the camera, and selects nothing else.
        assert_eq!(click(&mut app, at(1.5), at(1.5) + Vec2::new(0.0, 30.0)), Some(body));
        assert_eq!(click(&mut app, at(1.5), at(1.5)), None);
        assert!(app.world().get::<TransformGizmoFocus>(body).is_none());
        assert_eq!(click(&mut app, at(-0.9), at(-0.9)), Some(body));
        app.world_mut().resource_mut::<ButtonInput<KeyCode>>().press(KeyCode::Escape);
        app.update();
        assert_eq!(app.world().resource::<Selection>().0, None);
        // On a handle, the gizmo has the click.
        app.insert_resource(TransformGizmoState {
            hovered_axis: Some(bevy::gizmos::transform_gizmo::TransformGizmoAxis::X),
            ..default()
        });
        assert_eq!(click(&mut app, at(0.0), at(0.0)), None);
    }

    #[test]
    fn the_selected_body_is_outlined_where_it_stands() {
        use crate::view::camera::Viewpoint;
        use crate::view::testing::{picture, studio};
        let scene = shipped()[0].scene(&std::env::temp_dir()).expect("a scene");
        let crate::scene::Model::Gas(gas) = scene.model.clone();
        let viewpoint = Viewpoint { orthographic: true, ..Viewpoint::default().along(Vec3::NEG_Z, 3.0) };
        let size = [SIZE, SIZE];
        let mut studio = studio(size, viewpoint, (DocumentPlugin { scene, path: None }, PickPlugin));
        let stage = Stage::of(&gas.domain);
        let world = studio.world();
        world.insert_resource(stage);
        let body = world.query_filtered::<Entity, With<BodyIndex>>().single(world).expect("one body");
        let yellow = |canvas: &crate::output::canvas::Canvas| -> Vec<[f32; 2]> {
            let [red, green, blue] = [255, 217, 77];
            let near = |one: u8, other: i32| (i32::from(one) - other).abs() < 40;
            let pixels = canvas.pixels().chunks_exact(3).enumerate();
            pixels
                .filter(|(_, p)| near(p[0], red) && near(p[1], green) && near(p[2], blue))
                .map(|(at, _)| [(at as u32 % SIZE) as f32 + 0.5, (at as u32 / SIZE) as f32 + 0.5])
                .collect()
        };
        assert!(yellow(&picture(&mut studio, size)).is_empty(), "nothing is selected");
        for _ in 0..100 {
            if studio.world().get::<Solid>(body).is_some_and(|solid| !solid.edges.is_empty()) {
                break;
            }
            studio.frame().expect("a frame");
        }
        studio.world().resource_mut::<Selection>().0 = Some(body);
        let canvas = picture(&mut studio, size);
        let found = yellow(&canvas);
        let per_unit = SIZE as f32 / (2.0 * 3.0 * 22.5_f32.to_radians().tan());
        let middle = per_unit * stage.place(gas.obstacles[0].position_m);
        let middle = Vec2::new(100.0 + middle.x, 100.0 - middle.y);
        let Shape::Sphere { radius_m } = gas.obstacles[0].shape else { panic!("a sphere") };
        let radius = per_unit * (radius_m * stage.scale()) as f32;
        assert!(found.len() as f32 > 4.0 * radius, "{} pixels of a circle of radius {radius}", found.len());
        for pixel in found {
            let far = Vec2::from(pixel).distance(middle);
            assert!((far - radius).abs() < 3.0, "{pixel:?} is {far} from {middle}, not {radius}");
        }
    }

    #[test]
    fn rays_meet_turned_bodies_where_they_are() {
        let mesh = shape::body(&Shape::Box { size_m: [2.0, 0.2, 0.2] }, ".".as_ref()).expect("a box").mesh;
        let edges = edges(&mesh);
        let sharp = edges.iter().filter(|edge| edge.normals[0].dot(edge.normals[1]) < SHARP);
        let length: f32 = sharp.map(|edge| edge.ends[0].distance(edge.ends[1])).sum();
        assert!(
            (length - 4.0 * (2.0 + 0.2 + 0.2)).abs() < 1e-5,
            "the edges of the box and no others: {length}"
        );
        let solid = Solid { mesh, edges, coming: None };
        let upright = Placement { position_m: [5.0, 0.0, 0.0], rotation_deg: [0.0, 0.0, 90.0] };
        let meet = |from: [f64; 3], along: [f64; 3]| {
            first_hit(from, along, [(Entity::PLACEHOLDER, &upright, &solid)].into_iter()).map(|(_, far)| far)
        };
        // It stands along y now: from x = 4.9 to 5.1.
        assert!(meet([0.0, 0.9, 0.03], [1.0, 0.0, 0.0]).is_some_and(|far| (far - 4.9).abs() < 1e-12));
        assert_eq!(meet([0.0, 1.1, 0.03], [1.0, 0.0, 0.0]), None);
        assert_eq!(meet([4.5, 0.0, 5.0], [0.0, 0.0, -1.0]), None);
        assert_eq!(meet([0.0, 0.9, 0.03], [-1.0, 0.0, 0.0]), None);
    }
}
