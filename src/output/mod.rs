//! Files that a run leaves behind: ParaView, CSV, JSON, PNG, the seed's `fields_avg.dat`; and reading them back.
//! Must not know devices, the runner or Bevy.
//!
//! | file | is |
//! |---|---|
//! | `fields.vti` | cell-averaged fields with their statistical errors, for ParaView |
//! | `surface.vtp` | the obstacles' triangles with what hit them |
//! | `particles.vtp` | a subset of the particles with their speeds, or what else was asked for |
//! | `history.csv` | scalars against time |
//! | `summary.json` | what was simulated and what came out: [`Summary`] |
//! | `fields_avg.dat` | the seed's table |
//! | `slice_<field>_<axis>.png`, `history_<key>.png` | pictures |

pub mod canvas;
pub mod color;
pub mod distribution;
pub mod error;
pub mod file;
pub mod line_plot;
pub mod run;
pub mod scale;
pub mod seed;
pub mod slice;
pub mod slice_plot;
pub mod summary;
pub mod table;
pub mod vti_read;
pub mod vtk;
pub mod vtk_xml;

pub use error::OutputError;
pub use run::write_run;
pub use summary::Summary;
