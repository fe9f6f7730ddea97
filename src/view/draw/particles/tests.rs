//! Pictures of particles by the software driver.
//! Only for tests.

use super::gpu::Gpu;
use super::*;
use crate::output::canvas::Canvas;
use crate::output::color::Map;
use crate::sim::DrawnParticle;
use crate::view::camera::Viewpoint;
use crate::view::headless::Headless;
use crate::view::simulation::Exact;
use crate::view::testing::{count, picture, shoot, snapshot, stage, studio};
use bevy::render::RenderApp;

const SIZE: [u32; 2] = [320, 240];
/// The stage's clear colour.
const GROUND: [u8; 3] = [10, 12, 18];
const DISTANCE: f32 = 3.0;

/// Units of the picture that a pixel is wide in the middle plane (the angle of view is 45 degrees).
fn pixel() -> f32 {
    2.0 * DISTANCE * 22.5_f32.to_radians().tan() / SIZE[1] as f32
}

/// The pixel of a point in the plane z = 0.5 m.
fn place(position: [f32; 3]) -> [usize; 2] {
    let at = stage().place(position.map(f64::from)) / pixel();
    [(0.5 * SIZE[0] as f32 + at.x) as usize, (0.5 * SIZE[1] as f32 - at.y) as usize]
}

fn at(canvas: &Canvas, position: [f32; 3]) -> [u8; 3] {
    let [x, y] = place(position);
    canvas.pixel(x, y).unwrap()
}

fn with(drawn: Vec<DrawnParticle>) -> Snapshot {
    Snapshot { drawn, ..snapshot() }
}

fn particle(x: f32, y: f32, value: f32) -> DrawnParticle {
    DrawnParticle { position: [x, y, 0.5], value }
}

/// Small discs, flat in colour, whose middle pixel is wholly covered.
fn dots() -> ParticleCloud {
    let scale = ColorScale { range: Range::Locked(0.0, 15.0), ..ColorScale::of(Map::Viridis) };
    ParticleCloud { scale, radius: 1.6 * pixel(), min_pixels: 0.0, ..ParticleCloud::default() }
}

fn shot(snapshot: Snapshot, cloud: ParticleCloud) -> Canvas {
    shoot(SIZE, snapshot, ParticlePlugin, |world| {
        world.spawn(cloud);
    })
}

fn lit(canvas: &Canvas) -> usize {
    count(canvas, |color| color != GROUND)
}

fn near(a: [u8; 3], b: [u8; 3], by: u8) -> bool {
    a.iter().zip(b).all(|(&a, b)| a.abs_diff(b) <= by)
}

/// Linear light of an sRGB byte.
fn light(byte: u8) -> f64 {
    let c = f64::from(byte) / 255.0;
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// 16 columns of 5 particles in the middles of the cells, coloured by column.
fn columns() -> Vec<DrawnParticle> {
    let one = |i: usize, j: usize| particle((i as f32 + 0.5) / 8.0, 0.1 + 0.2 * j as f32, i as f32);
    (0..16).flat_map(|i| (0..5).map(move |j| one(i, j))).collect()
}

#[test]
fn particles_have_the_colour_of_their_value_in_their_place() {
    let drawn = columns();
    let canvas = shot(with(drawn.clone()), dots());
    for DrawnParticle { position, value } in &drawn {
        let wanted = Map::Viridis.color(f64::from(*value) / 15.0);
        let seen = at(&canvas, *position);
        assert!(near(seen, wanted, 3), "{position:?}: {seen:?}, not {wanted:?}");
    }
    // 80 discs of 8 pixels each, and nothing else.
    let pixels = lit(&canvas) as f32 / drawn.len() as f32;
    assert!((6.5..13.0).contains(&pixels), "{pixels} pixels a particle");
    // Points: a pixel each, in at most 4 where it lies between them.
    let points = shot(with(drawn.clone()), ParticleCloud { style: ParticleStyle::Points, ..dots() });
    let pixels = lit(&points) as f32 / drawn.len() as f32;
    assert!((1.0..=4.0).contains(&pixels), "{pixels} pixels a point");
}

#[test]
fn discs_grow_with_the_radius_and_shrink_with_distance_only_in_perspective() {
    let area = |pixels: f32| std::f32::consts::PI * pixels * pixels;
    let radius = |pixels: f32| ParticleCloud { radius: pixels * pixel(), ..dots() };
    for pixels in [6.0, 12.0] {
        let seen = lit(&shot(with(vec![particle(1.0, 0.5, 3.0)]), radius(pixels))) as f32;
        assert!((seen / area(pixels) - 1.0).abs() < 0.1, "{seen} pixels of {}", area(pixels));
    }
    // One near, one far: the eye is at z = 3.5 m.
    let both = || {
        vec![0.0, 1.5]
            .into_iter()
            .map(|z| DrawnParticle { position: [0.5 + z * 0.5, 0.5, 0.5 + z], value: 1.0 })
    };
    let seen = lit(&shot(with(both().collect()), radius(6.0))) as f32;
    assert!((seen / (5.0 * area(6.0)) - 1.0).abs() < 0.1, "{seen} pixels: the nearer has twice the radius");
    let parallel = Viewpoint { orthographic: true, ..Viewpoint::default().along(Vec3::NEG_Z, DISTANCE) };
    for cloud in [radius(6.0), ParticleCloud { radius: 0.0, min_pixels: 12.0, ..dots() }] {
        let mut studio = studio(SIZE, parallel, ParticlePlugin);
        studio.world().insert_resource(Flow::still(with(both().collect())));
        studio.world().spawn(cloud);
        let seen = lit(&picture(&mut studio, SIZE)) as f32;
        assert!((seen / (2.0 * area(6.0)) - 1.0).abs() < 0.1, "{seen} pixels of two of the same size");
    }
}

#[test]
fn additive_light_adds_up_and_opacity_leaves_some_pixels_out() {
    let pair = || with(vec![particle(1.0, 0.5, 8.0), particle(1.0 + 8.0 * pixel(), 0.5, 8.0)]);
    let cloud = ParticleCloud { radius: 12.0 * pixel(), opacity: 0.3, ..dots() };
    let glow = shot(pair(), ParticleCloud { blend: ParticleBlend::Additive, ..cloud.clone() });
    let [once, twice] = [-5.0, 4.0].map(|x| at(&glow, [1.0 + x * pixel(), 0.5, 0.5]));
    for a in 0..3 {
        let added = |color: [u8; 3]| light(color[a]) - light(GROUND[a]);
        let map = light(Map::Viridis.color(8.0 / 15.0)[a]);
        assert!((added(once) - 0.3 * map).abs() < 0.01, "{once:?}: a third of the light of one");
        assert!((added(twice) - 2.0 * added(once)).abs() < 0.012, "{twice:?} is not twice {once:?}");
    }
    let [solid, door] = [1.0, 0.3].map(|opacity| {
        lit(&shot(with(vec![particle(1.0, 0.5, 8.0)]), ParticleCloud { opacity, ..cloud.clone() })) as f32
    });
    assert!((door / solid - 0.3).abs() < 0.08, "{door} of {solid} pixels");
}

#[test]
fn field_paint_takes_the_colour_of_the_cell_and_grey_without_one() {
    let mut flow = with(columns());
    let fields = flow.fields.as_mut().unwrap();
    let temperature = fields.columns.iter_mut().find(|column| column.quantity.key == "temperature").unwrap();
    // Cell 5 along x, wherever it is along y and z.
    temperature.values.iter_mut().skip(5).step_by(16).for_each(|value| *value = f32::NAN);
    let scale = ColorScale { range: Range::Locked(100.0, 300.0), ..ColorScale::of(Map::Inferno) };
    let paint = ParticlePaint::Field("temperature".into());
    let cloud = ParticleCloud { paint, scale, ..dots() };
    let canvas = shot(flow, cloud.clone());
    for DrawnParticle { position, value } in columns() {
        let grey = [127; 3];
        let wanted = if value == 5.0 { grey } else { Map::Inferno.color(f64::from(value) / 15.0) };
        let seen = at(&canvas, position);
        assert!(near(seen, wanted, 3), "{position:?}: {seen:?}, not {wanted:?}");
    }
    // A field that nobody has: all grey.
    let missing = ParticleCloud { paint: ParticlePaint::Field("mach".into()), ..cloud };
    let canvas = shot(with(columns()), missing);
    assert!(columns().iter().all(|particle| near(at(&canvas, particle.position), [127; 3], 3)));
}

#[test]
fn codes_have_their_own_colours_and_names() {
    let mut studio = studio(SIZE, Viewpoint::default().along(Vec3::NEG_Z, DISTANCE), ParticlePlugin);
    let drawn: Vec<_> = (0..8).map(|i| particle(0.2 + 0.2 * i as f32, 0.5, i as f32)).collect();
    studio.world().insert_resource(Flow::still(Snapshot { paint: Paint::Origin, ..with(drawn.clone()) }));
    let paint = ParticlePaint::Value(Paint::Origin);
    let entity = studio.world().spawn(ParticleCloud { paint, most: 700, ..dots() }).id();
    let canvas = picture(&mut studio, SIZE);
    let world = studio.world();
    let Categories { quantity, names } = world.get::<Categories>(entity).unwrap().clone();
    assert_eq!((quantity.key.as_ref(), names.len()), ("origin", 8));
    assert!(world.get::<ColorBar>(entity).is_none());
    assert_eq!(
        (world.resource::<Wanted>().0.paint, world.resource::<Wanted>().0.particles),
        (Paint::Origin, 700)
    );
    for (DrawnParticle { position, .. }, (name, color)) in drawn.iter().zip(&names) {
        let seen = at(&canvas, *position);
        assert!(near(seen, *color, 3), "{name}: {seen:?}, not {color:?}");
    }
}

#[test]
fn without_visible_particles_there_is_the_ground_and_nothing_is_asked_for() {
    let mut studio = studio(SIZE, Viewpoint::default().along(Vec3::NEG_Z, DISTANCE), ParticlePlugin);
    studio.world().insert_resource(Flow::still(with(columns())));
    let entity = studio.world().spawn(ParticleCloud { visible: false, ..dots() }).id();
    assert_eq!(lit(&picture(&mut studio, SIZE)), 0);
    assert_eq!(studio.world().resource::<Wanted>().0.particles, 0);
    studio.world().get_mut::<ParticleCloud>(entity).unwrap().visible = true;
    assert!(lit(&picture(&mut studio, SIZE)) > 0);
    assert_eq!(studio.world().get::<ParticleCount>(entity).unwrap().to_string(), "80 of 8000 drawn");
    assert!(studio.world().get::<ColorBar>(entity).is_some());
    studio.world().get_mut::<ParticleCloud>(entity).unwrap().visible = false;
    assert_eq!(lit(&picture(&mut studio, SIZE)), 0);
    assert!(studio.world().get::<ColorBar>(entity).is_none());
    studio.world().get_mut::<ParticleCloud>(entity).unwrap().visible = true;
    assert!(lit(&picture(&mut studio, SIZE)) > 0);
    studio.world().despawn(entity);
    assert_eq!(lit(&picture(&mut studio, SIZE)), 0);
}

/// The stamp of what the graphics driver has, and that of the flow.
fn stamps(studio: &mut Headless) -> [Stamp; 2] {
    let flow = studio.world().resource::<Flow>().stamp();
    [studio.app().sub_app(RenderApp).world().resource::<Gpu>().stamp, flow]
}

#[test]
fn new_snapshots_replace_the_old_in_the_same_buffers() {
    let mut studio = studio(SIZE, Viewpoint::default().along(Vec3::NEG_Z, DISTANCE), ParticlePlugin);
    studio.world().insert_resource(Exact(true));
    let scale = ColorScale { range: Range::Locked(100.0, 300.0), ..ColorScale::of(Map::Inferno) };
    let paint = ParticlePaint::Field("temperature".into());
    studio.world().spawn(ParticleCloud { paint, scale, ..dots() });
    // 90,000 particles in 300 places: more than one piece of the upload.
    let many = |y: f32| {
        let one = |i: usize| particle(0.05 + 0.1 * (i / 300 % 20) as f32, y + 0.02 * (i / 6000) as f32, 0.0);
        with((0..90_000).map(one).collect())
    };
    studio.world().insert_resource(Flow::still(many(0.1)));
    let first = picture(&mut studio, SIZE);
    assert_eq!(first.pixels(), picture(&mut studio, SIZE).pixels(), "the same frame twice");
    for DrawnParticle { position, .. } in many(0.1).drawn.into_iter().step_by(300) {
        assert_ne!(at(&first, position), GROUND, "{position:?}");
    }
    let (ids, made) = (buffers(studio.app()), buffers_made(studio.app()));
    assert_eq!(ids.len(), 2);
    let before = uploads(studio.app());
    for i in 0..10 {
        studio.world().insert_resource(Flow::still(many(0.1 + 0.05 * (i + 1) as f32)));
        studio.app().update();
        let [held, flow] = stamps(&mut studio);
        assert_eq!(held, flow, "an exact frame shows the newest snapshot");
    }
    assert_eq!(uploads(studio.app()), before + 10);
    assert_eq!(buffers(studio.app()), ids, "the buffers are the same");
    // Of the upload buffers more than one may be in use at a time, but there are never more than three.
    assert!(buffers_made(studio.app()) <= made + 2);
    let last = picture(&mut studio, SIZE);
    assert_eq!(at(&last, many(0.1).drawn[0].position), GROUND);
    assert_ne!(at(&last, many(0.6).drawn[89_999].position), GROUND);
    let made = buffers_made(studio.app());
    for _ in 0..3 {
        studio.world().insert_resource(Flow::still(many(0.3)));
        picture(&mut studio, SIZE);
    }
    assert_eq!(buffers_made(studio.app()), made, "a steady frame makes no buffer");
    // A hasty frame may keep the older particles, but the newest come as soon as an upload buffer is free.
    studio.world().remove_resource::<Exact>();
    for y in [0.4, 0.5, 0.6, 0.7, 0.8] {
        studio.world().insert_resource(Flow::still(many(y)));
        studio.app().update();
    }
    assert_ne!(at(&picture(&mut studio, SIZE), many(0.8).drawn[0].position), GROUND);
    let [held, flow] = stamps(&mut studio);
    assert_eq!(held, flow);
}

#[test]
fn ranges_come_from_a_part_of_the_particles() {
    let all: Vec<_> = (0..1_000_000).map(|i| particle(0.0, 0.0, i as f32)).collect();
    let some = sample(&all).count();
    assert!((SAMPLES / 2..=SAMPLES).contains(&some), "{some}");
    let told = tell(&ParticleCloud::default(), &with(all), usize::MAX);
    let Coloring::Values(colors) = told.coloring else { panic!("{:?}", told.coloring) };
    assert!((colors.low - 1e4).abs() < 200.0 && (colors.high - 9.9e5).abs() < 200.0, "{colors:?}");
    assert_eq!(sample(&[1.0, 2.0]).count(), 2);
    let count = ParticleCount { drawn: 1_000_000, all: 12_500_000 };
    assert_eq!(count.to_string(), "1.0 M of 12.5 M drawn");
    // A range that was locked for velocities says nothing about the speeds that are still coming.
    let scale = ColorScale { range: Range::Locked(-5.0, 5.0), ..ColorScale::default() };
    let cloud = ParticleCloud { scale, paint: ParticlePaint::Value(Paint::VelocityX), ..dots() };
    let Coloring::Values(colors) = tell(&cloud, &with(columns()), 100).coloring else { panic!("colours") };
    assert_eq!((colors.low, colors.high), (0.0, 15.0));
}
