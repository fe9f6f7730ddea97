//! The summary of a run, printed for people.
//! Must not know formulas; prints what a snapshot holds.

use crate::scene::Scene;
use crate::sim::{Counters, Criterion, Estimate, Loads, Phase, Snapshot};
use crate::units::si;

/// Prints the summary.
pub fn print(scene: &Scene, device: &str, snapshot: &Snapshot, steps_per_s: f64) {
    say!("\n{} on {device}", scene.name);
    let phase = match snapshot.phase {
        Phase::Transient => "no averages: ended in the transient, ask for more with --steps".to_string(),
        Phase::Sampling { since, samples } => format!("averages since step {since}, {samples} samples"),
    };
    say!(
        "  step {} ({}), time step {}, {} particles of {:.3e} molecules, {phase}",
        snapshot.step,
        si(snapshot.time_s, "s"),
        si(snapshot.time_step_s, "s"),
        snapshot.particles,
        snapshot.weight
    );
    if steps_per_s > 0.0 {
        let million = steps_per_s * snapshot.particles as f64 / 1e6;
        say!(
            "  {steps_per_s:.1} steps/s, {million:.1} million particle-steps/s, {}",
            si(snapshot.memory_bytes as f64, "B")
        );
    }
    for note in &snapshot.notes {
        say!("  {note}");
    }
    if let Some(resolution) = &snapshot.resolution {
        say!("\nresolution                          worst     median      limit   cells that miss it");
        resolution.criteria.iter().for_each(print_criterion);
    }
    for surface in &snapshot.surfaces {
        if let Some(loads) = &surface.loads {
            say!("\n{}", surface.name);
            print_loads(loads);
        }
    }
    print_counters(&snapshot.counters);
}

fn print_criterion(criterion: &Criterion) {
    if criterion.worst.is_nan() {
        say!("  {:<30} no cell with gas to judge", criterion.name);
        return;
    }
    let verdict = if criterion.missed > 0.0 {
        format!("{:.1} %", 100.0 * criterion.missed)
    } else {
        "none".to_string()
    };
    say!(
        "  {:<30} {:>9.3} {:>9.3}   {} {:<6} {verdict}",
        criterion.name,
        criterion.worst,
        criterion.median,
        if criterion.upper { "<=" } else { ">=" },
        criterion.limit
    );
}

fn print_loads(loads: &Loads) {
    let area = si(loads.reference_area_m2, "m^2");
    say!("  reference area {area}, length {}", si(loads.reference_length_m, "m"));
    if loads.hits_per_s.value == 0.0 {
        say!("  no molecule has hit it while averages were taken: its loads are not known yet");
        return;
    }
    if let Some(drag) = loads.drag_coefficient {
        say_on!("  C_D {}", plus_minus(drag, 1.0));
        match loads.free_molecular_drag_coefficient {
            Some(theory) => say!("   (free-molecular theory for these triangles: {theory:.4})"),
            None => say!("   (no free-molecular theory: not convex, or not wholly in the domain)"),
        }
    }
    let others = [("C_L", loads.lift_coefficient), ("C_S", loads.side_coefficient)];
    for (name, coefficient) in others.into_iter().filter_map(|(name, c)| Some((name, c?))) {
        say!("  {name} {}", plus_minus(coefficient, 1.0));
    }
    for (axis, (force, moment)) in ["x", "y", "z"].iter().zip(loads.force_n.iter().zip(loads.moment_n_m)) {
        say!("  F_{axis} {} N    M_{axis} {} N m", plus_minus(*force, 1.0), plus_minus(moment, 1.0));
    }
    say!("  heat {} W, {:.4e} hits/s", plus_minus(loads.heat_w, 1.0), loads.hits_per_s.value);
    if loads.heat_w.batches < 20 {
        say!("  only {} batches: the errors themselves are rough, run longer", loads.heat_w.batches);
    }
}

/// "2.5435 +- 0.0021", or in scientific notation where the value is small or large.
fn plus_minus(estimate: Estimate, scale: f64) -> String {
    let (value, error) = (estimate.value * scale, estimate.error * scale);
    if error.is_nan() {
        return format!("{value:>11.4e} +- not known yet");
    }
    if value.abs().max(error.abs()) < 1e-3 || value.abs() >= 1e5 {
        format!("{value:>11.4e} +- {error:.1e}")
    } else {
        format!("{value:>11.5} +- {error:.5}")
    }
}

fn print_counters(counters: &Counters) {
    say!(
        "\n{} collisions of {} candidates, {} entered, {} left, {} hits on bodies",
        counters.collisions,
        counters.collision_candidates,
        counters.entered,
        counters.left,
        counters.wall_hits
    );
    let doubts = [
        (counters.majorant_exceeded, "pairs exceeded their cell's majorant (it was raised)"),
        (counters.probability_clipped, "Half-Split-Shuffle probabilities were clipped to 1"),
        (counters.bounce_limit, "moves were stopped by the limit of wall hits in a step"),
        (counters.put_back, "hits put their particle back to where its step began"),
        (counters.lost, "particles were lost"),
    ];
    let told: Vec<String> = doubts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if told.is_empty() {
        say!("nothing was clipped, exceeded or lost");
    } else {
        told.iter().for_each(|line| say!("  {line}"));
    }
}
