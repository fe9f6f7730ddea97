//! What is drawn of a flow: plain values from which the drawn things are spawned, for the window and for recordings.
//! Must not know the simulation.

use super::draw::domain::DomainFrame;
use super::draw::glyph::Glyphs;
use super::draw::isosurface::{Isosurface, Level};
use super::draw::particles::{ParticleBlend, ParticleCloud, ParticlePaint};
use super::draw::slice::{FieldSlice, Plane};
use super::draw::streamline::Streamlines;
use super::draw::surface::{BodySurfaces, HalfSection, TALLIES};
use super::draw::{ColorScale, Range};
use crate::output::color::Map;
use crate::output::slice::Slice;
use crate::scene::{Model, Scene};
use crate::sim::{Paint, Snapshot};
use bevy::prelude::*;

/// Marks the drawn things of a look.
#[derive(Debug, Clone, Copy, Default, Component)]
pub struct Drawn;

/// What is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// Particles.
    pub particles: ParticleCloud,
    /// Field slices.
    pub slices: Vec<FieldSlice>,
    /// Arrows of the mean velocity.
    pub glyphs: Glyphs,
    /// Streamlines of the mean velocity.
    pub streamlines: Streamlines,
    /// An isosurface.
    pub isosurface: Isosurface,
    /// The bodies.
    pub surfaces: BodySurfaces,
    /// The box, its axes and scale.
    pub domain: DomainFrame,
}

impl Look {
    /// What a scene is shown by at first: particles by their speed, the temperature in the plane across z through the
    /// first body (the middle, if there is none), the bodies by their heat flux, and the box.
    pub fn of(scene: &Scene) -> Self {
        let Model::Gas(gas) = &scene.model;
        let middle = gas.domain.corner_m[2] + 0.5 * gas.domain.size_m[2];
        let position_m = gas.obstacles.first().map_or(middle, |body| body.position_m[2]);
        let slice = FieldSlice {
            field: "temperature".into(),
            plane: Plane::Axis(Slice { axis: 2, position_m }),
            scale: ColorScale::of(Map::Inferno),
            ..default()
        };
        Self {
            particles: ParticleCloud::default(),
            slices: vec![slice],
            glyphs: Glyphs { visible: false, ..default() },
            streamlines: Streamlines { visible: false, ..default() },
            isosurface: Isosurface { visible: false, ..default() },
            surfaces: BodySurfaces::default(),
            domain: DomainFrame::default(),
        }
    }

    /// Spawns what is drawn, each thing on an entity of its own.
    pub fn spawn(&self, world: &mut World) {
        world.spawn((Drawn, self.particles.clone()));
        for slice in &self.slices {
            world.spawn((Drawn, slice.clone()));
        }
        world.spawn((Drawn, self.glyphs.clone()));
        world.spawn((Drawn, self.streamlines.clone()));
        world.spawn((Drawn, self.isosurface.clone()));
        world.spawn((Drawn, self.surfaces.clone()));
        world.spawn((Drawn, self.domain));
    }

    /// Draws at most so many particles, coloured by a value of their own or by a field of their cell.
    ///
    /// # Errors
    /// The name is empty.
    pub fn set_particles(&mut self, most: usize, paint: &str, additive: bool) -> Result<(), String> {
        if paint.is_empty() {
            return Err("particles need something to be coloured by, such as speed".into());
        }
        let own = Paint::ALL.into_iter().find(|known| known.quantity().key == paint);
        let cloud = &mut self.particles;
        cloud.visible = most > 0;
        cloud.most = most;
        cloud.paint = own.map_or_else(|| ParticlePaint::Field(paint.to_string()), ParticlePaint::Value);
        if additive {
            cloud.blend = ParticleBlend::Additive;
        }
        Ok(())
    }

    /// Draws a field in these planes; `None` keeps the planes that there are.
    pub fn set_slices(&mut self, field: &Field, planes: Option<Vec<Slice>>) {
        if let Some(planes) = planes {
            let slice = |plane| FieldSlice { plane: Plane::Axis(plane), ..default() };
            self.slices = planes.into_iter().map(slice).collect();
        }
        for slice in &mut self.slices {
            slice.field.clone_from(&field.key);
            slice.smooth = field.smooth;
            let range = field.range.map_or(Range::Auto, |(low, high)| Range::Locked(low, high));
            slice.scale = ColorScale { map: field.map, range, log: field.log };
        }
    }

    /// The plane of the first slice, if it is across an axis.
    fn first_plane(&self) -> Option<Slice> {
        self.slices.iter().find_map(|slice| match slice.plane {
            Plane::Axis(plane) => Some(plane),
            Plane::Free { .. } => None,
        })
    }

    /// Colours the bodies by a tally, or by nothing ("none"); `half` cuts them open in the plane of the first slice.
    ///
    /// # Errors
    /// There is no such tally, or no plane to cut in.
    pub fn set_surface(&mut self, tally: &str, half: bool) -> Result<(), String> {
        if tally != "none" && !TALLIES.contains(&tally) {
            return Err(format!(
                "bodies are not coloured by \"{tally}\"; there are: {}, none",
                TALLIES.join(", ")
            ));
        }
        self.surfaces.tally = (tally != "none").then(|| tally.to_string());
        if half {
            let plane = self.first_plane().ok_or("bodies are cut open in the plane of a slice: give one")?;
            self.surfaces.half = Some(HalfSection { axis: plane.axis, position_m: Some(plane.position_m) });
        }
        Ok(())
    }

    /// Draws the surface on which a field has a value.
    pub fn set_isosurface(&mut self, field: &str, value: f32) {
        self.isosurface.visible = true;
        self.isosurface.field = field.to_string();
        self.isosurface.level = Level::Value(value);
    }

    /// Whether a snapshot has all that shall be drawn.
    ///
    /// # Errors
    /// What is missing, and what there is instead.
    pub fn check(&self, snapshot: &Snapshot) -> Result<(), String> {
        let mut fields: Vec<&str> =
            self.slices.iter().filter(|slice| slice.visible).map(|slice| slice.field.as_str()).collect();
        if let (true, ParticlePaint::Field(key)) = (self.particles.visible, &self.particles.paint) {
            fields.push(key);
        }
        if self.isosurface.visible {
            fields.push(&self.isosurface.field);
        }
        let columns = snapshot.fields.iter().flat_map(|fields| &fields.columns);
        let there: Vec<&str> = columns.map(|column| column.quantity.key.as_ref()).collect();
        if let Some(missing) = fields.into_iter().find(|field| !there.contains(field)) {
            return Err(format!("the flow has no field \"{missing}\"; there are: {}", there.join(", ")));
        }
        Ok(())
    }
}

/// A field of slices, and its colours.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Key: "temperature".
    pub key: String,
    /// Colour map.
    pub map: Map,
    /// Values at the ends of the colours; `None`: from the values.
    pub range: Option<(f32, f32)>,
    /// Equal steps of colour are equal factors.
    pub log: bool,
    /// Interpolated between cells.
    pub smooth: bool,
}
