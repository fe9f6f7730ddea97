//! Streamlines of a velocity field: the curves that are everywhere along it. Plain functions.
//! Must not know grids, snapshots or how lines are drawn.

/// How lines are traced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tracing {
    /// Length of a step, m.
    pub step_m: f64,
    /// Steps at most.
    pub steps: usize,
    /// Speed at which the flow counts as standing, m/s.
    pub slowest: f64,
}

/// Why a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// There is no velocity further on: the edge of the domain, or a body.
    Edge,
    /// The flow stands there.
    Stands,
    /// It has all its steps.
    Long,
}

/// At an edge the last step is halved until it is shorter than this part of a step.
const SHORTEST: f64 = 1.0 / 64.0;

/// Follows the velocity from `seed`, or goes against it; the seed is the first point. `velocity` is in m/s, `None` where
/// there is no gas. A line of one point comes of a seed outside or where the flow stands.
///
/// It is dx/ds = u/|u| by the classical Runge-Kutta method of fourth order, in steps of equal length: fast and slow
/// parts of the flow get equally many points, and errors are a matter of the curvature alone.
pub fn trace(
    seed: [f64; 3],
    against: bool,
    how: Tracing,
    velocity: impl Fn([f64; 3]) -> Option<[f64; 3]>,
) -> (Vec<[f64; 3]>, End) {
    let sign = if against { -1.0 } else { 1.0 };
    let direction = |point| -> Result<[f64; 3], End> {
        let u = velocity(point).ok_or(End::Edge)?;
        let speed = u.iter().map(|u| u * u).sum::<f64>().sqrt();
        // Not a number is no gas either.
        if speed.is_nan() {
            return Err(End::Edge);
        }
        if speed > how.slowest { Ok(u.map(|u| sign * u / speed)) } else { Err(End::Stands) }
    };
    let mut points = vec![seed];
    let (mut at, mut step) = (seed, how.step_m);
    while points.len() <= how.steps {
        match runge_kutta(at, step, direction) {
            Ok(next) => {
                at = next;
                points.push(at);
            }
            // The edge lies somewhere within the step: get near.
            Err(End::Edge) if step > SHORTEST * how.step_m => step *= 0.5,
            Err(end) => return (points, end),
        }
    }
    (points, End::Long)
}

/// One step of length `step` along `direction`; its error, if it has one anywhere within the step.
fn runge_kutta(
    at: [f64; 3],
    step: f64,
    direction: impl Fn([f64; 3]) -> Result<[f64; 3], End>,
) -> Result<[f64; 3], End> {
    let along = |d: [f64; 3], part: f64| -> [f64; 3] { std::array::from_fn(|a| at[a] + part * step * d[a]) };
    let k1 = direction(at)?;
    let k2 = direction(along(k1, 0.5))?;
    let k3 = direction(along(k2, 0.5))?;
    let k4 = direction(along(k3, 1.0))?;
    let next = along(std::array::from_fn(|a| (k1[a] + 2.0 * (k2[a] + k3[a]) + k4[a]) / 6.0), 1.0);
    // The end of the step must lie in the gas too, though no stage asked there.
    direction(next).or_else(|end| if end == End::Stands { Ok(next) } else { Err(end) })?;
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOW: Tracing = Tracing { step_m: 0.1, steps: 1000, slowest: 1e-6 };

    fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
        (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn uniform_flow_gives_a_straight_line_to_the_edge() {
        let inside = |p: [f64; 3]| (p[0] <= 2.0 && p[0] >= 0.0).then_some([300.0, 400.0, 0.0]);
        let (points, end) = trace([0.5, 0.0, 1.0], false, HOW, inside);
        assert_eq!(end, End::Edge);
        for (i, point) in points.iter().take(20).enumerate() {
            let s = 0.1 * i as f64;
            assert!(distance(*point, [0.5 + 0.6 * s, 0.8 * s, 1.0]) < 1e-12, "{i}: {point:?}");
        }
        let last = points[points.len() - 1];
        assert!(last[0] <= 2.0 && 2.0 - last[0] < 0.1 * SHORTEST, "{last:?}");
        // Backwards to the other edge.
        let (points, end) = trace([0.5, 0.0, 1.0], true, HOW, inside);
        let last = points[points.len() - 1];
        assert!(end == End::Edge && last[0] >= 0.0 && last[0] < 0.1 * SHORTEST, "{last:?}");
    }

    #[test]
    fn solid_body_rotation_closes_with_an_error_of_fourth_order() {
        // One turn in n steps about z, radius 1 and, faster but the same circles, any angular velocity.
        let error = |n: usize, omega: f64| {
            let how = Tracing { step_m: std::f64::consts::TAU / n as f64, steps: n, slowest: 1e-6 };
            let (points, end) =
                trace([1.0, 0.0, 0.0], false, how, |[x, y, _]| Some([-omega * y, omega * x, 0.0]));
            assert_eq!((points.len(), end), (n + 1, End::Long));
            let radius = points.iter().map(|p| (p[0].hypot(p[1]) - 1.0).abs()).fold(0.0, f64::max);
            (distance(points[n], points[0]), radius)
        };
        let (coarse, fine) = (error(256, 1.0), error(512, 1.0));
        assert!(fine.0 < 1e-9 && fine.1 < 1e-11, "{fine:?}");
        // h^4: halving the step divides the error by 16, to the next order; that of the radius is even of order h^5.
        assert!((14.5..17.5).contains(&(coarse.0 / fine.0)), "{coarse:?} {fine:?}");
        assert!((30.0..34.0).contains(&(coarse.1 / fine.1)), "{coarse:?} {fine:?}");
        assert!((error(256, 1e4).0 - coarse.0).abs() < 1e-12);
    }

    #[test]
    fn stagnation_and_bodies_end_a_line() {
        // Towards a stagnation point at the origin, on its axis.
        let (points, end) = trace([1.0, 0.0, 0.0], false, HOW, |[x, y, _]| Some([-x, y, 0.0]));
        let last = points[points.len() - 1];
        assert!(last[0].abs() < 0.11 && points.len() < 30, "{last:?} after {}", points.len());
        assert_eq!(end, End::Stands);
        // Into cells without gas.
        let (points, end) = trace([0.0; 3], false, HOW, |[x, ..]| {
            Some(if x < 0.55 { [1.0, 0.0, 0.0] } else { [f64::NAN; 3] })
        });
        let last = points[points.len() - 1];
        assert!(end == End::Edge && last[0] < 0.55 && last[0] > 0.54, "{last:?}");
        // A seed outside.
        assert_eq!(trace([0.0; 3], false, HOW, |_| None), (vec![[0.0; 3]], End::Edge));
    }
}
