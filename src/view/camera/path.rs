//! The camera's way through key frames: smooth, through every key frame, at rest before the first and after the last.
//! Must not know what is played or recorded: a pure function of the time.

use super::Viewpoint;
use crate::scene::KeyFrame;
use crate::view::stage::Stage;
use bevy::prelude::*;

/// Parts of a camera that are interpolated each for itself: target (3), logarithm of the distance, rotation (4), field
/// of view. By distance and rotation, not by the eye, so that key frames around a body lead around it.
type Parts = [f64; 9];

/// A path through at least one key frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    keys: Vec<Key>,
}

#[derive(Debug, Clone, PartialEq)]
struct Key {
    time_s: f64,
    parts: Parts,
    /// Change of the parts a second.
    rates: Parts,
    view: Viewpoint,
}

impl Path {
    /// The path through the key frames, which are in the order of time; `None` where there are none.
    ///
    /// Cubic Hermite pieces between key frames. The rate at a key frame is that of the parabola through it and its
    /// neighbours, as in a Catmull-Rom spline of uneven knots, but at most three times the slower mean rate beside it
    /// (the bound of Fritsch and Carlson 1980): between two equal key frames the camera stands still.
    pub fn new(frames: &[KeyFrame], stage: &Stage) -> Option<Self> {
        let mut keys: Vec<Key> = Vec::with_capacity(frames.len());
        for frame in frames {
            let view = Viewpoint::of(&frame.camera, stage);
            let mut parts = parts(&view);
            // Of the two quaternions of a rotation the one that is nearer to the last.
            if let Some(last) = keys.last()
                && (4..8).map(|i| last.parts[i] * parts[i]).sum::<f64>() < 0.0
            {
                parts[4..8].iter_mut().for_each(|part| *part = -*part);
            }
            keys.push(Key { time_s: frame.time_s, parts, rates: [0.0; 9], view });
        }
        for i in 1..keys.len().saturating_sub(1) {
            let spans = [keys[i].time_s - keys[i - 1].time_s, keys[i + 1].time_s - keys[i].time_s];
            let means = [0, 1].map(|side| {
                let (from, to) = (&keys[i + side - 1].parts, &keys[i + side].parts);
                std::array::from_fn::<f64, 9, _>(|k| (to[k] - from[k]) / spans[side])
            });
            let mut rates: Parts = std::array::from_fn(|k| {
                (spans[1] * means[0][k] + spans[0] * means[1][k]) / (spans[0] + spans[1])
            });
            for group in [0..3, 3..4, 4..8, 8..9] {
                let size = |v: &Parts| v[group.clone()].iter().map(|x| x * x).sum::<f64>().sqrt();
                let (most, rate) = (3.0 * size(&means[0]).min(size(&means[1])), size(&rates));
                if rate > most {
                    rates[group].iter_mut().for_each(|r| *r *= most / rate);
                }
            }
            keys[i].rates = rates;
        }
        (!keys.is_empty()).then_some(Self { keys })
    }

    /// Time of the last key frame, s.
    pub fn end_s(&self) -> f64 {
        self.keys.last().map_or(0.0, |key| key.time_s)
    }

    /// Where the camera is at a time of the video.
    pub fn at(&self, time_s: f64) -> Viewpoint {
        let after = self.keys.partition_point(|key| key.time_s <= time_s);
        let Some(from) = after.checked_sub(1).map(|i| &self.keys[i]) else { return self.keys[0].view };
        let Some(to) = self.keys.get(after) else { return from.view };
        let span = to.time_s - from.time_s;
        let s = (time_s - from.time_s) / span;
        if s <= 0.0 {
            return from.view;
        }
        let [start, end] = [(1.0 + 2.0 * s) * (1.0 - s) * (1.0 - s), s * s * (3.0 - 2.0 * s)];
        let [leave, arrive] = [s * (1.0 - s) * (1.0 - s) * span, s * s * (s - 1.0) * span];
        view(&std::array::from_fn(|k| {
            start * from.parts[k] + end * to.parts[k] + leave * from.rates[k] + arrive * to.rates[k]
        }))
        .with_projection_of(&from.view)
    }

    /// Eyes along the way, for a line: one at each of `pieces` + 1 even times.
    pub fn eyes(&self, pieces: usize) -> impl Iterator<Item = Vec3> + '_ {
        let (start, end) = (self.keys[0].time_s, self.end_s());
        (0..=pieces).map(move |i| self.at(start + (end - start) * i as f64 / pieces.max(1) as f64).eye)
    }

    /// The cameras of the key frames.
    pub fn views(&self) -> impl Iterator<Item = &Viewpoint> {
        self.keys.iter().map(|key| &key.view)
    }
}

impl Viewpoint {
    /// Parallel or not: that changes at a key frame, not between.
    fn with_projection_of(self, other: &Self) -> Self {
        Self { orthographic: other.orthographic, ..self }
    }
}

fn parts(view: &Viewpoint) -> Parts {
    let [target, eye] = [view.target, view.eye].map(|at| at.as_dvec3());
    let rotation = view.transform().rotation.as_dquat().normalize();
    let distance = eye.distance(target).max(1e-9).ln();
    let fov = f64::from(view.field_of_view_deg);
    [target.x, target.y, target.z, distance, rotation.x, rotation.y, rotation.z, rotation.w, fov]
}

fn view(&[x, y, z, distance, i, j, k, w, fov]: &Parts) -> Viewpoint {
    let target = bevy::math::DVec3::new(x, y, z);
    // Neighbouring quaternions are less than a right angle apart, so no mean of them vanishes.
    let rotation = bevy::math::DQuat::from_xyzw(i, j, k, w).normalize();
    Viewpoint {
        eye: (target + rotation * bevy::math::DVec3::Z * distance.exp()).as_vec3(),
        target: target.as_vec3(),
        up: (rotation * bevy::math::DVec3::Y).as_vec3(),
        field_of_view_deg: fov.clamp(1.0, 120.0) as f32,
        orthographic: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Camera;

    fn stage() -> Stage {
        Stage { middle_m: [0.3, -0.1, 2.0], size_m: [1.0, 0.5, 0.7] }
    }

    fn key(time_s: f64, view: Viewpoint) -> KeyFrame {
        KeyFrame { time_s, camera: view.camera(&stage()) }
    }

    fn tour() -> Vec<KeyFrame> {
        let tilted = Viewpoint { up: Vec3::new(0.4, 1.0, 0.1), ..Viewpoint::orbit(200.0, 60.0, 0.4) };
        let wide = Viewpoint { field_of_view_deg: 80.0, ..Viewpoint::orbit(130.0, -10.0, 2.0) };
        let off = Viewpoint { target: Vec3::new(0.5, 0.2, -0.3), ..Viewpoint::orbit(300.0, 10.0, 3.0) };
        [
            (0.5, Viewpoint::orbit(0.0, 5.0, 4.0)),
            (2.0, wide),
            (2.7, tilted),
            (6.0, off),
            (7.0, off),
            (9.0, wide),
        ]
        .map(|(time, view)| key(time, view))
        .to_vec()
    }

    /// What is seen, as numbers of the order of 1: eye, direction, what is up, field of view in radians.
    fn seen(view: &Viewpoint) -> [f64; 10] {
        let rotation = view.transform().rotation;
        let [eye, back, up] =
            [view.eye, rotation * Vec3::Z, rotation * Vec3::Y].map(|v| v.as_dvec3().to_array());
        let fov = f64::from(view.field_of_view_deg).to_radians();
        [eye[0], eye[1], eye[2], back[0], back[1], back[2], up[0], up[1], up[2], fov]
    }

    fn apart(a: &Viewpoint, b: &Viewpoint) -> f64 {
        seen(a).iter().zip(seen(b)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn a_path_goes_through_its_key_frames_and_rests_outside() {
        let frames = tour();
        let path = Path::new(&frames, &stage()).unwrap();
        for frame in &frames {
            let expected = Viewpoint::of(&frame.camera, &stage());
            for time in [frame.time_s, frame.time_s + 1e-9, frame.time_s - 1e-9] {
                assert!(apart(&path.at(time), &expected) < 1e-5, "at {time} s");
            }
        }
        assert_eq!(path.at(-10.0), path.at(0.5));
        assert_eq!(path.at(1e6), path.at(9.0));
        assert_eq!(path.end_s(), 9.0);
        assert_eq!(path.eyes(12).count(), 13);
        assert!(Path::new(&[], &stage()).is_none());
        let one = Path::new(&frames[..1], &stage()).unwrap();
        assert_eq!(one.at(0.0), one.at(50.0));
        // A hold is a hold.
        assert!(apart(&path.at(6.0), &path.at(6.4)) < 1e-5);
    }

    #[test]
    fn its_velocity_has_no_jumps() {
        let path = Path::new(&tour(), &stage()).unwrap();
        let h = 2e-3;
        let rate = |time: f64| -> [f64; 10] {
            let [a, b] = [path.at(time - 0.5 * h), path.at(time + 0.5 * h)].map(|view| seen(&view));
            std::array::from_fn(|k| (b[k] - a[k]) / h)
        };
        // A velocity that jumped at a key frame would change as much however short the time about it is; one that is
        // continuous changes in proportion.
        for time in [0.5, 2.0, 2.7, 6.0, 7.0, 9.0] {
            let change = |step: f64| -> [f64; 10] {
                let [before, after] = [rate(time - step), rate(time + step)];
                std::array::from_fn(|k| (after[k] - before[k]).abs())
            };
            let (wide, narrow) = (change(0.04), change(0.01));
            for (k, (narrow, wide)) in narrow.into_iter().zip(wide).enumerate() {
                assert!(narrow < 0.4 * wide + 0.05, "number {k} jumps at {time} s: {narrow} of {wide}");
            }
        }
        // At rest at both ends.
        assert!(rate(0.5 + h).iter().chain(&rate(9.0 - h)).all(|rate| rate.abs() < 0.3));
    }

    #[test]
    fn half_a_turn_goes_round_the_body_and_a_change_of_projection_waits() {
        let back = Viewpoint { orthographic: true, ..Viewpoint::orbit(180.0, 0.0, 3.0) };
        let frames = [key(0.0, Viewpoint::orbit(0.0, 0.0, 3.0)), key(1.0, back)];
        let path = Path::new(&frames, &stage()).unwrap();
        for i in 0..=100 {
            let view = path.at(f64::from(i) / 100.0);
            assert!((view.eye.length() - 3.0).abs() < 1e-4, "{view:?}");
            assert_eq!(view.orthographic, i == 100);
        }
        let metres: Camera = path.at(0.5).camera(&stage());
        assert!((metres.target_m[2] - 2.0).abs() < 1e-6);
    }
}
