//! What theory knows in closed form: free-molecular loads, flux through a plane, relaxation, collision counts.
//! Knows nothing of particles, grids or devices; the simulations are judged by it.

pub mod bodies;
pub mod collision_counts;
pub mod free_molecular;
pub mod inflow_flux;
pub mod maxwell;
pub mod relaxation;
pub mod special;
