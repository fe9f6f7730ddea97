//! Closed forms of theory against independently computed reference tables (tests/data/reference).
//! Must not know devices: only pure functions are called here.

// Helpers of tests may fail the test.
#![allow(clippy::unwrap_used, clippy::panic)]

use knudsen::physics::constants::BOLTZMANN;
use knudsen::physics::species::{CollisionPair, MeanFreePath, mean_speed, most_probable_speed, pressure};
use knudsen::physics::theory::bodies::{self, WallState};
use knudsen::physics::theory::collision_counts::{CellsOfGas, clipped_fraction, half_split_factor};
use knudsen::physics::theory::free_molecular::{BodyLoad, IncidentGas};
use knudsen::physics::theory::inflow_flux::crossing_molecules;
use knudsen::physics::theory::{maxwell, relaxation};
use knudsen::scene::{Species, TriangleMesh, Wall};
use std::collections::HashMap;
use std::path::PathBuf;

/// Digits of the tables: 12. Loosest comparison with them.
const DIGITS: f64 = 2e-11;

fn path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/reference").join(file)
}

/// A line of a reference table by column name.
struct Row(HashMap<String, String>);

impl Row {
    fn text(&self, column: &str) -> &str {
        self.0.get(column).unwrap_or_else(|| panic!("no column {column}"))
    }

    /// The number in a column; `None` if it is empty.
    fn number(&self, column: &str) -> Option<f64> {
        let text = self.text(column);
        (!text.is_empty()).then(|| text.parse().unwrap_or_else(|_| panic!("{column}: {text} is no number")))
    }

    fn get(&self, column: &str) -> f64 {
        self.number(column).unwrap_or_else(|| panic!("{column} is empty in {:?}", self.0))
    }

    /// Requires `value` to be the number of the column within `relative`, or within that of `scale` if it is nearly 0.
    fn expect(&self, column: &str, value: f64, relative: f64, scale: f64) {
        let reference = self.get(column);
        let tolerance = relative * reference.abs().max(scale);
        assert!(
            (value - reference).abs() <= tolerance,
            "{column}: {value} is not {reference} in {:?}",
            self.0
        );
    }
}

/// Rows of a table; `count` guards against a table that lost some.
fn table(file: &str, count: usize) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(path(file)).unwrap();
    let rows: Vec<Row> = reader.deserialize().map(|row| Row(row.unwrap())).collect();
    assert_eq!(rows.len(), count, "{file}");
    rows
}

fn species(name: &str) -> Species {
    let rows = table("A_gases.csv", 5);
    let row = rows.iter().find(|row| row.text("gas") == name).unwrap();
    Species {
        name: name.into(),
        mass_kg: row.get("mass_kg"),
        diameter_m: row.get("d_vhs_m"),
        omega: row.get("omega"),
        reference_temperature_k: row.get("Tref_K"),
        alpha: 1.0,
        rotational_dof: row.get("rot_dof") as u32,
        fraction: 1.0,
    }
}

#[test]
fn a1_a2_molecular_data() {
    for row in table("A_transport_collision.csv", 50) {
        let gas = species(row.text("gas"));
        let (t, n) = (row.get("T_K"), row.get("n_m3"));
        let check = |column: &str, value: f64| row.expect(column, value, DIGITS, 0.0);
        check("c_mp", most_probable_speed(gas.mass_kg, t));
        check("c_mean", mean_speed(gas.mass_kg, t));
        check("g_mean", gas.mean_relative_speed(t));
        check("sound_speed", gas.speed_of_sound(t));
        check("mean_sigma_g_m3_s", gas.self_pair().mean_sigma_c(t));
        check("nu_per_particle_1_s", gas.collision_frequency(n, t));
        check("mfp_HS_const_d_m", MeanFreePath::HardSphere.of(&gas, n, t));
        check("mfp_VHS_m", MeanFreePath::Vhs.of(&gas, n, t));
        check("mfp_Maxwell_mu_m", MeanFreePath::Maxwell.of(&gas, n, t));
        check("ratio_VHS_over_Maxwell", gas.vhs_over_maxwell_mean_free_path());
        check("mu_VHS_Pa_s", gas.viscosity(t));
        check("p_Pa", pressure(n, t));
        check("p_over_mu_per_nu", relaxation::stress_rate(gas.omega));
    }
    let names = MeanFreePath::ALL.map(MeanFreePath::name);
    assert!(names[0].contains("VHS") && names[1].contains("hard") && names[2].contains("viscosity"));
}

#[test]
fn cross_section_averages_to_the_collision_rate() {
    // <sigma c_r> by quadrature of the VHS cross-section over the distribution of relative speeds.
    for name in ["Ar", "N2", "He"] {
        let (gas, t) = (species(name), 420.0);
        let pair = gas.self_pair();
        let c = most_probable_speed(pair.reduced_mass, t);
        let (steps, end) = (20_000, 12.0);
        let (factor, power) = pair.sigma_c_power_law();
        let sum: f64 = (1..steps)
            .map(|i| {
                let x = f64::from(i) * end / f64::from(steps);
                let sigma_c = pair.cross_section(x * c) * x * c;
                assert!((sigma_c / (factor * (x * c).powf(power)) - 1.0).abs() < 1e-12);
                sigma_c * x * x * (-x * x).exp()
            })
            .sum();
        let mean = sum * end / f64::from(steps) * 4.0 / std::f64::consts::PI.sqrt();
        assert!((mean / pair.mean_sigma_c(t) - 1.0).abs() < 1e-7, "{name}");
    }
}

#[test]
fn pair_rates_of_a_mixture() {
    for row in table("A_mixture_collision.csv", 4) {
        let (i, j) = (species(row.text("i")), species(row.text("j")));
        let pair = CollisionPair::new(&i, &j);
        let rate = pair.mean_sigma_c(row.get("T_K"));
        row.expect("d_ij", pair.diameter, DIGITS, 0.0);
        row.expect("omega_ij", pair.omega, DIGITS, 0.0);
        row.expect("mean_sigma_g", rate, DIGITS, 0.0);
        row.expect("nu_of_one_i_with_j", rate * row.get("n_m3") * row.get("x_j"), DIGITS, 0.0);
    }
    let mut air = [species("N2"), species("O2")];
    (air[0].fraction, air[1].fraction) = (0.79, 0.21);
    let gas = knudsen::scene::Gas { species: air.to_vec() };
    let per_molecule =
        0.79 * (28_417.106_527_4 + 7_130.323_588_44) + 0.21 * (26_823.598_261_3 + 6_713.630_764_73);
    assert!((gas.collision_frequency(1e20, 300.0) / per_molecule - 1.0).abs() < DIGITS);
}

/// The gas of the free-molecular tables: only the speed ratio matters, so any other numbers will do.
fn incident(s: f64, direction: [f64; 3], rotational_dof: f64) -> IncidentGas {
    let (mass, temperature) = (4.65e-26, 230.0);
    let speed = s * most_probable_speed(mass, temperature);
    IncidentGas {
        number_density: 3.1e19,
        temperature,
        mass,
        rotational_dof,
        velocity: direction.map(|d| d * speed),
    }
}

/// The wall of a row for a gas of that temperature.
fn wall(row: &Row, temperature: f64) -> Wall {
    match row.text("wall") {
        "specular" => Wall::Specular,
        "diffuse" => Wall::Diffuse { temperature_k: row.get("Tw_over_T") * temperature, accommodation: 1.0 },
        other => panic!("wall {other}"),
    }
}

fn speed(gas: &IncidentGas) -> f64 {
    gas.velocity.iter().map(|v| v * v).sum::<f64>().sqrt()
}

#[test]
fn b_sphere_and_cylinder() {
    for row in table("B_sphere_cylinder_drag.csv", 120) {
        let s = row.get("s");
        let state = WallState::new(wall(&row, 230.0), 230.0);
        let sphere = match row.text("body") {
            "sphere" => true,
            "cylinder" => false,
            other => panic!("body {other}"),
        };
        let drag = if sphere { bodies::sphere_drag(s, state) } else { bodies::cylinder_drag(s, state) };
        row.expect("CD", drag, DIGITS, 0.0);
        let Some(_) = row.number("flux_mean_over_nU") else { continue };
        row.expect(
            "flux_mean_over_nU",
            if sphere { bodies::sphere_hits(s) } else { bodies::cylinder_hits(s) },
            DIGITS,
            0.0,
        );
        for (dof, suffix) in [(0.0, "mono"), (2.0, "diat")] {
            let heat = if sphere {
                bodies::sphere_heat(s, state, dof)
            } else {
                bodies::cylinder_heat(s, state, dof)
            };
            // Heat is a small difference of large fluxes at low speed: the scale is that of the fluxes.
            row.expect(&format!("Ch_mean_{suffix}"), heat, DIGITS, 1.0);
            let gas = incident(s, [1.0, 0.0, 0.0], dof);
            let element = gas.element([-1.0, 0.0, 0.0], wall(&row, 230.0));
            let stagnation = element.heat_flux / (gas.dynamic_pressure() * speed(&gas));
            row.expect(&format!("Ch_stag_{suffix}"), stagnation, DIGITS, 1.0);
        }
    }
}

#[test]
fn b_flat_plate() {
    for row in table("B_flat_plate.csv", 240) {
        let (s, alpha) = (row.get("s"), row.get("alpha_deg").to_radians());
        let plate = bodies::plate(s, alpha, WallState::new(wall(&row, 230.0), 230.0));
        row.expect("CD", plate.drag, DIGITS, 1.0);
        row.expect("CL", plate.lift, DIGITS, 1.0);
        row.expect("CN", plate.normal, DIGITS, 1.0);
        row.expect("CA", plate.axial, DIGITS, 1.0);
        for (dof, suffix) in [(0.0, "mono"), (2.0, "diat")] {
            let gas = incident(s, [alpha.cos(), alpha.sin(), 0.0], dof);
            let q = gas.dynamic_pressure();
            for (normal, side) in [(-1.0, "front"), (1.0, "back")] {
                let element = gas.element([0.0, normal, 0.0], wall(&row, 230.0));
                row.expect(&format!("cp_{side}"), element.pressure / q, DIGITS, 1.0);
                row.expect(&format!("ctau_{side}"), element.shear[0] / q, DIGITS, 1.0);
                if row.number("Tw_over_T").is_some() {
                    let flux = element.number_flux / (gas.number_density * speed(&gas));
                    row.expect(&format!("flux_{side}_over_nU"), flux, DIGITS, 1.0);
                    let heat = element.heat_flux / (q * speed(&gas));
                    row.expect(&format!("Ch_{side}_{suffix}"), heat, DIGITS, 1.0);
                } else {
                    assert_eq!(element.heat_flux, 0.0);
                }
            }
        }
    }
}

#[test]
fn b_boxes() {
    for row in table("B_box.csv", 32) {
        let edges = ["Lx", "Ly", "Lz"].map(|column| row.get(column));
        let (sin, cos) = row.get("yaw_deg").to_radians().sin_cos();
        let gas = incident(row.get("s"), [cos, sin, 0.0], 0.0);
        let mut force = [0.0; 3];
        let mut hits = 0.0;
        for axis in 0..3 {
            for sign in [-1.0, 1.0] {
                let mut normal = [0.0; 3];
                normal[axis] = sign;
                let area = edges[(axis + 1) % 3] * edges[(axis + 2) % 3];
                let load = gas.element(normal, wall(&row, 230.0));
                (0..3).for_each(|i| force[i] += area * (load.shear[i] - load.pressure * normal[i]));
                hits += area * load.number_flux;
            }
        }
        let [x, y, z] = force.map(|f| f / gas.dynamic_pressure());
        row.expect("Fx_A_body", x, DIGITS, 1.0);
        row.expect("Fy_A_body", y, DIGITS, 1.0);
        assert!(z.abs() < 1e-12);
        row.expect("CdA_m2", x * cos + y * sin, DIGITS, 1.0);
        row.expect("ClA_m2", y * cos - x * sin, DIGITS, 1.0);
        row.expect("hits_over_nU_m2", hits / (gas.number_density * speed(&gas)), DIGITS, 1.0);
    }
}

/// Triangles of an ASCII STL file: every three vertices make one.
fn stl(file: &str) -> TriangleMesh {
    let text = std::fs::read_to_string(path(file)).unwrap();
    let vertices: Vec<[f64; 3]> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("vertex "))
        .map(|line| {
            let numbers: Vec<f64> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
            [numbers[0], numbers[1], numbers[2]]
        })
        .collect();
    let count = vertices.len() as u32 / 3;
    let triangles = (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    TriangleMesh { vertices, triangles, part: vec![0; count as usize], closed: true }
}

#[test]
fn b_polyhedra() {
    // The files hold nine digits.
    const FILE: f64 = 1e-8;
    let mut seen = 0;
    for row in table("B_polyhedra_stl.csv", 24) {
        let mesh = match row.text("body") {
            "icosahedron_R1" => stl("B_icosahedron_R1.stl"),
            "wedge" => stl("B_wedge.stl"),
            // Its triangles are not among the tables.
            _ => continue,
        };
        seen += 1;
        assert_eq!(mesh.triangles.len() as f64, row.get("n_facets"));
        for (dof, heat) in [(0.0, "QA_mono_m2"), (2.0, "QA_diat_m2")] {
            let gas = incident(row.get("s"), [1.0, 0.0, 0.0], dof);
            let load = gas.body(&mesh, wall(&row, 230.0), [0.0; 3]);
            let q = gas.dynamic_pressure();
            for (i, axis) in ["x", "y", "z"].into_iter().enumerate() {
                row.expect(&format!("F{axis}A_m2"), load.force[i] / q, FILE, 1.0);
                row.expect(&format!("M{axis}A_m3"), load.moment[i] / q, FILE, 1.0);
            }
            row.expect("hits_over_nU_m2", load.hits / (gas.number_density * speed(&gas)), FILE, 1.0);
            row.expect(heat, load.heat / (q * speed(&gas)), FILE, 1.0);
        }
    }
    assert_eq!(seen, 18);
}

#[test]
fn moments_follow_the_reference_point_and_accommodation_is_linear() {
    let mesh = stl("B_wedge.stl");
    let gas = incident(3.0, [0.8, 0.6, 0.0], 2.0);
    let load =
        |accommodation, about| gas.body(&mesh, Wall::Diffuse { temperature_k: 500.0, accommodation }, about);
    let (here, there) = (load(1.0, [0.0; 3]), load(1.0, [0.3, -0.2, 0.7]));
    // M' = M - r x F.
    let f = here.force;
    let shift = [-0.2 * f[2] - 0.7 * f[1], 0.7 * f[0] - 0.3 * f[2], 0.3 * f[1] + 0.2 * f[0]];
    for (i, shift) in shift.into_iter().enumerate() {
        assert!((there.moment[i] - (here.moment[i] - shift)).abs() < 1e-12 * f[0].abs());
    }
    let specular = gas.body(&mesh, Wall::Specular, [0.0; 3]);
    let partial = load(0.3, [0.0; 3]);
    let mix = |specular: f64, diffuse: f64| 0.7 * specular + 0.3 * diffuse;
    for i in 0..3 {
        assert!((partial.force[i] - mix(specular.force[i], f[i])).abs() < 1e-12 * f[0].abs());
    }
    assert!((partial.heat / (0.3 * here.heat) - 1.0).abs() < 1e-12 && specular.heat == 0.0);
    assert_eq!(partial.hits, specular.hits);
    let mut nothing = BodyLoad::default();
    nothing.add_triangle(&gas, [[0.0; 3], [1.0; 3], [1.0; 3]], Wall::Specular, [0.0; 3]);
    assert_eq!(nothing, BodyLoad::default());
}

#[test]
fn sphere_at_the_conditions_of_the_seed() {
    // Mach 4 of a monatomic gas at 200 K, walls at 300 K.
    let s = 4.0 * (5.0f64 / 6.0).sqrt();
    let diffuse = WallState { accommodation: 1.0, temperature_ratio: 1.5 };
    let specular = WallState { accommodation: 0.0, temperature_ratio: 1.5 };
    assert!((bodies::sphere_drag(s, diffuse) - 2.5435).abs() < 5e-5);
    assert!((bodies::sphere_drag(s, specular) - 2.1472).abs() < 5e-5);
}

#[test]
fn gas_in_equilibrium_with_a_wall_gives_no_heat_and_its_pressure() {
    let gas = incident(0.0, [1.0, 0.0, 0.0], 2.0);
    let load = gas.element([0.0, 0.6, 0.8], Wall::Diffuse { temperature_k: 230.0, accommodation: 0.7 });
    let p = pressure(gas.number_density, 230.0);
    assert!((load.pressure / p - 1.0).abs() < 1e-14);
    assert!(load.heat_flux.abs() < 1e-12 * p * most_probable_speed(gas.mass, 230.0));
    assert_eq!(load.shear, [0.0; 3]);
    let quarter = 0.25 * gas.number_density * mean_speed(gas.mass, 230.0);
    assert!((load.number_flux / quarter - 1.0).abs() < 1e-14);
}

#[test]
fn b_inflow_flux() {
    // The table lost digits to 1 + erf(s): at s = -3 it is up to 2.4e-9 off the values to 30 digits that
    // quadrature gives; so there those are what counts.
    let exact = crossing_molecules(-3.0);
    for (value, reference) in [
        (exact.flux, 1.677_517_488_808_801_4e-6),
        (exact.mean_normal_speed, 0.292_141_087_344_462_89),
        (exact.mean_square_normal_speed, 0.123_576_737_966_611_33),
        (exact.variance, 0.038_230_323_051_806_233),
    ] {
        assert!((value / reference - 1.0).abs() < 1e-12, "{value} is not {reference}");
    }
    for row in table("B_inflow_flux.csv", 12) {
        let s = row.get("s_n");
        let crossing = crossing_molecules(s);
        let digits = if s < -2.5 { 5e-9 } else { DIGITS };
        row.expect("flux_over_n_vmp", crossing.flux, digits, 0.0);
        row.expect("mean_vn_over_vmp", crossing.mean_normal_speed, digits, 0.0);
        row.expect("mean_vn2_over_vmp2", crossing.mean_square_normal_speed, digits, 0.0);
        row.expect("var_vn_over_vmp2", crossing.variance, digits, 0.0);
        row.expect("mean_Etr_over_kT", crossing.mean_energy, digits, 0.0);
        if s != 0.0 {
            row.expect("flux_over_n_U", crossing.flux / s, digits, 0.0);
        }
    }
}

#[test]
fn c1_collision_counts() {
    for row in table("C1_collision_counts.csv", 4) {
        let molecule = Species {
            name: row.text("id").into(),
            mass_kg: row.get("mass"),
            diameter_m: row.get("d_ref"),
            omega: row.get("omega"),
            reference_temperature_k: row.get("Tref"),
            alpha: 1.0,
            rotational_dof: 0,
            fraction: 1.0,
        };
        // The count follows the table's total cross-section. Variable soft spheres have their own diameter in it.
        let mean_sigma_c = molecule.self_pair().mean_sigma_c(row.get("T"));
        let cells = CellsOfGas {
            cells: row.get("cells"),
            particles_per_cell: row.get("N_per_cell"),
            weight: row.get("fnum"),
            cell_volume: row.get("V_cell"),
            mean_sigma_c,
            time_step: row.get("dt"),
        };
        row.expect("nu_dt", row.get("n") * mean_sigma_c * row.get("dt"), DIGITS, 0.0);
        row.expect("collisions_per_step_fixedN_every_cell", cells.fixed(), DIGITS, 0.0);
        row.expect("collisions_per_step_uniform_random_positions_total_fixed", cells.uniform(), DIGITS, 0.0);
        row.expect("collisions_per_step_poisson_N", cells.poisson(), DIGITS, 0.0);
    }
}

#[test]
fn c2_maxwell_speeds() {
    for row in table("C2_maxwell_speed.csv", 19) {
        let c_mp = (2.0 * BOLTZMANN * row.get("T") / species(row.text("gas")).mass_kg).sqrt();
        let value = match row.text("kind") {
            "quantile" => maxwell::speed_quantile(row.get("p"), c_mp),
            kind => {
                let power = kind.strip_prefix("moment <c^").and_then(|k| k.strip_suffix('>')).unwrap();
                maxwell::speed_moment(power.parse().unwrap(), c_mp)
            }
        };
        row.expect("speed_m_s", value, DIGITS, 0.0);
    }
    let bounds = maxwell::equiprobable_speeds(50, 300.0);
    assert_eq!(bounds.len(), 49);
    for (i, &bound) in bounds.iter().enumerate() {
        assert!((maxwell::speed_fraction_below(bound, 300.0) - (i + 1) as f64 / 50.0).abs() < 1e-14);
    }
}

#[test]
fn c3_anisotropy_of_maxwell_molecules() {
    let mut seen = 0;
    for row in table("C3_anisotropy_relaxation.csv", 24) {
        if row.get("omega") == 1.0 {
            let value = relaxation::maxwell_anisotropy(row.get("Tx0_over_T"), row.get("nu_t"));
            row.expect("closed_form", value, DIGITS, 0.0);
            seen += 1;
        }
    }
    assert_eq!(seen, 8);
}

#[test]
fn c5_bkw_moments() {
    for row in table("C5_BKW.csv", 10) {
        let [m2, m3, m4] = relaxation::bkw_moments(row.get("nu_t"));
        row.expect("K", relaxation::bkw_parameter(row.get("nu_t")), DIGITS, 0.0);
        row.expect("M2_fourth", m2, DIGITS, 0.0);
        row.expect("M3_sixth", m3, DIGITS, 0.0);
        row.expect("M4_eighth", m4, DIGITS, 0.0);
    }
}

#[test]
fn h1_half_split_factor() {
    for row in table("H1_acceptance_factor.csv", 10) {
        let n = row.get("N");
        let factor = f64::from(half_split_factor(n as u32));
        row.expect("correct_factor_F", factor, 0.0, 0.0);
        assert_eq!((n / 2.0).floor() * factor, 0.5 * n * (n - 1.0));
    }
    assert_eq!((half_split_factor(0), half_split_factor(1)), (0, 0));
}

#[test]
fn h2_clipped_collisions() {
    for (file, count, column, lost) in [
        ("H2_overflow_loss.csv", 27, "mean_acceptance_x", "lost_fraction_if_capped"),
        ("H2b_ntc_low_majorant_loss.csv", 24, "majorant_over_mean_sigma_g", "fraction_of_collisions_lost"),
    ] {
        for row in table(file, count) {
            let parameter = row.get(column);
            let mean = if count == 27 { parameter } else { 1.0 / parameter };
            // A difference of two probabilities: absolute to rounding, relative where it is not tiny.
            row.expect(lost, clipped_fraction(row.get("omega"), mean), 1e-9, 1e-5);
        }
    }
}

#[test]
fn h3_stress_factors() {
    for row in table("H3_maxwell_stress_factor_exact.csv", 24) {
        let (n, nu_dt) = (row.get("N") as u32, row.get("nu_dt"));
        let one = relaxation::half_split_stress_factor(n, nu_dt, 1);
        let four = relaxation::half_split_stress_factor(n, nu_dt, 4);
        let ntc = relaxation::ntc_stress_factor(n, nu_dt, 0.5);
        row.expect("exact_exp", relaxation::maxwell_anisotropy(2.0, nu_dt) - 1.0, DIGITS, 0.0);
        row.expect("half_split_linear", one, DIGITS, 0.0);
        row.expect("half_split_linear_4_subshuffles", four, DIGITS, 0.0);
        row.expect("NTC_acc0p5", ntc, DIGITS, 0.0);
        row.expect("rate_error_half", relaxation::stress_rate_error(one, nu_dt), 1e-9, 0.01);
        row.expect("rate_error_half_4sub", relaxation::stress_rate_error(four, nu_dt), 1e-9, 0.01);
        row.expect("rate_error_NTC", relaxation::stress_rate_error(ntc, nu_dt), 1e-9, 0.01);
    }
}
