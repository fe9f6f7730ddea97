//! How a homogeneous gas relaxes to equilibrium: Maxwell molecules, BKW, and the exact factors of two schemes.
//! Knows nothing of particles.

/// T_x/T of Maxwell molecules whose anisotropy began at `initial`, after `nu_t` collision times: the stress decays as
/// exp(-nu t/2) (exact for omega = 1 with isotropic scattering).
pub fn maxwell_anisotropy(initial: f64, nu_t: f64) -> f64 {
    1.0 + (initial - 1.0) * (-0.5 * nu_t).exp()
}

/// Even moments of the BKW solution over those of the Maxwell distribution: <c^4>, <c^6>, <c^8>.
///
/// Start: speeds sqrt(0.6 kT/m) times a chi variate of 5 degrees of freedom, isotropic; Maxwell molecules
/// (Bobylev 1976; Krook & Wu 1977): K = 1 - 0.4 exp(-nu t/6).
pub fn bkw_moments(nu_t: f64) -> [f64; 3] {
    let k = bkw_parameter(nu_t);
    [2.0 * k - k * k, 3.0 * k.powi(2) - 2.0 * k.powi(3), 4.0 * k.powi(3) - 3.0 * k.powi(4)]
}

/// K of the BKW solution.
pub fn bkw_parameter(nu_t: f64) -> f64 {
    1.0 - 0.4 * (-nu_t / 6.0).exp()
}

/// Viscosity relation p/(mu nu) = (5 - 2 omega)(7 - 2 omega)/30 of VHS molecules: the rate of stress decay in
/// collisions a molecule (first Sonine order); 1/2 for Maxwell molecules.
pub fn stress_rate(omega: f64) -> f64 {
    (5.0 - 2.0 * omega) * (7.0 - 2.0 * omega) / 30.0
}

/// Factor by which the stress of Maxwell molecules in a cell of N particles decays in a step of Half-Split-Shuffle
/// with `passes` shuffles: (1 - h P/(N - 1))^passes, which is 1 - nu dt/2 for one pass, whatever N >= 2.
///
/// `nu_dt` is with the continuum collision frequency, n <sigma c_r> dt; h = N/2 pairs, each with the probability
/// P = factor nu dt/(N passes). Exact, by the algebra of isotropic scattering; exp(-nu dt/2) is only its limit.
pub fn half_split_stress_factor(particles: u32, nu_dt: f64, passes: u32) -> f64 {
    let (n, pairs) = (f64::from(particles), f64::from(particles / 2));
    let factor = f64::from(super::collision_counts::half_split_factor(particles));
    let probability = factor * nu_dt / (n * f64::from(passes));
    (1.0 - pairs * probability / (n - 1.0)).powf(f64::from(passes))
}

/// The same for No-Time-Counter with the acceptance `acceptance` of each candidate: candidates are drawn one after
/// the other, their number rounded up or down at random to have the right mean.
pub fn ntc_stress_factor(particles: u32, nu_dt: f64, acceptance: f64) -> f64 {
    let n = f64::from(particles);
    let candidates = 0.5 * (n - 1.0) * nu_dt / acceptance;
    let decay = acceptance / (n - 1.0);
    (1.0 - decay).powf(candidates.floor()) * (1.0 - candidates.fract() * decay)
}

/// By how much faster than exp(-nu dt/2) a stress factor decays: ln(factor)/(-nu dt/2) - 1.
pub fn stress_rate_error(factor: f64, nu_dt: f64) -> f64 {
    -2.0 * factor.ln() / nu_dt - 1.0
}
