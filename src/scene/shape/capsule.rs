//! The capsule: a cylinder about x with hemispherical ends, 72 sectors, 18 rings an end.
//! Must not know where it stands and what flows around it.
//!
//! The cylindrical part keeps its length; the radius, of the ends too, is up to 0.1 % larger than the given one, so
//! that the area of the whole surface is exact (see the notes of the module above). The volume is within 0.1 %.

use super::revolve::{line, revolve, with_area};
use super::{Body, MeshError, positive};
use std::f64::consts::{FRAC_PI_2, PI};

const SECTORS: u32 = 72;
const RINGS: u32 = 18;

pub(super) fn body(radius_m: f64, length_m: f64) -> Result<Body, MeshError> {
    positive("radius_m", radius_m)?;
    positive("length_m", length_m)?;
    let bands = (length_m / radius_m * f64::from(SECTORS) / (4.0 * PI)).round().clamp(1.0, 64.0) as u32;
    let exact = 4.0 * PI * radius_m * radius_m + 2.0 * PI * radius_m * length_m;
    let half = 0.5 * length_m;
    let profile = with_area(exact, SECTORS, |f| {
        let r = f * radius_m;
        let arc = |i: u32| libm::sincos(FRAC_PI_2 * f64::from(i) / f64::from(RINGS));
        let mut points = vec![[-half - r, 0.0]];
        points.extend((1..RINGS).map(|i| [-half - r * arc(i).1, r * arc(i).0]));
        points.push([-half, r]);
        points.extend(line([-half, r], [half, r], bands));
        points.extend((1..RINGS).map(|i| [half + r * arc(i).0, r * arc(i).1]));
        points.push([half + r, 0.0]);
        points
    });
    Ok(Body { mesh: revolve(&profile, SECTORS), length_m: length_m + 2.0 * radius_m, reports: Vec::new() })
}
