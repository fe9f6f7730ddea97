//! The edges of a mesh and the triangles at each.
//! Knows nothing of files and repairs.

/// One triangle's use of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EdgeUse {
    /// The two vertices, lower index first.
    pub edge: [u32; 2],
    /// The triangle.
    pub triangle: u32,
    /// Whether the triangle runs from the lower to the upper index.
    pub forward: bool,
}

/// All uses, sorted by edge and then by triangle: those of one edge are neighbours.
pub(super) fn edge_uses(triangles: &[[u32; 3]]) -> Vec<EdgeUse> {
    let mut uses: Vec<EdgeUse> = triangles
        .iter()
        .enumerate()
        .flat_map(|(i, &[a, b, c])| {
            [[a, b], [b, c], [c, a]].map(|[p, q]| EdgeUse {
                edge: [p.min(q), p.max(q)],
                triangle: i as u32,
                forward: p < q,
            })
        })
        .collect();
    uses.sort_unstable();
    uses
}

/// The uses of each edge together.
pub(super) fn by_edge(uses: &[EdgeUse]) -> impl Iterator<Item = &[EdgeUse]> {
    uses.chunk_by(|a, b| a.edge == b.edge)
}

/// For each triangle, the number of its shell: triangles that are joined by edges of exactly two triangles.
/// Shells are numbered in the order of their first triangles. Also, for each triangle, whether it must be turned
/// round to agree with the first triangle of its shell, as far as that is possible.
pub(super) fn shells(triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<bool>, usize) {
    let uses = edge_uses(triangles);
    let mut neighbours: Vec<Vec<(u32, bool)>> = vec![Vec::new(); triangles.len()];
    for group in by_edge(&uses) {
        if let [a, b] = group {
            let agree = a.forward != b.forward;
            neighbours[a.triangle as usize].push((b.triangle, agree));
            neighbours[b.triangle as usize].push((a.triangle, agree));
        }
    }
    let mut shell = vec![u32::MAX; triangles.len()];
    let mut turn = vec![false; triangles.len()];
    let mut count = 0;
    let mut waiting = Vec::new();
    for start in 0..triangles.len() {
        if shell[start] != u32::MAX {
            continue;
        }
        shell[start] = count;
        waiting.push(start);
        while let Some(i) = waiting.pop() {
            for &(j, agree) in &neighbours[i] {
                let j = j as usize;
                if shell[j] == u32::MAX {
                    shell[j] = count;
                    turn[j] = if agree { turn[i] } else { !turn[i] };
                    waiting.push(j);
                }
            }
        }
        count += 1;
    }
    (shell, turn, count as usize)
}
