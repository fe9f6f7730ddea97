//! The surface on which a field has one value, translucent, in one colour or coloured by another field.
//! Must not know devices or physics.

use super::background::{self, Background, Computed, Made};
use super::keep::triangles;
use super::sample::Sampler;
use super::{ColorScale, Range, slice};
use crate::sim::Fields;
use crate::view::stage::Stage;
use bevy::mesh::Indices;
use bevy::prelude::*;
use fast_surface_nets::ndshape::{RuntimeShape, Shape};
use fast_surface_nets::{SurfaceNetsBuffer, surface_nets};

/// An isosurface.
#[derive(Debug, Clone, PartialEq, Component)]
#[require(Background<Self>, Transform, Visibility, Pickable = Pickable::IGNORE)]
pub struct Isosurface {
    /// Whether it is drawn.
    pub visible: bool,
    /// Key of the field.
    pub field: String,
    /// Its value on the surface.
    pub level: Level,
    /// What colours it.
    pub tint: Tint,
    /// Opacity, 0 to 1.
    pub opacity: f32,
}

/// A value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Level {
    /// The value itself, in the unit of the field.
    Value(f32),
    /// A fraction of the field's automatic range, 0 to 1.
    Fraction(f32),
}

/// What colours a surface.
#[derive(Debug, Clone, PartialEq)]
pub enum Tint {
    /// One colour.
    Plain(Color),
    /// The values of a field, by its key.
    Field(String, ColorScale),
}

impl Default for Isosurface {
    fn default() -> Self {
        Self {
            visible: true,
            field: "number_density".into(),
            level: Level::Fraction(0.5),
            // Sky blue of the colours that all eyes tell apart.
            tint: Tint::Plain(Color::srgb_u8(86, 180, 233)),
            opacity: 0.5,
        }
    }
}

/// Draws isosurfaces.
pub struct IsosurfacePlugin;

impl Plugin for IsosurfacePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, background::update::<Isosurface>);
    }
}

impl Level {
    /// The value, for a field of these values; `None` if it is a fraction of no range.
    pub fn of(self, values: &[f32]) -> Option<f32> {
        match self {
            Self::Value(value) => Some(value),
            Self::Fraction(fraction) => {
                let scale = ColorScale { range: Range::Auto, log: false, ..default() };
                Some(scale.resolve(values.iter().copied())?.value(fraction))
            }
        }
    }
}

impl Computed for Isosurface {
    fn visible(&self) -> bool {
        self.visible
    }

    fn fields(&self) -> Vec<String> {
        let mut keys = vec![self.field.clone()];
        if let Tint::Field(key, _) = &self.tint
            && *key != self.field
        {
            keys.push(key.clone());
        }
        keys
    }

    fn compute(&self, fields: &Fields, stage: &Stage) -> Option<Made> {
        let values = &fields.column(&self.field)?.values;
        let found = Surface::find(fields, values, self.level.of(values)?)?;
        let (mut shades, mut bar) = (None, None);
        if let Tint::Field(key, scale) = &self.tint {
            let column = fields.column(key)?;
            let explained = slice::bar(fields, key, scale)?;
            let colors = explained.colors;
            let sampler = Sampler::new(fields, &column.values)?;
            let shade = |&point: &[f64; 3]| {
                sampler.at(point, true).map_or([0.5, 0.5, 0.5, 1.0], |v| colors.linear(v))
            };
            shades = Some(found.points_m.iter().map(shade).collect::<Vec<_>>());
            bar = Some(explained);
        }
        let places: Vec<[f32; 3]> =
            found.points_m.iter().map(|&point| stage.place(point).to_array()).collect();
        let mut mesh = triangles(false)
            .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, places)
            .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, found.normals)
            .with_inserted_indices(Indices::U32(found.triangles));
        if let Some(shades) = shades {
            mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, shades);
        }
        Some(Made { mesh, bar })
    }

    fn material(&self) -> StandardMaterial {
        let color = if let Tint::Plain(color) = self.tint { color } else { Color::WHITE };
        // So that the side away from the light is not black.
        let glow =
            if let Tint::Plain(color) = self.tint { color.to_linear() * 0.15 } else { LinearRgba::BLACK };
        StandardMaterial {
            base_color: color.with_alpha(self.opacity),
            emissive: glow,
            alpha_mode: if self.opacity < 1.0 { AlphaMode::Blend } else { AlphaMode::Opaque },
            perceptual_roughness: 0.6,
            double_sided: true,
            cull_mode: None,
            ..default()
        }
    }
}

/// Triangles on which a field has one value.
struct Surface {
    points_m: Vec<[f64; 3]>,
    /// Towards higher values.
    normals: Vec<[f32; 3]>,
    triangles: Vec<u32>,
}

impl Surface {
    /// Where values, known in the middles of cells, pass `level`; `None` where they do not. Naive surface nets: a vertex
    /// in each cube of eight middles that the surface passes, in the mean of its crossings of the cube's edges. Cubes
    /// with a middle without gas have none: the surface ends beside bodies instead of walling them in.
    fn find(fields: &Fields, values: &[f32], level: f32) -> Option<Self> {
        // The outermost cells stand twice, so that the surface goes on to the faces of the domain.
        let size = fields.cells.map(|cells| cells.checked_add(2));
        let [Some(nx), Some(ny), Some(nz)] = size else { return None };
        let inside = |place: u32, a: usize| (place.max(1) - 1).min(fields.cells[a] - 1) as usize;
        let count: usize = fields.cells.iter().map(|&cells| cells as usize).product();
        if count == 0 || values.len() != count {
            return None;
        }
        let mut heights = Vec::with_capacity(nx as usize * ny as usize * nz as usize);
        let [width, height] = [fields.cells[0] as usize, fields.cells[1] as usize];
        for k in 0..nz {
            for j in 0..ny {
                let row = (inside(k, 2) * height + inside(j, 1)) * width;
                heights.extend((0..nx).map(|i| values[row + inside(i, 0)] - level));
            }
        }
        let mut found = SurfaceNetsBuffer::default();
        let shape = RuntimeShape::<u32, 3>::new([nx, ny, nz]);
        if shape.size() as usize != heights.len() {
            return None;
        }
        surface_nets(&heights, &shape, [0; 3], [nx - 1, ny - 1, nz - 1], &mut found);

        let step: [f64; 3] = std::array::from_fn(|a| fields.size_m[a] / f64::from(fields.cells[a]));
        let points_m = found.positions.iter().map(|place| {
            // Middle 1 is that of the first cell.
            std::array::from_fn(|a| fields.corner_m[a] + (f64::from(place[a]) - 0.5) * step[a])
        });
        let points_m: Vec<[f64; 3]> = points_m.collect();
        let normals = found.normals.iter().map(|slope| {
            // A slope by cell becomes one by length; relative to the first edge, for f32.
            let slope: [f32; 3] = std::array::from_fn(|a| slope[a] * (step[0] / step[a]) as f32);
            Vec3::from_array(slope).normalize_or_zero().to_array()
        });
        let normals: Vec<[f32; 3]> = normals.collect();
        // A middle without gas makes the vertex or its normal not a number; a normal is zero then.
        let sound = |&vertex: &u32| {
            let normal = normals[vertex as usize];
            normal != [0.0; 3] && points_m[vertex as usize].iter().all(|x| x.is_finite())
        };
        let triangles: Vec<u32> = found
            .indices
            .chunks_exact(3)
            .filter(|corners| corners.iter().all(sound))
            .flatten()
            .copied()
            .collect();
        let mut surface = Self { points_m, normals, triangles };
        surface.drop_unused();
        (!surface.triangles.is_empty()).then_some(surface)
    }

    /// Vertices that no triangle has go, those that are not numbers among them.
    fn drop_unused(&mut self) {
        let mut place = vec![u32::MAX; self.points_m.len()];
        let (mut points_m, mut normals) = (Vec::new(), Vec::new());
        for corner in &mut self.triangles {
            let old = *corner as usize;
            if place[old] == u32::MAX {
                place[old] = points_m.len() as u32;
                points_m.push(self.points_m[old]);
                normals.push(self.normals[old]);
            }
            *corner = place[old];
        }
        (self.points_m, self.normals) = (points_m, normals);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::canvas::Canvas;
    use crate::output::color::Map;
    use crate::sim::{Column, Snapshot};
    use crate::units::Quantity;
    use crate::view::testing::{count, shoot, snapshot};
    use std::f64::consts::PI;

    /// The distance from a middle, in cells that are no cubes.
    fn distance(cells: [u32; 3], middle: [f64; 3]) -> Fields {
        let mut fields = Fields { cells, corner_m: [-1.0, 2.0, 0.0], size_m: [2.0, 2.0, 2.0], ..default() };
        let mut values = Vec::new();
        for k in 0..cells[2] {
            for j in 0..cells[1] {
                for i in 0..cells[0] {
                    let along = |a: usize, place: u32| {
                        fields.corner_m[a] + (f64::from(place) + 0.5) * fields.size_m[a] / f64::from(cells[a])
                    };
                    let point = [along(0, i), along(1, j), along(2, k)];
                    let r2: f64 = (0..3).map(|a| (point[a] - middle[a]).powi(2)).sum();
                    values.push(r2.sqrt() as f32);
                }
            }
        }
        fields.columns.push(Column {
            quantity: Quantity::new("r", "r", "r", "m"),
            values,
            errors: Vec::new(),
        });
        fields
    }

    fn area_and_volume(surface: &Surface, middle: [f64; 3]) -> (f64, f64) {
        let (mut area, mut volume) = (0.0, 0.0);
        for corners in surface.triangles.chunks(3) {
            let [a, b, c] = [0, 1, 2].map(|i| {
                let p = surface.points_m[corners[i] as usize];
                bevy::math::DVec3::from_array(std::array::from_fn(|i| p[i] - middle[i]))
            });
            area += 0.5 * (b - a).cross(c - a).length();
            volume += a.dot(b.cross(c)) / 6.0;
        }
        (area, volume)
    }

    #[test]
    fn a_sphere_has_its_area_and_volume_and_faces_outwards() {
        let middle = [0.03, 3.01, 0.98];
        let errors = [1, 2].map(|fine| {
            let fields = distance([20 * fine, 24 * fine, 30 * fine], middle);
            let surface = Surface::find(&fields, &fields.columns[0].values, 0.7).unwrap();
            for (point, normal) in surface.points_m.iter().zip(&surface.normals) {
                let out: [f64; 3] = std::array::from_fn(|a| (point[a] - middle[a]) / 0.7);
                let cosine: f64 = (0..3).map(|a| out[a] * f64::from(normal[a])).sum();
                assert!(cosine > 0.98, "{point:?} {normal:?}");
            }
            let (area, volume) = area_and_volume(&surface, middle);
            let theory = (4.0 * PI * 0.49, 4.0 / 3.0 * PI * 0.343);
            (area / theory.0 - 1.0, volume / theory.1 - 1.0)
        });
        // Second order in the cell: chords lie within the sphere.
        let [(area, volume), (fine_area, fine_volume)] = errors;
        assert!(area.abs() < 0.02 && volume.abs() < 0.03, "{errors:?}");
        assert!(fine_area.abs() < 0.005 && fine_volume.abs() < 0.0075, "{errors:?}");
        assert!((3.0..5.0).contains(&(volume / fine_volume)), "{errors:?}");
    }

    #[test]
    fn the_surface_reaches_the_faces_of_the_domain() {
        let fields = snapshot().fields.unwrap();
        let surface = Surface::find(&fields, &fields.columns[1].values, 200.0).unwrap();
        assert!(surface.points_m.iter().all(|point| (point[0] - 1.0).abs() < 1e-5));
        let (area, _) = area_and_volume(&surface, [0.0; 3]);
        assert!((area - 1.0).abs() < 1e-5, "{area}");
    }

    #[test]
    fn cells_without_gas_leave_a_hole_and_no_walls() {
        let middle = [0.0, 3.0, 1.0];
        let mut fields = distance([20; 3], middle);
        let whole = Surface::find(&fields, &fields.columns[0].values, 0.7).unwrap();
        // No gas at x > 0.5 m and in the core.
        let values = &mut fields.columns[0].values;
        for (cell, value) in values.iter_mut().enumerate() {
            if cell % 20 >= 15 || *value < 0.3 {
                *value = f32::NAN;
            }
        }
        let holed = Surface::find(&fields, &fields.columns[0].values, 0.7).unwrap();
        // It is a part of the whole surface: nothing was added, and little is lost beside the hole.
        for point in &holed.points_m {
            assert!(whole.points_m.contains(point) && point[0] < 0.5, "{point:?}");
        }
        let (area, cut) = (area_and_volume(&holed, middle).0, area_and_volume(&whole, middle).0);
        // A sphere's zone has the area 2 pi r h.
        let left = (0.7 + 0.5) / 1.4;
        assert!(area / cut < left && area / cut > left - 0.1 / 1.4 * 1.5, "{} {left}", area / cut);
        assert!(Surface::find(&fields, &vec![f32::NAN; 8000], 0.7).is_none());
        assert!(Surface::find(&fields, &fields.columns[0].values, 9.0).is_none());
        assert!(Surface::find(&fields, &[], 9.0).is_none());
    }

    #[test]
    fn levels_are_values_or_fractions_of_the_range() {
        let values: Vec<f32> = (0..=1000).map(|i| i as f32).collect();
        assert_eq!(Level::Value(3.0).of(&values), Some(3.0));
        assert_eq!(Level::Fraction(0.5).of(&values), Some(500.0));
        assert_eq!(Level::Fraction(0.5).of(&[]), None);
    }

    const SIZE: [u32; 2] = [480, 320];

    fn picture(snapshot: Snapshot, settings: Isosurface) -> Canvas {
        shoot(SIZE, snapshot, IsosurfacePlugin, move |world| {
            // From the side: the plane x = 1 m is a square of half the domain.
            let turn = Transform::from_xyz(-3.0, 0.0, 0.0).looking_at(Vec3::ZERO, Vec3::Y);
            let mut cameras = world.query_filtered::<&mut Transform, With<Camera3d>>();
            for mut camera in cameras.iter_mut(world) {
                *camera = turn;
            }
            world.spawn(settings);
        })
    }

    fn blue([r, g, b]: [u8; 3]) -> bool {
        b > 60 && b > r && b > g
    }

    #[test]
    fn the_surface_of_200_k_is_the_plane_in_the_middle() {
        let settings = || Isosurface { field: "temperature".into(), level: Level::Value(200.0), ..default() };
        let canvas = picture(snapshot(), settings());
        // A square of 1 unit, of 2.485 that are 320 pixels high, in the middle of the picture.
        let edge = 320.0 / (2.0 * 3.0 * (22.5_f64).to_radians().tan());
        let seen = count(&canvas, blue) as f64;
        assert!((seen / (edge * edge) - 1.0).abs() < 0.03, "{seen} of {}", edge * edge);
        for (i, p) in canvas.pixels().chunks_exact(3).enumerate() {
            let [x, y] = [(i % 480) as f64 - 239.5, (i / 480) as f64 - 159.5];
            let outside = x.abs().max(y.abs()) > 0.5 * edge + 1.5;
            assert!(!(outside && blue([p[0], p[1], p[2]])), "{x} {y}");
        }
        assert_eq!(canvas.pixels(), picture(snapshot(), settings()).pixels());
        // Another value is nearer to the camera and so larger, and there is none outside the range.
        let nearer =
            count(&picture(snapshot(), Isosurface { level: Level::Value(120.0), ..settings() }), blue);
        assert!(nearer as f64 > 1.4 * seen, "{nearer} {seen}");
        assert_eq!(
            count(&picture(snapshot(), Isosurface { level: Level::Value(400.0), ..settings() }), blue),
            0
        );
    }

    #[test]
    fn it_is_translucent_and_takes_the_colours_of_a_field() {
        let scale = ColorScale { map: Map::Viridis, range: Range::Locked(100.0, 300.0), log: false };
        let settings = |opacity| Isosurface {
            field: "temperature".into(),
            level: Level::Value(299.0),
            tint: Tint::Field("temperature".into(), scale),
            opacity,
            ..default()
        };
        let middle = |opacity| picture(snapshot(), settings(opacity)).pixel(240, 160).unwrap();
        let (thick, thin) = (middle(1.0), middle(0.2));
        // The upper end of viridis is yellow.
        assert!(thick[0] > 2 * thick[2] && thick[1] > 2 * thick[2], "{thick:?}");
        assert!(thin[0] > 12 && u32::from(thin[0]) * 3 < u32::from(thick[0]) * 2, "{thin:?} {thick:?}");
    }
}
