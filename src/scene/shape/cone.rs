//! The cone about x with a flat base, apex towards -x: 96 sectors, 16 bands, 6 rings on the base.
//! Must not know where it stands and what flows around it.
//!
//! Its height is exact; its radius is up to 0.04 % larger than the given one, so that the area of the whole surface
//! is exact (see the notes of the module above). The volume is within 0.04 %.

use super::revolve::{line, revolve, with_area};
use super::{Body, MeshError, positive};
use std::f64::consts::PI;

const SECTORS: u32 = 96;
const BANDS: u32 = 16;
const RINGS: u32 = 6;

pub(super) fn body(radius_m: f64, height_m: f64) -> Result<Body, MeshError> {
    positive("radius_m", radius_m)?;
    positive("height_m", height_m)?;
    let exact = PI * radius_m * (radius_m + radius_m.hypot(height_m));
    let half = 0.5 * height_m;
    let profile = with_area(exact, SECTORS, |f| {
        let r = f * radius_m;
        let mut points = vec![[-half, 0.0]];
        points.extend(line([-half, 0.0], [half, r], BANDS));
        points.extend(line([half, r], [half, 0.0], RINGS));
        points
    });
    Ok(Body { mesh: revolve(&profile, SECTORS), length_m: height_m, reports: Vec::new() })
}
