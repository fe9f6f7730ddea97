//! Pictures of streamlines of flows known in closed form.
//! Only for tests.

use super::*;
use crate::output::canvas::Canvas;
use crate::output::color::Map;
use crate::sim::{Column, Snapshot};
use crate::view::camera::Viewpoint;
use crate::view::draw::Range;
use crate::view::draw::domain::{DomainFrame, DomainPlugin};
use crate::view::draw::isosurface::{Isosurface, IsosurfacePlugin, Level, Tint};
use crate::view::draw::surface::{BodySurfaces, SurfacePlugin};
use crate::view::flow::Flow;
use crate::view::simulation::Wanted;
use crate::view::testing::{count, shoot, snapshot, stage};

const SIZE: [u32; 2] = [480, 320];

/// One thick line through the middle of the domain.
fn one() -> Streamlines {
    let point = [1.0, 0.5, 0.5];
    Streamlines { seeds: Seeds::Line { from_m: point, to_m: point, count: 1 }, radius: 0.012, ..default() }
}

fn picture(snapshot: Snapshot, settings: Streamlines) -> Canvas {
    shoot(SIZE, snapshot, StreamlinePlugin, move |world| {
        world.spawn(settings);
    })
}

fn lit([r, g, b]: [u8; 3]) -> bool {
    u32::from(r) + u32::from(g) + u32::from(b) > 120
}

#[test]
fn a_uniform_flow_has_straight_lines_of_its_slope() {
    let canvas = picture(snapshot(), one());
    // Least squares through the lit pixels: y of x, upwards.
    let mut points = Vec::new();
    for (i, pixel) in canvas.pixels().chunks_exact(3).enumerate() {
        if lit([pixel[0], pixel[1], pixel[2]]) {
            let [width, height] = SIZE.map(|size| size as usize);
            points.push(((i % width) as f64, (height - i / width) as f64));
        }
    }
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let xx: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    let xy: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let slope = xy / xx;
    assert!((slope - 0.25).abs() < 0.01, "slope {slope}");
    let away = points.iter().map(|p| (p.1 - y - slope * (p.0 - x)).abs()).fold(0.0, f64::max);
    assert!(away < 6.0, "a pixel {away} away");
    // 2 units of 2.485 in height are 320 pixels: the line goes through the whole domain.
    let ends = points.iter().fold((f64::MAX, 0.0_f64), |(a, b), p| (a.min(p.0), b.max(p.0)));
    let width = 2.0 * 320.0 / (2.0 * 3.0 * (22.5_f64).to_radians().tan());
    assert!((ends.1 - ends.0 - width).abs() < 4.0, "{ends:?} {width}");
    assert_eq!(canvas.pixels(), picture(snapshot(), one()).pixels());
}

#[test]
fn colours_are_those_of_the_field() {
    let colors = ColorScale { map: Map::Viridis, range: Range::Locked(100.0, 300.0), log: false };
    let canvas = picture(snapshot(), Streamlines { color_by: "temperature".into(), colors, ..one() });
    // Viridis: blue is more than green and red at the cold end, least at the hot end.
    let part = |left: bool, is: &dyn Fn([u8; 3]) -> bool| {
        let half = SIZE[0] as usize / 3;
        let pixels = canvas.pixels().chunks_exact(3).enumerate();
        let inside = |i: usize| if left { i % 480 < half } else { i % 480 > 480 - half };
        pixels.filter(|(i, p)| inside(*i) && lit([p[0], p[1], p[2]]) && is([p[0], p[1], p[2]])).count()
    };
    let (blue, yellow) =
        (|[r, g, b]: [u8; 3]| b > r && b > g / 2 + r / 2, |[r, g, b]: [u8; 3]| g > b && r > b);
    assert!(part(true, &blue) > 50 && part(true, &yellow) == 0);
    assert!(part(false, &yellow) > 50 && part(false, &blue) == 0);
}

#[test]
fn lines_end_where_there_is_no_gas_and_hide_when_told() {
    let mut holed = snapshot();
    // No gas at x > 1 m.
    for column in &mut holed.fields.as_mut().unwrap().columns {
        for (cell, value) in column.values.iter_mut().enumerate() {
            if cell % 16 >= 8 {
                *value = f32::NAN;
            }
        }
    }
    let canvas = picture(holed, Streamlines { seeds: Seeds::Upstream([3, 3]), ..one() });
    let right = |canvas: &Canvas| {
        let pixels = canvas.pixels().chunks_exact(3).enumerate();
        pixels.filter(|(i, p)| i % 480 > 245 && lit([p[0], p[1], p[2]])).count()
    };
    assert!(count(&canvas, lit) > 500);
    assert_eq!(right(&canvas), 0);
    assert!(right(&picture(snapshot(), one())) > 200);
    assert_eq!(count(&picture(snapshot(), Streamlines { visible: false, ..one() }), lit), 0);
}

/// Potential flow around the sphere in the middle, of twice its radius for the sake of the cells: closed form (Lamb).
fn around() -> Snapshot {
    let mut snapshot = snapshot();
    let cells = [64_u32, 32, 32];
    let mut columns: Vec<Vec<f32>> = vec![Vec::new(); 4];
    let (radius, speed) = (0.2_f64, 500.0);
    for cell in 0..64 * 32 * 32 {
        let index = [cell % 64, cell / 64 % 32, cell / 64 / 32].map(|i| (f64::from(i) + 0.5) / 32.0);
        let [x, y, z] = [index[0] - 1.0, index[1] - 0.5, index[2] - 0.5];
        let r = (x * x + y * y + z * z).sqrt();
        let part = 0.5 * (radius / r).powi(3);
        let along = 3.0 * part * x / (r * r);
        let u = [speed * (1.0 + part - along * x), -speed * along * y, -speed * along * z];
        let inside = r < radius;
        for (column, u) in columns.iter_mut().zip(u) {
            column.push(if inside { f32::NAN } else { u as f32 });
        }
        let square: f64 = u.iter().map(|u| u * u).sum();
        columns[3].push(if inside { f32::NAN } else { (1.0 - square / (speed * speed)) as f32 });
    }
    let mut mesh = (*snapshot.surfaces[0].mesh).clone();
    for vertex in &mut mesh.vertices {
        *vertex = std::array::from_fn(|a| 2.0 * vertex[a] - [1.0, 0.5, 0.5][a]);
    }
    snapshot.surfaces[0].mesh = std::sync::Arc::new(mesh);
    let fields = snapshot.fields.as_mut().unwrap();
    fields.cells = cells;
    let pressure = Quantity::new("pressure_coefficient", "pressure coefficient", "c_p", "");
    let quantities = fields.columns[2..5].iter().map(|column| column.quantity.clone()).chain([pressure]);
    let column = |(quantity, values)| Column { quantity, values, errors: Vec::new() };
    fields.columns = quantities.zip(columns).map(column).collect();
    snapshot
}

#[test]
fn lines_go_round_a_body_as_theory_says() {
    // The stream function y^2 (1 - (R/r)^3) is constant along a line: its root far upstream is the height of the line
    // above the axis.
    let fields = around().fields.unwrap();
    let psi = |x: f64, y: f64| y * y * (1.0 - (0.2 / x.hypot(y)).powi(3));
    let from = [0.1, 0.5 + 0.08, 0.5];
    let settings = Streamlines { seeds: Seeds::Line { from_m: from, to_m: from, count: 1 }, ..one() };
    let velocity = VELOCITY.map(|key| Sampler::new(&fields, &fields.column(key).unwrap().values).unwrap());
    let at = |p| {
        let [u, v, w] = velocity.map(|u| u.at(p, true));
        Some([u?, v?, w?].map(f64::from))
    };
    let (points, _) = trace(from, false, settings.tracing(&fields, 750.0), at);
    let over = points.iter().min_by(|p, q| (p[0] - 1.0).abs().total_cmp(&(q[0] - 1.0).abs())).unwrap();
    assert!((over[0] - 1.0).abs() < 0.01, "{over:?}");
    let (mut low, mut high) = (0.2, 0.4);
    while high - low > 1e-9 {
        let middle = 0.5 * (low + high);
        if psi(0.0, middle) < psi(-0.9, 0.08) { low = middle } else { high = middle }
    }
    // A fifth of a cell: the field is linear between middles, and knows nothing inside the sphere.
    assert!((over[1] - 0.5 - low).abs() < 0.2 / 32.0, "{low} at {over:?}");
    // And in a picture none of the many lines is seen inside the sphere's outline in the middle.
    let seeds = Seeds::Line { from_m: [0.05, 0.1, 0.5], to_m: [0.05, 0.9, 0.5], count: 22 };
    let canvas = picture(around(), Streamlines { seeds, radius: 0.005, ..Streamlines::default() });
    // 0.15 m are 0.15 units, of 2.485 in 320 pixels: 19 pixels.
    for y in 160 - 12..160 + 12 {
        for x in 240 - 12..240 + 12 {
            assert!(!lit(canvas.pixel(x, y).unwrap()), "{x} {y}");
        }
    }
    assert!(count(&canvas, lit) > 3000);
}

#[test]
fn lines_bodies_and_isosurfaces_share_a_picture() {
    let orange = |[r, g, b]: [u8; 3]| r > 90 && r > g && u32::from(g) > 2 * u32::from(b);
    let shot = || {
        shoot(
            [960, 640],
            around(),
            (StreamlinePlugin, IsosurfacePlugin, SurfacePlugin, DomainPlugin),
            |world| {
                let mut cameras = world.query_filtered::<&mut Transform, With<Camera3d>>();
                for mut camera in cameras.iter_mut(world) {
                    *camera = Viewpoint::default().transform();
                }
                world.spawn((Streamlines::default(), DomainFrame::default()));
                world.spawn(BodySurfaces { tally: None, ..default() });
                for (value, color) in [(-0.3, [86, 180, 233]), (0.3, [230, 159, 0])] {
                    world.spawn(Isosurface {
                        field: "pressure_coefficient".into(),
                        level: Level::Value(value),
                        tint: Tint::Plain(Color::srgb_u8(color[0], color[1], color[2])),
                        ..default()
                    });
                }
            },
        )
    };
    let canvas = shot();
    // The two caps of high pressure, before and behind the sphere; teal lines over all of the domain.
    let teal = |[r, g, b]: [u8; 3]| g > 90 && b > 90 && u32::from(r) * 2 < u32::from(g);
    assert!(count(&canvas, orange) > 800 && count(&canvas, teal) > 4000);
    assert_eq!(canvas.pixels(), shot().pixels());
}

#[test]
fn in_a_window_lines_follow_when_they_are_ready() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, AssetPlugin::default(), StreamlinePlugin))
        .init_asset::<Mesh>()
        .init_asset::<StandardMaterial>()
        .init_resource::<Wanted>()
        .insert_resource(stage())
        .insert_resource(Flow::still(snapshot()));
    let lines = app.world_mut().spawn(one()).id();
    let key = |app: &App| app.world().get::<ColorBar>(lines).map(|bar| bar.quantity.key.clone());
    let wait = |app: &mut App, expected: &str| {
        let begun = std::time::Instant::now();
        while key(app).as_deref() != Some(expected) {
            assert!(begun.elapsed().as_secs() < 60, "never ready");
            app.update();
        }
        app.world().get::<Mesh3d>(lines).unwrap().0.id()
    };
    // The first frame asks and begins, and does not wait.
    app.update();
    assert!(app.world().resource::<Wanted>().0.fields && key(&app).is_none());
    let mesh = wait(&mut app, "speed");
    app.world_mut().get_mut::<Streamlines>(lines).unwrap().color_by = "temperature".into();
    assert_eq!(wait(&mut app, "temperature"), mesh);
    // Nothing is made anew while nothing changes.
    app.update();
    app.world_mut().resource_mut::<Messages<AssetEvent<Mesh>>>().clear();
    for _ in 0..5 {
        app.update();
    }
    assert_eq!(app.world_mut().resource_mut::<Messages<AssetEvent<Mesh>>>().drain().count(), 0);
    app.world_mut().get_mut::<Streamlines>(lines).unwrap().visible = false;
    app.update();
    assert_eq!((app.world().get::<Visibility>(lines), key(&app)), (Some(&Visibility::Hidden), None));
}
