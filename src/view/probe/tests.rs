//! The probe without pictures: rays, clicks, and velocities that are gathered.
//! Only for tests.

use super::*;
use crate::output::slice::Slice;
use crate::sim::Probe;
use crate::view::camera::Viewpoint;
use crate::view::draw::slice::{Plane, SlicePlugin};
use crate::view::testing;

fn app(snapshot: Snapshot) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, ProbePlugin))
        .insert_resource(testing::stage())
        .insert_resource(Flow::still(snapshot))
        .init_resource::<Wanted>()
        .init_resource::<ButtonInput<MouseButton>>()
        .init_resource::<ButtonInput<KeyCode>>();
    app.world_mut().spawn(BodySurfaces::default());
    app
}

fn slice(axis: usize, position_m: f64) -> FieldSlice {
    let plane = Plane::Axis(Slice { axis, position_m });
    FieldSlice { field: "temperature".into(), plane, smooth: false, ..FieldSlice::default() }
}

/// Points from a place towards another, both m; says what is read there.
fn point(app: &mut App, from_m: [f64; 3], to_m: [f64; 3]) -> Option<Reading> {
    let stage = testing::stage();
    let (from, to) = (stage.place(from_m), stage.place(to_m));
    let direction = Dir3::new(to - from).unwrap();
    app.insert_resource(Pointer(Some(Ray3d { origin: from, direction })));
    app.update();
    app.world().resource::<Hover>().0.clone()
}

fn close(a: [f64; 3], b: [f64; 3]) -> bool {
    (0..3).all(|i| (a[i] - b[i]).abs() < 1e-5)
}

#[test]
fn the_cursor_reads_the_slice_in_front() {
    let mut app = app(testing::snapshot());
    let z = app.world_mut().spawn(slice(2, 0.3)).id();
    let reading = point(&mut app, [0.2, 0.7, 5.0], [0.2, 0.7, 0.0]).unwrap();
    // Cell 1 of 16 along x; the error is the made-up one of all cells.
    assert!(close(reading.point_m, [0.2, 0.7, 0.3]), "{reading:?}");
    assert!(
        (reading.value - (100.0 + 200.0 / 15.0)).abs() < 1e-3 && reading.error == Some(0.5),
        "{reading:?}"
    );
    assert_eq!((reading.quantity.unit.as_ref(), reading.quantity.key.as_ref()), ("K", "temperature"));
    assert_eq!(reading.what, What::Slice { entity: z, cell: (2 * 8 + 5) * 16 + 1 });
    // A nearer slice is before it, until it is hidden; oblique rays meet it where they should.
    let near = app.world_mut().spawn(slice(2, 0.9)).id();
    let reading = point(&mut app, [0.0, 0.7, 1.9], [1.2, 0.7, 0.7]).unwrap();
    assert!(close(reading.point_m, [1.0, 0.7, 0.9]), "{reading:?}");
    assert!(matches!(reading.what, What::Slice { entity, .. } if entity == near));
    app.world_mut().get_mut::<FieldSlice>(near).unwrap().visible = false;
    app.update();
    let reading = app.world().resource::<Hover>().0.clone().unwrap();
    assert!(close(reading.point_m, [1.6, 0.7, 0.3]), "{reading:?}");
    // Beside the domain and behind the eye there is nothing.
    assert_eq!(point(&mut app, [2.2, 0.7, 5.0], [2.2, 0.7, 0.0]), None);
    assert_eq!(point(&mut app, [0.2, 0.7, -5.0], [0.2, 0.7, -6.0]), None);
    app.insert_resource(Pointer(None));
    app.update();
    assert_eq!(app.world().resource::<Hover>().0, None);
}

#[test]
fn smooth_slices_read_what_they_show_and_holes_are_looked_through() {
    let mut holed = testing::snapshot();
    let fields = holed.fields.as_mut().unwrap();
    let hole = cell_at(fields, [0.2, 0.7, 0.8]).unwrap();
    fields.columns[1].values[hole] = f32::NAN;
    let mut app = app(holed);
    app.world_mut().spawn(slice(2, 0.8));
    app.world_mut().spawn(FieldSlice { smooth: true, ..slice(2, 0.1) });
    let reading = point(&mut app, [0.2, 0.7, 5.0], [0.2, 0.7, 0.0]).unwrap();
    assert!(close(reading.point_m, [0.2, 0.7, 0.1]));
    assert!(
        (f64::from(reading.value) - (100.0 + 200.0 * (0.2 - 0.0625) / 1.875)).abs() < 1e-3,
        "{reading:?}"
    );
}

#[test]
fn bodies_are_read_and_hide_what_is_behind() {
    let mut app = app(testing::snapshot());
    app.world_mut().spawn(slice(2, 0.1));
    // The half at lower x has heat flux 1, the other 2; the sphere's radius is 0.1 m, its facets lie a little off.
    for (x, flux) in [(0.97, 1.0), (1.03, 2.0)] {
        let reading = point(&mut app, [x, 0.52, 5.0], [x, 0.52, 0.0]).unwrap();
        assert_eq!((reading.value, reading.error, reading.quantity.unit.as_ref()), (flux, None, "W/m^2"));
        let depth = (0.01_f64 - 0.03 * 0.03 - 0.02 * 0.02).sqrt();
        assert!((reading.point_m[2] - (0.5 + depth)).abs() < 3e-3, "{reading:?}");
        assert!(matches!(&reading.what, What::Body { name, .. } if name == "sphere"));
    }
    // Beside it the slice is seen. Nothing is known of the body by that name: still, it hides.
    let beside = |app: &mut App| point(app, [1.0, 0.65, 5.0], [1.0, 0.65, 0.0]).map(|r| r.quantity.key);
    assert_eq!(beside(&mut app).as_deref(), Some("temperature"));
    let mut bodies = app.world_mut().query::<&mut BodySurfaces>();
    bodies.single_mut(app.world_mut()).unwrap().tally = Some("unknown".into());
    assert_eq!(point(&mut app, [1.03, 0.52, 5.0], [1.03, 0.52, 0.0]), None);
    // Cut open, its far side is seen from inside; and it can be hidden.
    let half = Some(HalfSection { axis: 2, position_m: None });
    *bodies.single_mut(app.world_mut()).unwrap() = BodySurfaces { half, ..default() };
    let reading = point(&mut app, [1.03, 0.52, 5.0], [1.03, 0.52, 0.0]).unwrap();
    assert!(reading.value == 2.0 && reading.point_m[2] < 0.42, "{reading:?}");
    bodies.single_mut(app.world_mut()).unwrap().visible = false;
    let reading = point(&mut app, [1.03, 0.52, 5.0], [1.03, 0.52, 0.0]).unwrap();
    assert!(close(reading.point_m, [1.03, 0.52, 0.1]), "{reading:?}");
}

#[test]
fn an_alt_click_on_a_slice_probes_its_cell() {
    let mut app = app(testing::snapshot());
    app.world_mut().spawn(slice(2, 0.3));
    let press = |app: &mut App| {
        app.world_mut().resource_mut::<ButtonInput<MouseButton>>().press(MouseButton::Left);
        app.update();
        app.world_mut().resource_mut::<ButtonInput<MouseButton>>().reset_all();
        app.world().resource::<ProbedCell>().0
    };
    point(&mut app, [0.2, 0.7, 5.0], [0.2, 0.7, 0.0]).unwrap();
    assert_eq!(press(&mut app), None);
    app.world_mut().resource_mut::<ButtonInput<KeyCode>>().press(KeyCode::AltLeft);
    assert_eq!(press(&mut app), Some((2 * 8 + 5) * 16 + 1));
    assert_eq!(app.world().resource::<Wanted>().0.probe_cell, Some((2 * 8 + 5) * 16 + 1));
    app.world_mut().resource_mut::<ButtonInput<KeyCode>>().reset_all();
    // With the mode on, a plain click does; on the body it chooses no cell.
    app.insert_resource(ProbeMode(true));
    point(&mut app, [0.2, 0.2, 5.0], [0.2, 0.2, 0.0]).unwrap();
    assert_eq!(press(&mut app), Some((2 * 8 + 1) * 16 + 1));
    point(&mut app, [1.03, 0.52, 5.0], [1.03, 0.52, 0.0]).unwrap();
    assert_eq!(press(&mut app), Some((2 * 8 + 1) * 16 + 1));
}

/// A flow whose averages began at a step, with so many particles in cell 7.
fn probing(step: u64, since: Option<u64>, particles: usize) -> Snapshot {
    let velocities = (0..particles).map(|i| [i as f32, step as f32, 0.0]).collect();
    let phase = since.map_or(Phase::Transient, |since| Phase::Sampling { since, samples: 1 });
    let probe = Some(Probe { cell: 7, velocities, mass_kg: 6.6e-26 });
    Snapshot { generation: step, step, phase, probe, ..testing::snapshot() }
}

#[test]
fn velocities_are_gathered_once_a_step_until_cell_or_averages_change() {
    let mut app = app(probing(100, None, 3));
    let gathered = |app: &App| app.world().resource::<ProbedVelocities>().0.velocities().len();
    app.update();
    assert_eq!(gathered(&app), 0);
    app.insert_resource(ProbedCell(Some(7)));
    app.update();
    app.update();
    assert_eq!(gathered(&app), 3);
    let next = |app: &mut App, snapshot: Snapshot| {
        let flow = app.world_mut().resource_mut::<Flow>();
        flow.stand(snapshot);
        app.update();
        gathered(app)
    };
    assert_eq!(next(&mut app, probing(200, None, 4)), 7);
    // A paused simulation publishes the same step again.
    assert_eq!(next(&mut app, Snapshot { generation: 201, ..probing(200, None, 4) }), 7);
    // The averages begin, go on, and begin anew.
    assert_eq!(next(&mut app, probing(300, Some(250), 5)), 5);
    assert_eq!(next(&mut app, probing(400, Some(250), 5)), 10);
    assert_eq!(next(&mut app, probing(500, Some(450), 2)), 2);
    // Another cell: what comes of the old one in the meantime does not count.
    app.insert_resource(ProbedCell(Some(8)));
    assert_eq!(next(&mut app, probing(600, Some(450), 2)), 0);
    app.insert_resource(ProbedCell(Some(7)));
    assert_eq!(next(&mut app, probing(700, Some(450), 6)), 6);
    // Another flow, and another grid, in which the cell is another place.
    app.insert_resource(Flow::still(probing(800, Some(450), 3)));
    app.update();
    assert_eq!(gathered(&app), 3);
    let mut coarse = probing(900, Some(450), 3);
    coarse.fields.as_mut().unwrap().cells = [8, 8, 16];
    assert_eq!(next(&mut app, coarse), 0);
    assert_eq!(app.world().resource::<ProbedCell>().0, None);
}

#[test]
fn a_ray_meets_triangles_from_both_sides_and_not_edge_on() {
    let triangle = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let line = |from_m, toward| Line { from_m, toward }.to_triangle(triangle);
    assert_eq!(line([0.2, 0.2, 2.0], [0.0, 0.0, -1.0]), Some(2.0));
    assert_eq!(line([0.2, 0.2, -2.0], [0.0, 0.0, 1.0]), Some(2.0));
    assert_eq!(line([0.2, 0.2, 2.0], [0.0, 0.0, 1.0]), None);
    assert_eq!(line([0.6, 0.6, 2.0], [0.0, 0.0, -1.0]), None);
    assert_eq!(line([-1.0, 0.2, 0.0], [1.0, 0.0, 0.0]), None);
}

#[test]
fn the_ray_goes_through_the_cursor_and_the_probed_cell_is_marked() {
    let size = [480, 320];
    let viewpoint = Viewpoint::default().along(Vec3::NEG_Z, 3.0);
    let mut studio = testing::studio(size, viewpoint, (SlicePlugin, ProbePlugin));
    let world = studio.world();
    world.insert_resource(Flow::still(testing::snapshot()));
    world.spawn(slice(2, 0.5));
    let mut window = Window { resolution: (480, 320).into(), ..default() };
    // The picture's height is 2.485 m in the plane of the slice.
    let pixels = 320.0 / (6.0 * (22.5_f32).to_radians().tan());
    window.set_cursor_position(Some(Vec2::new(240.0 + 0.45 * pixels, 160.0 - 0.2 * pixels)));
    world.spawn((window, PrimaryWindow));
    let before = testing::picture(&mut studio, size);
    let reading = studio.world().resource::<Hover>().0.clone().unwrap();
    let near = (0..3).all(|a| (reading.point_m[a] - [1.45, 0.7, 0.5][a]).abs() < 1e-3);
    assert!(near && (reading.value - (100.0 + 200.0 * 11.0 / 15.0)).abs() < 1e-2, "{reading:?}");
    let What::Slice { cell, .. } = reading.what else { panic!("{reading:?}") };
    studio.world().insert_resource(ProbedCell(Some(cell)));
    let after = testing::picture(&mut studio, size);
    // The edges of cell 11, 5 around the cursor, and nothing elsewhere.
    let changed: Vec<[f32; 2]> = (0..480 * 320)
        .filter(|i| before.pixels()[3 * i..3 * i + 3] != after.pixels()[3 * i..3 * i + 3])
        .map(|i| [(i % 480) as f32 - 240.0, 160.0 - (i / 480) as f32].map(|x| x / pixels))
        .collect();
    assert!(changed.len() > 40, "{}", changed.len());
    for [x, y] in changed {
        assert!((x - 0.4375).abs() < 0.1 && (y - 0.1875).abs() < 0.1, "{x} {y}");
    }
}
