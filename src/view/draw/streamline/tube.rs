//! Tubes along lines, with arrowheads that say which way: one mesh for all of them.
//! Must not know what the lines are.

use crate::view::draw::keep::triangles;
use bevy::mesh::Indices;
use bevy::prelude::*;

/// Sides of a tube: with normals for a round one, eight look round.
const SIDES: u32 = 8;
/// A line goes straight on until it has turned by the angle of this cosine (3 degrees) ...
const TURN: f32 = 0.9986;
/// ... or has this length, so that colours follow; units of the picture.
const LONGEST: f32 = 0.03;
/// Distance of arrowheads, units of the picture.
const ARROWS: f32 = 0.6;
/// Length and radius of an arrowhead, in radii of the tube.
const HEAD: [f32; 2] = [9.0, 3.0];

/// Towards the light.
const LIGHT: Vec3 = Vec3::new(0.424, 0.707, 0.566);

/// A point of a line, and its linear colour.
pub type Point = (Vec3, [f32; 4]);

/// Tubes of one radius.
pub struct Tubes {
    radius: f32,
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    colors: Vec<[f32; 4]>,
    indices: Vec<u32>,
}

/// A cross-section: where, along what, and what is across that.
#[derive(Clone, Copy)]
struct Section {
    at: Vec3,
    along: Vec3,
    across: Vec3,
    color: [f32; 4],
}

impl Tubes {
    /// Without any tube yet; the radius in units of the picture.
    pub fn new(radius: f32) -> Self {
        Self {
            radius: radius.max(1e-5),
            positions: Vec::new(),
            normals: Vec::new(),
            colors: Vec::new(),
            indices: Vec::new(),
        }
    }

    /// Adds a tube; lines without length add nothing.
    pub fn push(&mut self, line: &[Point]) {
        let sections = sections(&thin(line));
        let ([first, ..], Some(last)) = (sections.as_slice(), sections.last()) else { return };
        self.cap(*first, -1.0);
        for (i, section) in sections.iter().enumerate() {
            self.ring(*section, self.radius, 0.0);
            if i > 0 {
                self.join();
            }
        }
        self.cap(*last, 1.0);
        self.arrows(&sections);
    }

    /// The mesh of all tubes; `None` if there are none.
    pub fn mesh(self) -> Option<Mesh> {
        let mesh = triangles(false)
            .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, self.positions)
            .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, self.normals)
            .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, self.colors);
        (!self.indices.is_empty()).then(|| mesh.with_inserted_indices(Indices::U32(self.indices)))
    }

    fn vertex(&mut self, at: Vec3, normal: Vec3, color: [f32; 4]) -> u32 {
        self.positions.push(at.to_array());
        self.normals.push(normal.to_array());
        // Shaded here and so little that colours are still those of the bar, from whichever side.
        let shade = 0.75 + 0.25 * normal.dot(LIGHT);
        let [r, g, b, a] = color;
        self.colors.push([r * shade, g * shade, b * shade, a]);
        self.positions.len() as u32 - 1
    }

    /// A ring of vertices; `slope` is what its normals point forward by, for a radius that changes.
    fn ring(&mut self, section: Section, radius: f32, slope: f32) {
        let Section { at, along, across, color } = section;
        let third = along.cross(across);
        for side in 0..SIDES {
            let angle = std::f32::consts::TAU * side as f32 / SIDES as f32;
            let out = across * angle.cos() + third * angle.sin();
            self.vertex(at + out * radius, (out + along * slope).normalize(), color);
        }
    }

    /// Joins the last two rings.
    fn join(&mut self) {
        let new = self.positions.len() as u32 - SIDES;
        let old = new - SIDES;
        for side in 0..SIDES {
            let next = (side + 1) % SIDES;
            self.indices.extend([old + side, old + next, new + side]);
            self.indices.extend([old + next, new + next, new + side]);
        }
    }

    /// A flat end.
    fn cap(&mut self, section: Section, sign: f32) {
        self.disc(section, self.radius, sign);
    }

    fn disc(&mut self, section: Section, radius: f32, sign: f32) {
        let Section { at, along, across, color } = section;
        let (normal, third) = (along * sign, along.cross(across));
        let middle = self.vertex(at, normal, color);
        for side in 0..SIDES {
            let angle = sign * std::f32::consts::TAU * side as f32 / SIDES as f32;
            self.vertex(at + (across * angle.cos() + third * angle.sin()) * radius, normal, color);
        }
        for side in 0..SIDES {
            self.indices.extend([middle, middle + 1 + side, middle + 1 + (side + 1) % SIDES]);
        }
    }

    fn arrows(&mut self, sections: &[Section]) {
        let [length, radius] = HEAD.map(|size| size * self.radius);
        let whole: f32 = sections.windows(2).map(|pair| pair[0].at.distance(pair[1].at)).sum();
        if whole < 2.0 * length {
            return;
        }
        let count = (whole / ARROWS).round().max(1.0);
        let (mut next, mut gone) = (0.5 * whole / count, 0.0);
        for pair in sections.windows(2) {
            let step = pair[0].at.distance(pair[1].at);
            while next < gone + step {
                let at = pair[0].at.lerp(pair[1].at, (next - gone) / step);
                let base = Section { at: at - 0.5 * length * pair[0].along, ..pair[0] };
                let tip = Section { at: base.at + length * base.along, ..base };
                self.disc(base, radius, -1.0);
                let slope = radius / length;
                self.ring(base, radius, slope);
                self.ring(tip, 0.0, slope);
                self.join();
                next += whole / count;
            }
            gone += step;
        }
    }
}

/// The points at which a line turns or changes colour; its ends are kept.
fn thin(line: &[Point]) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    let mut straight = Vec3::ZERO;
    for (i, &(at, color)) in line.iter().enumerate() {
        let Some(&(last, _)) = kept.last() else {
            kept.push((at, color));
            continue;
        };
        let step = at - line[i - 1].0;
        if step.length_squared() == 0.0 {
            continue;
        }
        if straight == Vec3::ZERO {
            straight = step.normalize();
        }
        let is_end = i + 1 == line.len();
        if is_end || at.distance(last) >= LONGEST || step.normalize().dot(straight) < TURN {
            kept.push((at, color));
            straight = Vec3::ZERO;
        }
    }
    kept
}

/// Cross-sections that do not twist: what is across one is brought to the next by the least turn.
fn sections(points: &[Point]) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::with_capacity(points.len());
    if points.len() < 2 {
        return sections;
    }
    for (i, &(at, color)) in points.iter().enumerate() {
        let before = points[i.saturating_sub(1)].0;
        let after = points[(i + 1).min(points.len() - 1)].0;
        let along = (after - before).normalize_or(sections.last().map_or(Vec3::X, |last| last.along));
        let old = sections.last().map_or(along.any_orthonormal_vector(), |last| last.across);
        let across = old.reject_from_normalized(along).normalize_or(along.any_orthonormal_vector());
        sections.push(Section { at, along, across, color });
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::mesh::VertexAttributeValues;

    fn vectors(mesh: &Mesh, attribute: bevy::mesh::MeshVertexAttribute) -> Vec<Vec3> {
        match mesh.attribute(attribute) {
            Some(VertexAttributeValues::Float32x3(values)) => {
                values.iter().map(|v| Vec3::from_array(*v)).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_tube_is_closed_and_faces_outwards() {
        let turn = |i: usize| 0.1 * i as f32;
        let line: Vec<Point> = (0..=10)
            .map(|i| (0.2 * Vec3::new(turn(i).cos(), turn(i).sin(), 0.3 * turn(i)), [1.0; 4]))
            .collect();
        let mut tubes = Tubes::new(0.01);
        // Too thick for arrowheads: only the tube.
        tubes.radius = 0.05;
        tubes.push(&line);
        let mesh = tubes.mesh().unwrap();
        let positions = vectors(&mesh, Mesh::ATTRIBUTE_POSITION);
        let normals = vectors(&mesh, Mesh::ATTRIBUTE_NORMAL);
        let indices: Vec<usize> = mesh.indices().unwrap().iter().collect();
        let mut volume = 0.0;
        for t in indices.chunks(3) {
            let [a, b, c] = [t[0], t[1], t[2]].map(|i| positions[i]);
            volume += a.dot(b.cross(c)) / 6.0;
            let face = (b - a).cross(c - a);
            for &i in t {
                assert!(face.dot(normals[i]) > 0.0, "{face} {}", normals[i]);
            }
        }
        // Length times the area of an octagon; the ends of the polygon's bends are the rest.
        let length: f32 = line.windows(2).map(|pair| pair[0].0.distance(pair[1].0)).sum();
        let area = 0.5 * 8.0 * (std::f32::consts::TAU / 8.0).sin() * 0.05 * 0.05;
        assert!((volume / (length * area) - 1.0).abs() < 0.02, "{volume} {}", length * area);
    }

    #[test]
    fn straight_lines_need_few_points_and_points_make_no_tube() {
        let line: Vec<Point> = (0..=100).map(|i| (Vec3::X * 0.001 * i as f32, [1.0; 4])).collect();
        let kept = thin(&line);
        assert!(kept.len() <= 6 && kept[0] == line[0] && kept[kept.len() - 1] == line[100], "{}", kept.len());
        let mut tubes = Tubes::new(0.01);
        tubes.push(&[(Vec3::ONE, [1.0; 4])]);
        tubes.push(&[(Vec3::ONE, [1.0; 4]); 3]);
        tubes.push(&[]);
        assert!(tubes.mesh().is_none());
    }

    #[test]
    fn arrowheads_stand_out_along_the_flow() {
        let line: Vec<Point> = (0..=60).map(|i| (Vec3::X * 0.02 * i as f32, [1.0; 4])).collect();
        let mut tubes = Tubes::new(0.004);
        tubes.push(&line);
        let mesh = tubes.mesh().unwrap();
        let positions = vectors(&mesh, Mesh::ATTRIBUTE_POSITION);
        let wide: Vec<f32> = positions.iter().filter(|p| p.y.hypot(p.z) > 0.008).map(|p| p.x).collect();
        // Two on 1.2 units, at a quarter and three quarters, their bases half a head upstream.
        for x in &wide {
            assert!([0.3, 0.9].iter().any(|at| (x - (at - 0.018)).abs() < 1e-4), "{x}");
        }
        assert_eq!(wide.len(), 2 * 2 * SIDES as usize);
    }
}
