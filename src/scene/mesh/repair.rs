//! Repairs meshes from files: joins vertices, drops or mends useless triangles, turns the fronts outside.
//! Knows nothing of file formats. It closes no holes: where a body ends is not for a program to guess.

use super::edges::{by_edge, edge_uses, shells};
use super::report::is_degenerate;
use super::vector::{cross, dot, norm, sub};
use super::{TriangleMesh, lowest_first};
use std::collections::HashMap;

/// Vertices closer than this part of the diagonal of the bounding box are joined: the resolution of f32, which
/// most files hold, and some ten times it.
pub const WELD: f64 = 1e-6;
/// Nested shells are looked for among at most so many: the search is quadratic. Beyond, all count as bodies.
const MOST_NESTED: usize = 2000;

/// Joins coinciding vertices and drops unused ones. Returns how many distinct vertices were moved onto a neighbour
/// less than [`WELD`] diagonals away.
pub fn weld(mesh: &mut TriangleMesh) -> usize {
    let mut exact: HashMap<[u64; 3], u32> = HashMap::new();
    let mut kept: Vec<[f64; 3]> = Vec::new();
    for triangle in &mut mesh.triangles {
        for v in triangle {
            // Adding zero makes -0 equal to 0 in bits too.
            let p = mesh.vertices[*v as usize].map(|x| x + 0.0);
            *v = *exact.entry(p.map(f64::to_bits)).or_insert_with(|| {
                kept.push(p);
                kept.len() as u32 - 1
            });
        }
    }
    mesh.vertices = kept;
    let Some([lo, hi]) = mesh.bounds() else { return 0 };
    let tolerance = WELD * norm(sub(hi, lo));
    if tolerance <= 0.0 {
        return 0;
    }
    let cell_of = |p: [f64; 3]| -> [i64; 3] { sub(p, lo).map(|d| (d / tolerance).floor() as i64) };
    let mut cells: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    let mut target: Vec<u32> = Vec::with_capacity(mesh.vertices.len());
    let mut kept: Vec<[f64; 3]> = Vec::new();
    let mut moved = 0;
    for &p in &mesh.vertices {
        let cell = cell_of(p);
        let near = (0..27).find_map(|k| {
            let around = [cell[0] + k % 3 - 1, cell[1] + k / 3 % 3 - 1, cell[2] + k / 9 - 1];
            cells.get(&around)?.iter().copied().find(|&q| norm(sub(p, kept[q as usize])) <= tolerance)
        });
        target.push(near.unwrap_or(kept.len() as u32));
        if near.is_some() {
            moved += 1;
        } else {
            cells.entry(cell).or_default().push(kept.len() as u32);
            kept.push(p);
        }
    }
    mesh.vertices = kept;
    for triangle in &mut mesh.triangles {
        *triangle = triangle.map(|v| target[v as usize]);
    }
    moved
}

/// Repairs a welded mesh of one part and says what was done.
///
/// Outside is where the enclosed volume is positive. A shell inside another becomes a cavity: its fronts look into
/// the cavity, and gas may be inside. Shells that cross each other are left as they are.
pub fn repair(mesh: &mut TriangleMesh) -> Vec<String> {
    let mut done = Vec::new();
    let before = mesh.triangles.len();
    mesh.triangles.retain(|&[a, b, c]| a != b && b != c && c != a);
    say(&mut done, before - mesh.triangles.len(), "triangles whose corners coincide were dropped");
    let before = mesh.triangles.len();
    drop_duplicates(&mut mesh.triangles);
    say(&mut done, before - mesh.triangles.len(), "duplicate triangles were dropped");
    let flipped = mend_needles(mesh);
    say(&mut done, flipped, "triangles without area were mended by swapping their longest edge");
    orient(mesh, &mut done);
    weld(mesh);
    mesh.part = vec![0; mesh.triangles.len()];
    done
}

fn say(done: &mut Vec<String>, count: usize, what: &str) {
    if count > 0 {
        done.push(format!("{count} {what}"));
    }
}

/// Keeps one of triangles with the same vertices; of an opposite pair between two closed parts (each edge then has
/// an even number of triangles, more than two) neither, which joins the parts.
fn drop_duplicates(triangles: &mut Vec<[u32; 3]>) {
    let key = |t: &[u32; 3]| {
        let mut sorted = *t;
        sorted.sort_unstable();
        sorted
    };
    let even = |t: &[u32; 3]| lowest_first(*t) == key(t);
    let mut groups: HashMap<[u32; 3], (u32, u32)> = HashMap::new();
    for t in triangles.iter() {
        let group = groups.entry(key(t)).or_default();
        if even(t) { group.0 += 1 } else { group.1 += 1 }
    }
    if groups.len() == triangles.len() {
        return;
    }
    let uses = edge_uses(triangles);
    let per_edge: HashMap<[u32; 2], usize> = by_edge(&uses).map(|g| (g[0].edge, g.len())).collect();
    let inner_wall = |[a, b, c]: [u32; 3]| {
        [[a, b], [b, c], [a, c]].iter().all(|e| per_edge.get(e).is_some_and(|&n| n % 2 == 0 && n > 2))
    };
    let mut written = std::collections::HashSet::new();
    triangles.retain(|t| {
        let k = key(t);
        let (forth, back) = groups.get(&k).copied().unwrap_or((1, 0));
        !(forth == back && inner_wall(k)) && written.insert(k)
    });
}

/// A triangle without area whose corners are apart lies along an edge of its neighbour. Swapping the edge between
/// the two keeps the surface and all other edges, and leaves two sound triangles.
fn mend_needles(mesh: &mut TriangleMesh) -> usize {
    let mut mended = 0;
    for _round in 0..64 {
        let needles: Vec<usize> = (0..mesh.triangles.len()).filter(|&i| is_degenerate(mesh, i)).collect();
        if needles.is_empty() {
            break;
        }
        let uses = edge_uses(&mesh.triangles);
        let mut at_edge: HashMap<[u32; 2], Vec<u32>> =
            by_edge(&uses).map(|g| (g[0].edge, g.iter().map(|u| u.triangle).collect())).collect();
        let mut touched = vec![false; mesh.triangles.len()];
        let mut changed = false;
        for i in needles {
            let t = mesh.triangles[i];
            let length =
                |k: usize| norm(sub(mesh.vertices[t[k] as usize], mesh.vertices[t[(k + 1) % 3] as usize]));
            let long = (1..3).fold(0, |best, k| if length(k) > length(best) { k } else { best });
            let (p, q, middle) = (t[long], t[(long + 1) % 3], t[(long + 2) % 3]);
            let Some([u, v]) = at_edge.get(&[p.min(q), p.max(q)]).map(Vec::as_slice) else { continue };
            let other = if *u as usize == i { *v } else { *u } as usize;
            let o = mesh.triangles[other];
            let Some(apex) = (0..3).find(|&k| o[k] != p && o[k] != q) else { continue };
            let (d, from, to) = (o[apex], o[(apex + 1) % 3], o[(apex + 2) % 3]);
            let new_edge = [d.min(middle), d.max(middle)];
            if touched[i] || touched[other] || d == middle || at_edge.contains_key(&new_edge) {
                continue;
            }
            mesh.triangles[i] = [from, middle, d];
            mesh.triangles[other] = [middle, to, d];
            at_edge.insert(new_edge, Vec::new());
            (touched[i], touched[other], changed) = (true, true, true);
            mended += 1;
        }
        if !changed {
            break;
        }
    }
    mended
}

/// Makes the fronts of each shell agree and look outside.
///
/// Where bodies touch along edges or faces, shells may end at edges of more than two triangles and be open by
/// themselves. Such shells keep the orientation of the file, and are turned all together or not at all.
fn orient(mesh: &mut TriangleMesh, done: &mut Vec<String>) {
    let (mut shell, mut turn, count) = shells(&mesh.triangles);
    let apply = |triangles: &mut [[u32; 3]], turn: &[bool]| {
        triangles.iter_mut().zip(turn).filter(|(_, turn)| **turn).for_each(|(t, _)| t.swap(1, 2));
    };
    apply(&mut mesh.triangles, &turn);
    let open = open_shells(&mesh.triangles, &shell, count);
    apply(&mut mesh.triangles, &turn);
    for (shell, turn) in shell.iter_mut().zip(&mut turn).filter(|(shell, _)| open[**shell as usize]) {
        (*shell, *turn) = (count as u32, false);
    }
    apply(&mut mesh.triangles, &turn);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); count + 1];
    // A mesh of its own for each shell, without shared vertices: its volume and winding number need none.
    let mut pieces: Vec<TriangleMesh> = vec![TriangleMesh::default(); count + 1];
    for (i, t) in mesh.triangles.iter().enumerate() {
        members[shell[i] as usize].push(i);
        let piece = &mut pieces[shell[i] as usize];
        let first = piece.vertices.len() as u32;
        piece.vertices.extend(t.map(|v| mesh.vertices[v as usize]));
        piece.triangles.push([first, first + 1, first + 2]);
    }
    members.retain(|m| !m.is_empty());
    pieces.retain(|p| !p.triangles.is_empty());
    let depths = depths(&pieces);
    let (mut cavities, mut inside_out, mut turned) = (0, 0, 0);
    for (s, members) in members.iter().enumerate() {
        let cavity = depths[s] % 2 == 1;
        cavities += usize::from(cavity);
        if (pieces[s].volume() < 0.0) != cavity {
            for &i in members {
                mesh.triangles[i].swap(1, 2);
                turn[i] = !turn[i];
            }
        }
        let changed = members.iter().filter(|&&i| turn[i]).count();
        if changed == members.len() {
            inside_out += 1;
        } else {
            turned += changed;
        }
    }
    say(done, inside_out, "shells were inside out and were turned");
    say(done, turned, "triangles faced the other way than their neighbours and were turned");
    say(done, cavities, "shells lie inside another and are cavities");
}

/// For each shell, whether some edge is not used as often forth as back by its own triangles.
fn open_shells(triangles: &[[u32; 3]], shell: &[u32], count: usize) -> Vec<bool> {
    let mut open = vec![false; count];
    for uses in by_edge(&edge_uses(triangles)) {
        let of = |s: u32| uses.iter().filter(move |u| shell[u.triangle as usize] == s);
        for s in uses.iter().map(|u| shell[u.triangle as usize]) {
            open[s as usize] |= 2 * of(s).filter(|u| u.forward).count() != of(s).count();
        }
    }
    open
}

/// How many other shells each shell lies in; all 0 if there are too many to look.
fn depths(pieces: &[TriangleMesh]) -> Vec<usize> {
    if pieces.len() > MOST_NESTED {
        return vec![0; pieces.len()];
    }
    let boxes: Vec<_> = pieces.iter().map(|p| p.bounds().unwrap_or_default()).collect();
    let within = |i: usize, j: usize| {
        (0..3).all(|k| boxes[i][0][k] > boxes[j][0][k] && boxes[i][1][k] < boxes[j][1][k])
    };
    (0..pieces.len())
        .map(|i| {
            let point = pieces[i].centroid(0);
            let around = |&j: &usize| j != i && within(i, j) && winding(&pieces[j], point).abs() > 0.75;
            (0..pieces.len()).filter(around).count()
        })
        .collect()
}

/// Winding number of a closed mesh about a point: the solid angle of its triangles over 4 pi
/// (Van Oosterom and Strackee 1983, equation 8).
fn winding(mesh: &TriangleMesh, point: [f64; 3]) -> f64 {
    let half_angles: f64 = (0..mesh.triangles.len())
        .map(|i| {
            let [a, b, c] = mesh.corners(i).map(|p| sub(p, point));
            let (la, lb, lc) = (norm(a), norm(b), norm(c));
            let below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
            dot(a, cross(b, c)).atan2(below)
        })
        .sum();
    half_angles / (2.0 * std::f64::consts::PI)
}
