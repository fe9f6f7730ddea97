//! What is known about a triangle mesh from a file, for people: closed or not, orientation, defects, size.
//! Knows nothing of how files are read and meshes repaired. Self-intersections are not looked for.

use super::TriangleMesh;
use super::edges::{by_edge, edge_uses, shells};
use super::vector::{norm, sub};
use std::collections::HashSet;
use std::fmt;

/// A triangle lower than this part of its longest edge counts as degenerate: in f32, in which files and devices
/// hold points, its normal would be noise.
pub const DEGENERATE: f64 = 1e-6;

/// What a look at a mesh finds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Findings {
    /// Triangles.
    pub triangles: usize,
    /// Vertices, joined where they coincide.
    pub vertices: usize,
    /// Connected shells: triangles joined by edges that belong to exactly two.
    pub shells: usize,
    /// Edges of one triangle only: rims of holes.
    pub open_edges: usize,
    /// Edges of more than two triangles.
    pub non_manifold_edges: usize,
    /// Edges of several triangles that do not run along them as often forth as back: the fronts disagree.
    pub inconsistent_edges: usize,
    /// Triangles without area, or all but.
    pub degenerate: usize,
    /// Triangles whose three vertices another triangle has too.
    pub duplicates: usize,
    /// Ends of the first open edge, m.
    pub first_open: Option<[[f64; 3]; 2]>,
    /// Ends of the first edge at which the fronts disagree, m.
    pub first_inconsistent: Option<[[f64; 3]; 2]>,
    /// Centroid of the first degenerate triangle, m.
    pub first_degenerate: Option<[f64; 3]>,
    /// Area, m^2.
    pub area_m2: f64,
    /// Enclosed volume, m^3: positive if the fronts are outside; meaningless for an open mesh.
    pub volume_m3: f64,
    /// Lower and upper corner of the bounding box, m.
    pub bounds_m: [[f64; 3]; 2],
}

impl Findings {
    /// Whether every edge is matched: the surface has no holes and its fronts agree.
    pub fn watertight(&self) -> bool {
        self.open_edges == 0 && self.inconsistent_edges == 0
    }

    /// Whether the surface encloses a volume worth the name.
    pub fn encloses_volume(&self) -> bool {
        self.volume_m3.abs() > 1e-9 * self.area_m2.powf(1.5)
    }
}

/// Whether a triangle has no area, or so little that its normal would be noise.
pub fn is_degenerate(mesh: &TriangleMesh, i: usize) -> bool {
    let [a, b, c] = mesh.corners(i);
    let longest = norm(sub(b, a)).max(norm(sub(c, b))).max(norm(sub(a, c)));
    norm(mesh.area_vector(i)) <= DEGENERATE * longest * longest
}

/// Looks at a mesh whose coinciding vertices are joined.
pub fn examine(mesh: &TriangleMesh) -> Findings {
    let mut found = Findings {
        triangles: mesh.triangles.len(),
        vertices: mesh.vertices.len(),
        area_m2: mesh.area(),
        volume_m3: mesh.volume(),
        bounds_m: mesh.bounds().unwrap_or_default(),
        shells: shells(&mesh.triangles).2,
        ..Default::default()
    };
    for uses in by_edge(&edge_uses(&mesh.triangles)) {
        let ends = || Some(uses[0].edge.map(|v| mesh.vertices[v as usize]));
        let forward = uses.iter().filter(|u| u.forward).count();
        if uses.len() == 1 {
            found.open_edges += 1;
            found.first_open = found.first_open.or_else(ends);
        } else if 2 * forward != uses.len() {
            found.inconsistent_edges += 1;
            found.first_inconsistent = found.first_inconsistent.or_else(ends);
        }
        if uses.len() > 2 {
            found.non_manifold_edges += 1;
        }
    }
    let mut known = HashSet::new();
    for (i, triangle) in mesh.triangles.iter().enumerate() {
        if is_degenerate(mesh, i) {
            found.degenerate += 1;
            found.first_degenerate = found.first_degenerate.or_else(|| Some(mesh.centroid(i)));
        }
        let mut corners = *triangle;
        corners.sort_unstable();
        if !known.insert(corners) {
            found.duplicates += 1;
        }
    }
    found
}

/// A triangle file: as it was, what was repaired, and as it is used.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshReport {
    /// Path, as it was named.
    pub file: String,
    /// "ASCII STL", "binary STL" or "OBJ".
    pub format: String,
    /// As read, with coinciding vertices joined.
    pub as_read: Findings,
    /// What was repaired, a sentence each; empty for a sound file.
    pub repairs: Vec<String>,
    /// After the repairs.
    pub result: Findings,
}

impl MeshReport {
    /// Why the mesh cannot be an obstacle, where, and what to do; `None` if it can.
    pub fn refusal(&self) -> Option<String> {
        let found = &self.result;
        if found.triangles == 0 {
            return Some(
                "no triangle with an area is left: is the body flat, or the scale far too small? \
                 A flat body is a `Plate`"
                    .into(),
            );
        }
        if found.open_edges > 0 {
            return Some(format!(
                "not watertight: {} open edges, the first from {}; close the holes in a mesh program (Blender: \
                 Select Non Manifold, then Fill; MeshLab: Close Holes), or use a `Plate` for a thin body",
                found.open_edges,
                span(found.first_open)
            ));
        }
        if found.inconsistent_edges > 0 {
            return Some(format!(
                "not the surface of a body: at {} edges, the first from {}, the triangles have no common outside \
                 ({} edges belong to more than two triangles); remove inner walls and fins in a mesh program \
                 (Blender: Select Non Manifold)",
                found.inconsistent_edges,
                span(found.first_inconsistent),
                found.non_manifold_edges
            ));
        }
        if let Some(p) = found.first_degenerate {
            return Some(format!(
                "{} triangles have no area and could not be removed, the first at {}; clean the mesh in a mesh \
                 program (Blender: Degenerate Dissolve)",
                found.degenerate,
                point(p)
            ));
        }
        if !found.encloses_volume() {
            return Some(
                "the surface encloses no volume: a thin body is a `Plate`, or needs a thickness".into(),
            );
        }
        None
    }
}

impl fmt::Display for MeshReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (read, used) = (&self.as_read, &self.result);
        writeln!(
            f,
            "{} ({}): {} triangles, {} vertices",
            self.file, self.format, used.triangles, used.vertices
        )?;
        let [lo, hi] = used.bounds_m;
        writeln!(f, "  box          {} to {}", point(lo), point(hi))?;
        writeln!(
            f,
            "  area         {:.6} m^2, volume {:.6} m^3",
            short(used.area_m2),
            short(used.volume_m3)
        )?;
        let tight = if used.watertight() {
            "yes".into()
        } else {
            format!("NO: {} open edges, {} inconsistent", used.open_edges, used.inconsistent_edges)
        };
        writeln!(f, "  watertight   {tight}; shells {}", used.shells)?;
        write!(
            f,
            "  as read      {} triangles, {} open edges, {} of more than two triangles, {} inconsistent; \
             {} degenerate and {} duplicate triangles",
            read.triangles,
            read.open_edges,
            read.non_manifold_edges,
            read.inconsistent_edges,
            read.degenerate,
            read.duplicates
        )?;
        for repair in &self.repairs {
            write!(f, "\n  repaired     {repair}")?;
        }
        Ok(())
    }
}

fn span(ends: Option<[[f64; 3]; 2]>) -> String {
    ends.map_or_else(String::new, |[a, b]| format!("{} to {}", point(a), point(b)))
}

fn point(p: [f64; 3]) -> String {
    format!("({}, {}, {}) m", short(p[0]), short(p[1]), short(p[2]))
}

/// Six significant digits.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    // Not "-0".
    let rounded = rounded + 0.0;
    if rounded == 0.0 || (1e-4..1e7).contains(&rounded.abs()) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}
