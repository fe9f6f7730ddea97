//! What `knudsen record` shows, and from where: arguments to plain values of the view.
//! Must not know Bevy.

use crate::app::{Field, Look, Shot, Viewpoint};
use crate::output::color::Map;
use crate::output::slice::Slice;
use crate::scene::{Model, Scene};
use clap::Args;

/// What is drawn.
#[derive(Args)]
pub struct LookArgs {
    /// Particles drawn, at most; 0 for none.
    #[arg(long, default_value_t = 60_000)]
    particles: usize,
    /// What colours the particles: speed, velocity_x, velocity_y, velocity_z, species, origin (the boundary touched
    /// last), or a field of their cell, such as temperature.
    #[arg(long, default_value = "speed")]
    paint: String,
    /// Particles shine through each other instead of hiding what is behind.
    #[arg(long)]
    additive: bool,
    /// Field of the slices: number_density, temperature, mach, ...
    #[arg(long, default_value = "temperature")]
    field: String,
    /// Plane of a slice, such as z=0.5; may be given more than once [default: across z through the first body];
    /// "none" for none.
    #[arg(long)]
    slice: Vec<String>,
    /// Colour map of the slices: viridis, inferno, magma, cividis, diverging.
    #[arg(long, default_value = "inferno", value_parser = parse_map)]
    map: Map,
    /// Values at the ends of the slices' colours, such as 200,1500 [default: from the values, frame by frame].
    #[arg(long, value_parser = parse_range, allow_hyphen_values = true)]
    range: Option<(f32, f32)>,
    /// Equal steps of the slices' colours are equal factors.
    #[arg(long)]
    log: bool,
    /// Show each cell of the slices in one colour, instead of interpolating between them.
    #[arg(long)]
    cells: bool,
    /// What colours the bodies: heat_flux, pressure, shear, ... or "none".
    #[arg(long, default_value = "heat_flux")]
    surface: String,
    /// Cut the bodies open in the plane of the first slice.
    #[arg(long)]
    half: bool,
    /// Arrows of the mean velocity in the plane of the first slice.
    #[arg(long)]
    glyphs: bool,
    /// Streamlines of the mean velocity.
    #[arg(long)]
    streamlines: bool,
    /// Isosurface of a field at a value, such as temperature=600.
    #[arg(long, value_parser = parse_isosurface)]
    isosurface: Option<(String, f32)>,
}

/// Where the camera is.
#[derive(Args)]
pub struct CameraArgs {
    /// Camera: yaw, pitch (degrees) and distance (the longest edge of the domain is 2) [default: -25,20 and so far
    /// that the whole domain is seen].
    #[arg(long, value_parser = parse_camera, allow_hyphen_values = true)]
    camera: Option<Viewpoint>,
    /// Look from this bookmark of the scene, or along +x, -x, +y, -y, +z, -z instead.
    #[arg(long, conflicts_with = "camera", allow_hyphen_values = true)]
    from: Option<String>,
    /// Degrees that the camera turns over the video.
    #[arg(long, default_value_t = 40.0, allow_hyphen_values = true, value_parser = parse_turn)]
    turn: f32,
    /// Go along the key frames of the scene instead.
    #[arg(long, conflicts_with_all = ["camera", "from", "turn"])]
    path: bool,
}

fn parse_camera(text: &str) -> Result<Viewpoint, String> {
    let numbers: Vec<f32> = text.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    match numbers[..] {
        [yaw_deg, pitch_deg, distance]
            if text.split(',').count() == 3 && distance > 0.0 && numbers.iter().all(|n| n.is_finite()) =>
        {
            Ok(Viewpoint::orbit(yaw_deg, pitch_deg, distance))
        }
        _ => {
            Err(format!("\"{text}\" is not a camera: write yaw,pitch,distance as -25,20,4, distance above 0"))
        }
    }
}

fn parse_turn(text: &str) -> Result<f32, String> {
    let turn = text.trim().parse::<f32>().ok().filter(|turn| turn.is_finite());
    turn.ok_or_else(|| format!("\"{text}\" is not an angle: write degrees as 40 or -90"))
}

fn parse_map(text: &str) -> Result<Map, String> {
    let names = || Map::NAMES.map(|(name, _)| name).join(", ");
    Map::from_name(text).ok_or_else(|| format!("there is no colour map \"{text}\": {}", names()))
}

fn parse_range(text: &str) -> Result<(f32, f32), String> {
    let wrong = || format!("\"{text}\" is not a range: write LOW,HIGH as 200,1500, the lower one first");
    let (low, high) = text.split_once(',').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<f32>().ok().filter(|n| n.is_finite()).ok_or_else(wrong);
    let (low, high) = (number(low)?, number(high)?);
    if low < high { Ok((low, high)) } else { Err(wrong()) }
}

fn parse_isosurface(text: &str) -> Result<(String, f32), String> {
    let wrong = || format!("\"{text}\" is not understood: write FIELD=VALUE as temperature=600");
    let (field, value) = text.split_once('=').ok_or_else(wrong)?;
    let value = value.trim().parse::<f32>().ok().filter(|n| n.is_finite()).ok_or_else(wrong)?;
    Ok((field.trim().to_string(), value))
}

impl LookArgs {
    /// What is drawn of this scene.
    pub fn of(&self, scene: &Scene) -> anyhow::Result<Look> {
        let planes = match self.slice.as_slice() {
            [] => None,
            [none] if none == "none" => Some(Vec::new()),
            planes => Some(planes.iter().map(|text| text.parse()).collect::<Result<Vec<Slice>, _>>()?),
        };
        let Model::Gas(gas) = &scene.model;
        for plane in planes.iter().flatten() {
            let low = gas.domain.corner_m[plane.axis];
            let high = low + gas.domain.size_m[plane.axis];
            anyhow::ensure!(
                (low..=high).contains(&plane.position_m),
                "a slice at {} m is outside of the domain, which goes from {low} to {high} m there",
                plane.position_m
            );
        }
        if let (true, Some((low, _))) = (self.log, self.range) {
            anyhow::ensure!(
                low > 0.0,
                "a logarithmic range begins above 0, not at {low}: change --range, or leave --log out"
            );
        }
        let field = Field {
            key: self.field.clone(),
            map: self.map,
            range: self.range,
            log: self.log,
            smooth: !self.cells,
        };
        let mut look = Look::of(scene);
        look.set_particles(self.particles, &self.paint, self.additive).map_err(anyhow::Error::msg)?;
        look.set_slices(&field, planes);
        look.set_surface(&self.surface, self.half).map_err(anyhow::Error::msg)?;
        look.glyphs.visible = self.glyphs;
        look.streamlines.visible = self.streamlines;
        if let Some((field, value)) = &self.isosurface {
            look.set_isosurface(field, *value);
        }
        Ok(look)
    }
}

impl CameraArgs {
    /// The way of the camera.
    pub fn shot(&self, scene: &Scene, [width, height]: [u32; 2]) -> anyhow::Result<Shot> {
        if self.path {
            return Shot::path_of(scene).ok_or_else(|| {
                anyhow::anyhow!(
                    "the scene has no key frames to go along: set some in the window (knudsen view), save, and record \
                     again; or leave --path out"
                )
            });
        }
        let aspect = width as f32 / height as f32;
        Ok(match (&self.from, self.camera) {
            (Some(name), _) => {
                let from = Viewpoint::named(name, scene).map_err(anyhow::Error::msg)?;
                Shot::Turn { from, degrees: self.turn }
            }
            (None, Some(from)) => Shot::Turn { from, degrees: self.turn },
            (None, None) => Shot::around(scene, self.turn, aspect),
        })
    }
}
