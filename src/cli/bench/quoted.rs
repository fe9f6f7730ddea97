//! What others reach, quoted, to stand beside measured figures. Workloads differ: compare only what ran side by side.
//! Must not know what was measured here.

/// A figure of somebody else: what, on what, M particle-steps a second (least and most), from where.
struct Quoted {
    what: &'static str,
    on: &'static str,
    rate: (f64, f64),
    from: &'static str,
}

const PUBLISHED: &str = "published";
const MEASURED: &str = "measured on that card for this project";

const QUOTED: &[Quoted] = &[
    Quoted {
        what: "the seed, sphere, 13.2 M particles, 100 a cell",
        on: "V100",
        rate: (1490.0, 1490.0),
        from: "computed from its published 17.7 s for 2000 steps; 283 bytes a particle",
    },
    Quoted {
        what: "the seed, sphere, 100 a cell (13 M)",
        on: "H200",
        rate: (3780.0, 3780.0),
        from: MEASURED,
    },
    Quoted {
        what: "the seed, sphere, 300 a cell (39.7 M)",
        on: "H200",
        rate: (3160.0, 3160.0),
        from: MEASURED,
    },
    Quoted { what: "SPARTA (Kokkos), COLLIDE, 1e7", on: "H200", rate: (760.0, 760.0), from: MEASURED },
    Quoted { what: "SPARTA (Kokkos), FREE, 1e7", on: "H200", rate: (930.0, 930.0), from: MEASURED },
    Quoted { what: "SPARTA (Kokkos), SPHERE, 1e6", on: "H200", rate: (750.0, 750.0), from: MEASURED },
    Quoted { what: "SPARTA, FREE", on: "P100", rate: (228.0, 269.0), from: PUBLISHED },
    Quoted { what: "SPARTA, COLLIDE", on: "P100", rate: (302.0, 302.0), from: PUBLISHED },
    Quoted { what: "SPARTA, SPHERE", on: "P100", rate: (369.0, 372.0), from: PUBLISHED },
    Quoted { what: "SPARTA, COLLIDE", on: "one CPU core", rate: (6.6, 28.0), from: PUBLISHED },
    Quoted { what: "SPARTA, SPHERE", on: "one CPU core", rate: (12.0, 27.0), from: PUBLISHED },
];

/// Prints them.
pub fn print() {
    say!(
        "\nquoted, not measured in this run, M particle-steps a second (SPARTA: 10 particles a cell, double precision):"
    );
    for quoted in QUOTED {
        let (least, most) = quoted.rate;
        let rate = if least == most { format!("{least}") } else { format!("{least} to {most}") };
        say!("  {:<48} {:<13} {:>11}  {}", quoted.what, quoted.on, rate, quoted.from);
    }
}
