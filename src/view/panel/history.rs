//! The history of the flow as the plots show it, fetched row by row, and the speed over wall time.
//! Must not know egui, Bevy or how a device keeps its history.

use crate::sim::History;
use crate::units::Quantity;

/// Speeds kept; every second one goes when there are more.
const MOST_SPEEDS: usize = 4096;
/// Rows between two requests.
const STRIDE: usize = 64;
/// Shortest time over which a speed is measured, s.
const SPEED_WINDOW_S: f64 = 1.0;

/// All rows of the running flow so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HistoryStore {
    columns: Vec<Quantity>,
    values: Vec<f64>,
    last_step: u64,
}

impl HistoryStore {
    /// What each number of a row is.
    pub fn columns(&self) -> &[Quantity] {
        &self.columns
    }

    /// Rows so far.
    pub fn rows(&self) -> usize {
        if self.columns.is_empty() { 0 } else { self.values.len() / self.columns.len() }
    }

    /// The row to ask for next: `Request::history_from`. In steps, so that not every row makes another request; rows
    /// that come again are replaced.
    pub fn next(&self) -> usize {
        self.rows() / STRIDE * STRIDE
    }

    /// Takes the rows of a snapshot at `step`. Rows that are there already are replaced; rows that do not join on (the
    /// device has dropped every second one, or the flow has started anew) make the store ask for all.
    pub fn take(&mut self, history: &History, step: u64) {
        if step < self.last_step {
            self.values.clear();
        }
        self.last_step = step;
        if history.columns.is_empty() {
            return;
        }
        if history.columns != self.columns {
            self.values.clear();
            self.columns = history.columns.clone();
        }
        let width = self.columns.len();
        if history.first_row > self.rows() {
            return;
        }
        let kept = history.first_row * width;
        if !self.joins_on(kept, history) {
            self.values.clear();
            return;
        }
        self.values.truncate(kept);
        self.values.extend_from_slice(&history.values[..history.values.len() / width * width]);
    }

    /// Whether steps go on in the same stride over the seam. The first column is the step.
    fn joins_on(&self, kept: usize, history: &History) -> bool {
        let width = self.columns.len();
        if kept < 2 * width || history.values.len() < width {
            return true;
        }
        let (before, last, next) =
            (self.values[kept - 2 * width], self.values[kept - width], history.values[0]);
        ((next - last) - (last - before)).abs() < 0.5
    }

    /// The place of a column.
    pub fn column(&self, key: &str) -> Option<usize> {
        self.columns.iter().position(|quantity| quantity.key == key)
    }

    /// Points of column `y` over column `x`, at most about `most` of them; what is not finite is left out.
    pub fn points(&self, x: usize, y: usize, most: usize) -> Vec<[f64; 2]> {
        let width = self.columns.len();
        if x >= width || y >= width {
            return Vec::new();
        }
        let stride = self.rows().div_ceil(most.max(1)).max(1);
        let rows = self.values.chunks_exact(width).step_by(stride);
        rows.map(|row| [row[x], row[y]]).filter(|p| p[0].is_finite() && p[1].is_finite()).collect()
    }

    /// All of it, as it is written to a file.
    pub fn history(&self) -> History {
        History { columns: self.columns.clone(), first_row: 0, values: self.values.clone() }
    }
}

/// Steps a second, measured over wall time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Speedometer {
    since: Option<(f64, u64)>,
    newest: Option<(f64, u64)>,
    now: f64,
    curve: Vec<[f64; 2]>,
}

impl Speedometer {
    /// The simulation is at `step` at `wall_s`; `running` is false while it stands still.
    pub fn record(&mut self, wall_s: f64, step: u64, running: bool) {
        if !running || self.newest.is_some_and(|(_, newest)| step < newest) {
            if self.newest.is_some_and(|(_, newest)| step < newest) {
                self.curve.clear();
            }
            self.stand();
        }
        if !running {
            return;
        }
        self.newest = Some((wall_s, step));
        let Some((start_s, start)) = self.since else {
            self.since = self.newest;
            return;
        };
        if wall_s - start_s >= SPEED_WINDOW_S {
            self.now = (step - start) as f64 / (wall_s - start_s);
            self.since = self.newest;
            self.curve.push([step as f64, self.now]);
            if self.curve.len() > MOST_SPEEDS {
                self.curve = self.curve.iter().skip(1).step_by(2).copied().collect();
            }
        }
    }

    /// The simulation stands still; the pause shall not count.
    pub fn stand(&mut self) {
        (self.since, self.newest, self.now) = (None, None, 0.0);
    }

    /// Steps a second over the last second; 0 while standing still or not known yet.
    pub fn steps_per_s(&self) -> f64 {
        self.now
    }

    /// Speed over step.
    pub fn curve(&self) -> &[[f64; 2]] {
        &self.curve
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(first_row: usize, steps: &[f64]) -> History {
        let columns =
            vec![Quantity::new("step", "step", "", ""), Quantity::new("energy", "energy", "E", "J")];
        History { columns, first_row, values: steps.iter().flat_map(|&s| [s, 10.0 * s]).collect() }
    }

    #[test]
    fn rows_join_on_and_late_answers_do_no_harm() {
        let mut store = HistoryStore::default();
        store.take(&history(0, &[1.0, 2.0, 3.0]), 3);
        assert_eq!((store.rows(), store.next()), (3, 0));
        store.take(&history(3, &[4.0, 5.0]), 5);
        // An answer to an older request overlaps.
        store.take(&history(3, &[4.0, 5.0, 6.0]), 6);
        assert_eq!(store.points(0, 1, 100).last(), Some(&[6.0, 60.0]));
        assert_eq!(store.rows(), 6);
        // Nothing new, and rows beyond the end, which cannot be placed.
        store.take(&history(6, &[]), 6);
        store.take(&history(9, &[10.0]), 10);
        assert_eq!(store.rows(), 6);
        assert_eq!(store.points(0, 1, 3).len(), 3);
        assert_eq!(store.history().values.len(), 12);
        store.take(&history(0, &(1..=150).map(f64::from).collect::<Vec<_>>()), 150);
        assert_eq!(store.next(), 128);
    }

    #[test]
    fn a_thinned_history_and_a_restart_are_fetched_anew() {
        let mut store = HistoryStore::default();
        store.take(&history(0, &[1.0, 2.0, 3.0]), 3);
        // The device now keeps every second row: its fourth row is step 8.
        store.take(&history(3, &[8.0]), 8);
        assert_eq!(store.rows(), 0);
        store.take(&history(0, &[2.0, 4.0, 6.0, 8.0]), 8);
        assert_eq!(store.rows(), 4);
        // Restarted: the step falls, and the rows begin at 0 again.
        store.take(&history(0, &[1.0]), 1);
        assert_eq!(store.points(0, 1, 10), [[1.0, 10.0]]);
        // Restarted, and answered from the middle before it was asked for all.
        store.take(&history(0, &[1.0, 2.0]), 9);
        store.take(&history(2, &[3.0]), 3);
        assert_eq!(store.rows(), 0);
    }

    #[test]
    fn other_columns_are_another_history() {
        let mut store = HistoryStore::default();
        store.take(&history(0, &[1.0, 2.0]), 2);
        let mut other = history(0, &[1.0]);
        other.columns[1] = Quantity::new("heat_cone", "heat into cone", "Q", "W");
        store.take(&other, 3);
        assert_eq!((store.column("energy"), store.column("heat_cone"), store.rows()), (None, Some(1), 1));
    }

    #[test]
    fn speed_is_steps_over_wall_time() {
        let mut speed = Speedometer::default();
        for tick in 0..=40 {
            speed.record(0.05 * f64::from(tick), 10 * tick as u64, true);
        }
        assert!((speed.steps_per_s() - 200.0).abs() < 1e-9);
        let points = speed.curve().len();
        assert!(points == 1 || points == 2, "{points}");
        speed.record(2.5, 400, false);
        assert_eq!(speed.steps_per_s(), 0.0);
        assert_eq!(speed.curve().len(), points);
        // A restart forgets the curve.
        speed.record(3.0, 410, true);
        speed.record(3.1, 0, true);
        assert!(speed.curve().is_empty());
    }
}
