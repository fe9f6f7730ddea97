//! When the next steps are due, how many are done at once, and how fast they go.
//! Must not know the simulation; clocks are read by the caller, so that all here is a pure function of time.

use std::time::{Duration, Instant};

/// How fast a simulation goes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Pace {
    /// Stands still.
    #[default]
    Paused,
    /// So many steps more, then [`Pace::Paused`].
    Steps(u64),
    /// As fast as it can.
    Free,
    /// Tied to the wall clock, or slower where the device is too slow for it.
    RealTime {
        /// Simulated seconds in a second of wall clock; positive.
        rate: f64,
    },
    /// As fast as it can up to that step (counted from the beginning of the run).
    Until(u64),
}

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Due {
    /// At most so many steps, now.
    Steps(u64),
    /// Nothing before this much time has passed.
    Wait(Duration),
    /// Nothing before another order.
    Paused,
    /// The step of [`Pace::Until`] has been reached.
    Finished,
}

/// Steps that real time may lag behind before the lag is forgotten, as a time.
const LONGEST_LAG: Duration = Duration::from_millis(250);
/// Longest time between two looks at the clock.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Follows a [`Pace`].
#[derive(Debug)]
pub(super) struct Pacer {
    pace: Pace,
    anchor: Instant,
    done_since_anchor: u64,
}

impl Pacer {
    pub(super) fn new(pace: Pace, now: Instant) -> Self {
        Self { pace, anchor: now, done_since_anchor: 0 }
    }

    pub(super) fn set(&mut self, pace: Pace, now: Instant) {
        *self = Self::new(pace, now);
    }

    /// Real time counts from now on: after a pause for another reason, or a change of the time step.
    pub(super) fn restart_clock(&mut self, now: Instant) {
        self.set(self.pace, now);
    }

    /// What is due at `now`, after `step` steps of `time_step_s` each.
    pub(super) fn due(&mut self, step: u64, time_step_s: f64, now: Instant) -> Due {
        match self.pace {
            Pace::Paused | Pace::Steps(0) => Due::Paused,
            Pace::Steps(left) => Due::Steps(left),
            Pace::Free => Due::Steps(u64::MAX),
            Pace::Until(end) if step >= end => Due::Finished,
            Pace::Until(end) => Due::Steps(end - step),
            Pace::RealTime { rate } => self.real_time(rate / time_step_s, now),
        }
    }

    fn real_time(&mut self, steps_per_s: f64, now: Instant) -> Due {
        if !(steps_per_s > 0.0 && steps_per_s.is_finite()) {
            return Due::Wait(LONGEST_WAIT);
        }
        let wanted = now.saturating_duration_since(self.anchor).as_secs_f64() * steps_per_s;
        let behind = wanted - self.done_since_anchor as f64;
        if behind >= 1.0 {
            let lag = LONGEST_LAG.as_secs_f64() * steps_per_s;
            if behind > lag.max(2.0) {
                self.restart_clock(now);
                return Due::Steps(1);
            }
            return Due::Steps(behind as u64);
        }
        let wait = (1.0 - behind) / steps_per_s;
        Due::Wait(Duration::try_from_secs_f64(wait).unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT))
    }

    /// `steps` steps have been done.
    pub(super) fn advanced(&mut self, steps: u64) {
        self.done_since_anchor += steps;
        if let Pace::Steps(left) = &mut self.pace {
            *left = left.saturating_sub(steps);
        }
    }
}

/// Chooses how many steps are done between two looks at the orders.
#[derive(Debug)]
pub(super) struct Slicer {
    seconds_per_step: f64,
    steps: u32,
}

/// Aimed at: half of the 1/30 s within which an order is looked at, since a step is not always as long as the last.
const SLICE_SECONDS: f64 = 1.0 / 60.0;

impl Slicer {
    pub(super) fn new() -> Self {
        Self { seconds_per_step: 0.0, steps: 1 }
    }

    /// Steps of the next slice, at least 1.
    pub(super) fn steps(&self) -> u32 {
        self.steps
    }

    /// `steps` steps took `time`.
    pub(super) fn record(&mut self, steps: u32, time: Duration) {
        let measured = time.as_secs_f64() / f64::from(steps.max(1));
        // Slower steps count at once, faster ones only when they last: orders must not wait.
        self.seconds_per_step = measured.max(0.7 * self.seconds_per_step + 0.3 * measured);
        let fit = SLICE_SECONDS / self.seconds_per_step.max(1e-9);
        self.steps = (fit as u32).clamp(1, self.steps.saturating_mul(2));
    }
}

/// Steps a second, averaged over about a second.
#[derive(Debug)]
pub(super) struct SpeedMeter {
    since: Option<Instant>,
    steps: u64,
    steps_per_s: f64,
}

impl SpeedMeter {
    pub(super) fn new() -> Self {
        Self { since: None, steps: 0, steps_per_s: 0.0 }
    }

    /// `steps` steps more were done up to `now`; returns steps/s.
    pub(super) fn record(&mut self, steps: u64, now: Instant) -> f64 {
        let since = *self.since.get_or_insert(now);
        self.steps += steps;
        let seconds = now.saturating_duration_since(since).as_secs_f64();
        if seconds >= 0.1 {
            let rate = self.steps as f64 / seconds;
            let old = (-seconds).exp();
            self.steps_per_s =
                if self.steps_per_s > 0.0 { old * self.steps_per_s + (1.0 - old) * rate } else { rate };
            self.since = Some(now);
            self.steps = 0;
        }
        self.steps_per_s
    }

    /// The simulation stands still: the pause shall not count.
    pub(super) fn stand(&mut self) {
        *self = Self::new();
    }

    /// The clock starts, if it does not run already.
    pub(super) fn start(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn counted_paces_end() {
        let now = Instant::now();
        let mut pacer = Pacer::new(Pace::Steps(10), now);
        assert_eq!(pacer.due(5, 1.0, now), Due::Steps(10));
        pacer.advanced(4);
        assert_eq!(pacer.due(9, 1.0, now), Due::Steps(6));
        pacer.advanced(6);
        assert_eq!(pacer.due(15, 1.0, now), Due::Paused);

        pacer.set(Pace::Until(20), now);
        assert_eq!(pacer.due(15, 1.0, now), Due::Steps(5));
        assert_eq!(pacer.due(20, 1.0, now), Due::Finished);
        assert_eq!(pacer.due(25, 1.0, now), Due::Finished);
        // After a restart the same goal holds again.
        assert_eq!(pacer.due(0, 1.0, now), Due::Steps(20));

        pacer.set(Pace::Paused, now);
        assert_eq!(pacer.due(0, 1.0, now), Due::Paused);
        pacer.set(Pace::Free, now);
        assert_eq!(pacer.due(0, 1.0, now), Due::Steps(u64::MAX));
    }

    #[test]
    fn real_time_follows_the_clock() {
        let start = Instant::now();
        // 1 us steps at 1e-4 s/s: 100 steps a second.
        let mut pacer = Pacer::new(Pace::RealTime { rate: 1e-4 }, start);
        let mut done = 0;
        for millisecond in 0..=2000 {
            match pacer.due(done, 1e-6, start + ms(millisecond)) {
                Due::Steps(steps) => {
                    pacer.advanced(steps);
                    done += steps;
                }
                Due::Wait(wait) => assert!(wait <= ms(10) + Duration::from_micros(1), "{wait:?}"),
                other => panic!("{other:?}"),
            }
        }
        assert!((199..=200).contains(&done), "{done}");
    }

    #[test]
    fn real_time_forgets_what_the_device_could_not_do() {
        let start = Instant::now();
        let mut pacer = Pacer::new(Pace::RealTime { rate: 1.0 }, start);
        // 1000 steps a second wanted, and ten seconds of standing still.
        assert_eq!(pacer.due(0, 1e-3, start + ms(10_000)), Due::Steps(1));
        pacer.advanced(1);
        assert!(matches!(pacer.due(1, 1e-3, start + ms(10_000)), Due::Wait(_)));
        let Due::Steps(steps) = pacer.due(1, 1e-3, start + ms(10_100)) else { panic!("steps are due") };
        assert!((98..=99).contains(&steps), "{steps}");
        // A time step that makes no sense stands still instead of running away.
        assert_eq!(pacer.due(1, 0.0, start + ms(10_100)), Due::Wait(LONGEST_WAIT));
        assert_eq!(pacer.due(1, f64::NAN, start + ms(10_100)), Due::Wait(LONGEST_WAIT));
    }

    #[test]
    fn slices_stay_short() {
        let mut slicer = Slicer::new();
        let step = Duration::from_micros(100);
        for _ in 0..20 {
            let steps = slicer.steps();
            assert!(step * steps <= ms(1000) / 30, "{steps}");
            slicer.record(steps, step * steps);
        }
        assert!((160..=167).contains(&slicer.steps()), "{}", slicer.steps());
        // Ten times slower from one slice to the next: the very next slice is short again.
        let steps = slicer.steps();
        slicer.record(steps, 10 * step * steps);
        assert!((15..=17).contains(&slicer.steps()), "{}", slicer.steps());
        // Steps longer than a slice are done one by one; steps of no measurable length only double.
        slicer.record(1, ms(500));
        assert_eq!(slicer.steps(), 1);
        let mut slicer = Slicer::new();
        slicer.record(1, Duration::ZERO);
        assert_eq!(slicer.steps(), 2);
    }

    #[test]
    fn the_speed_is_an_average() {
        let start = Instant::now();
        let mut meter = SpeedMeter::new();
        meter.start(start);
        let mut speed = 0.0;
        for tick in 1..=50 {
            speed = meter.record(10, start + ms(20 * tick));
        }
        assert!((speed - 500.0).abs() < 1e-6, "{speed}");
        for tick in 51..=500 {
            speed = meter.record(20, start + ms(20 * tick));
        }
        assert!((speed - 1000.0).abs() < 1.0, "{speed}");
        meter.stand();
        assert_eq!(meter.record(0, start + ms(100_000)), 0.0);
    }
}
