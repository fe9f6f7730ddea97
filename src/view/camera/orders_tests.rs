//! Tests of orders to the camera, in an app without a window.
//! Must not need a window.

use super::*;
use crate::scene::Shape;
use crate::view::camera::on_screen;
use crate::view::camera::testing::{SIZE, app, rest, rig, seen, settings, wheel};

const ASPECT: f32 = SIZE.x / SIZE.y;

fn document() -> App {
    let mut app = app();
    app.insert_resource(Stage { middle_m: [1.0, 0.5, 0.0], size_m: [2.0, 1.0, 1.0] });
    app.init_resource::<Selection>();
    app.world_mut().spawn(settings());
    app.update();
    app
}

fn order(app: &mut App, order: CameraOrder) {
    app.world_mut().write_message(order);
    app.update();
}

fn marks(app: &mut App) -> View {
    let mut settings = app.world_mut().query::<&SceneSettings>();
    settings.single(app.world()).unwrap().view.clone()
}

fn fills(view: &Viewpoint, corners: impl IntoIterator<Item = Vec3>) -> f32 {
    corners.into_iter().map(|at| on_screen(view, at, ASPECT).abs().max_element()).fold(0.0, f32::max)
}

#[test]
fn presets_and_frames_bring_the_domain_or_the_body_into_view() {
    let mut app = document();
    order(&mut app, CameraOrder::Look(Preset::PlusY));
    order(&mut app, CameraOrder::FrameAll);
    let view = rest(&mut app);
    assert!((view.transform().forward().as_vec3() - Vec3::NEG_Y).length() < 1e-4, "{view:?}");
    let domain = [Vec3::new(-1.0, -0.5, -0.5), Vec3::new(1.0, 0.5, 0.5)];
    assert!((fills(&view, corners(domain)) - 1.0 / 1.1).abs() < 1e-3);

    let placement = Placement { position_m: [1.5, 0.5, 0.25], rotation_deg: [0.0; 3] };
    let body = app.world_mut().spawn((BodyShape(Shape::Box { size_m: [0.2, 0.1, 0.1] }), placement)).id();
    app.world_mut().resource_mut::<Selection>().0 = Some(body);
    order(&mut app, CameraOrder::FrameSelection);
    let view = rest(&mut app);
    // The stage has one unit a metre here.
    let box_ = [Vec3::new(0.4, -0.05, 0.2), Vec3::new(0.6, 0.05, 0.3)];
    assert!(view.target.distance(Vec3::new(0.5, 0.0, 0.25)) < 1e-4, "{view:?}");
    assert!((fills(&view, corners(box_)) - 1.0 / 1.1).abs() < 1e-3);

    // What is drawn of it counts before what it is made of.
    let drawn = Aabb::from_min_max(Vec3::splat(-0.2), Vec3::splat(0.2));
    app.world_mut().entity_mut(body).insert((drawn, GlobalTransform::from_xyz(-0.5, 0.0, 0.0)));
    order(&mut app, CameraOrder::FrameSelection);
    assert!(rest(&mut app).target.distance(Vec3::new(-0.5, 0.0, 0.0)) < 1e-4);
    order(&mut app, CameraOrder::Reset);
    let view = rest(&mut app);
    assert!((fills(&view, corners(domain)) - 1.0 / 1.1).abs() < 1e-3 && !view.orthographic);
}

#[test]
fn bookmarks_are_kept_in_the_document_and_gone_to() {
    let mut app = document();
    let there = Viewpoint::orbit(70.0, 15.0, 2.0);
    order(&mut app, CameraOrder::Jump(there));
    app.world_mut().write_message(Action::AddBookmark);
    app.update();
    assert_eq!(marks(&mut app).bookmarks[0].name, "view 1");
    assert!((marks(&mut app).bookmarks[0].camera.target_m[0] - 1.0).abs() < 1e-6);
    order(&mut app, CameraOrder::Jump(Viewpoint::default()));
    order(&mut app, CameraOrder::AddBookmark(Some("start".into())));
    order(&mut app, CameraOrder::RenameBookmark(0, "side".into()));
    order(&mut app, CameraOrder::RenameBookmark(1, "side".into()));
    let names: Vec<String> = marks(&mut app).bookmarks.into_iter().map(|mark| mark.name).collect();
    assert_eq!(names, ["side", "start"]);
    // After the last comes the first.
    order(&mut app, CameraOrder::NextBookmark);
    assert!(rest(&mut app).eye.distance(there.eye) < 1e-4);
    order(&mut app, CameraOrder::NextBookmark);
    assert!(rest(&mut app).eye.distance(Viewpoint::default().eye) < 1e-4);
    order(&mut app, CameraOrder::Bookmark(0));
    assert!(rest(&mut app).eye.distance(there.eye) < 1e-4);
    order(&mut app, CameraOrder::DeleteBookmark(0));
    assert_eq!(marks(&mut app).bookmarks.len(), 1);
    order(&mut app, CameraOrder::DeleteBookmark(9));
    assert_eq!(marks(&mut app).bookmarks.len(), 1);
}

#[test]
fn an_order_that_changes_nothing_is_no_edit() {
    #[derive(Resource, Default)]
    struct Edits(u32);
    let mut app = document();
    app.init_resource::<Edits>().add_systems(
        Last,
        |changed: Query<(), Changed<SceneSettings>>, mut edits: ResMut<Edits>| {
            edits.0 += changed.iter().count() as u32;
        },
    );
    app.update();
    let before = app.world().resource::<Edits>().0;
    order(&mut app, CameraOrder::ClearPath);
    order(&mut app, CameraOrder::DeleteKeyFrame(3));
    order(&mut app, CameraOrder::FrameAll);
    assert_eq!(app.world().resource::<Edits>().0, before);
    order(&mut app, CameraOrder::AddKeyFrame(None));
    assert_eq!(app.world().resource::<Edits>().0, before + 1);
}

#[test]
fn a_path_plays_to_its_end_and_a_hand_stops_it() {
    let mut app = document();
    let ends = [Viewpoint::orbit(0.0, 0.0, 4.0), Viewpoint::orbit(90.0, 0.0, 4.0)];
    for (view, time_s) in ends.into_iter().zip([0.0, 1.0]) {
        order(&mut app, CameraOrder::Jump(view));
        order(&mut app, CameraOrder::AddKeyFrame(Some(time_s)));
    }
    assert!(app.world().resource::<CameraPath>().0.is_some());
    order(&mut app, CameraOrder::TogglePreview);
    (1..50).for_each(|_| app.update());
    let half = seen(&mut app);
    assert!(half.eye.distance(Viewpoint::orbit(45.0, 0.0, 4.0).eye) < 1e-2, "{half:?}");
    (0..52).for_each(|_| app.update());
    assert!(!app.world().resource::<Preview>().playing);
    assert!(seen(&mut app).eye.distance(ends[1].eye) < 1e-4);
    // From the end it begins anew; the wheel takes the camera back.
    order(&mut app, CameraOrder::TogglePreview);
    (0..10).for_each(|_| app.update());
    assert!(app.world().resource::<Preview>().playing);
    wheel(&mut app, 1.0);
    assert!(!app.world().resource::<Preview>().playing);
    order(&mut app, CameraOrder::ShowPathAt(1.0));
    assert!(seen(&mut app).eye.distance(ends[1].eye) < 1e-4);
    order(&mut app, CameraOrder::MoveKeyFrame(0, 5.0));
    assert_eq!(marks(&mut app).path.iter().map(|key| key.time_s).collect::<Vec<_>>(), [1.0, 5.0]);
    order(&mut app, CameraOrder::KeyFrame(1));
    assert!(rest(&mut app).eye.distance(ends[0].eye) < 1e-4);
    order(&mut app, CameraOrder::ClearPath);
    assert!(app.world().resource::<CameraPath>().0.is_none());
    order(&mut app, CameraOrder::TogglePreview);
    assert!(!app.world().resource::<Preview>().playing);
    assert_eq!(rig(&mut app, |rig| rig.mode), super::super::Mode::Orbit);
}
