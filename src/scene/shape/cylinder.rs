//! The cylinder about z with flat ends: 96 sectors, 6 rings an end, bands about as wide as they are long.
//! Must not know where it stands and what flows around it.
//!
//! Its height is exact; its radius is up to 0.04 % larger than the given one, so that the area of the whole surface
//! is exact (see the notes of the module above). The volume is within 0.04 %.

use super::revolve::{line, revolve, with_area};
use super::{Body, MeshError, positive};
use std::f64::consts::PI;

const SECTORS: u32 = 96;
const RINGS: u32 = 6;

pub(super) fn body(radius_m: f64, height_m: f64) -> Result<Body, MeshError> {
    positive("radius_m", radius_m)?;
    positive("height_m", height_m)?;
    // Four sectors a band: pressure varies more around the body than along it.
    let bands = (height_m / radius_m * f64::from(SECTORS) / (8.0 * PI)).round().clamp(2.0, 64.0) as u32;
    let exact = 2.0 * PI * radius_m * (radius_m + height_m);
    let half = 0.5 * height_m;
    let profile = with_area(exact, SECTORS, |f| {
        let r = f * radius_m;
        let mut points = vec![[-half, 0.0]];
        points.extend(line([-half, 0.0], [-half, r], RINGS));
        points.extend(line([-half, r], [half, r], bands));
        points.extend(line([half, r], [half, 0.0], RINGS));
        points
    });
    let mut mesh = revolve(&profile, SECTORS);
    for p in &mut mesh.vertices {
        // x becomes z: a cyclic change of axes keeps the fronts outside.
        *p = [p[1], p[2], p[0]];
    }
    Ok(Body { mesh, length_m: 2.0 * radius_m, reports: Vec::new() })
}
