//! Counts what a frame makes on the GPU, and times its way to the driver.
//! Must not know what is measured with it.

use crate::view::draw::particles::buffers_made;
use crate::view::headless::Headless;
use bevy::prelude::*;
use bevy::render::renderer::{RenderDevice, RenderGraph, RenderGraphSystems};
use bevy::render::{Render, RenderApp, RenderSystems};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Counts and times inside the frames of this app.
pub(super) fn install(app: &mut App) {
    let Some(render) = app.get_sub_app_mut(RenderApp) else { return };
    render
        .init_resource::<Census>()
        .init_resource::<Handover>()
        .add_systems(
            RenderGraph,
            handover_begins.after(RenderGraphSystems::Render).before(RenderGraphSystems::Submit),
        )
        .add_systems(Render, handover_ends.after(RenderSystems::Render).before(RenderSystems::Cleanup))
        .add_systems(Render, take_census.after(RenderSystems::Render).before(RenderSystems::Cleanup));
}

/// Time that the last frame spent handing its work to the driver.
pub(super) fn handover(app: &App) -> Duration {
    app.sub_app(RenderApp).world().resource::<Handover>().time
}

/// Time that the last frame spent handing its work to the driver, from the first submission to the last. A driver in
/// software may draw the picture in it.
#[derive(Default, Resource)]
struct Handover {
    start: Option<Instant>,
    time: Duration,
}

fn handover_begins(mut handover: ResMut<Handover>) {
    handover.start = Some(Instant::now());
}

fn handover_ends(mut handover: ResMut<Handover>) {
    handover.time = handover.start.take().map_or(Duration::ZERO, |start| start.elapsed());
}

/// Live allocations by label, as seen right after a frame was handed to the driver.
#[derive(Default, Resource)]
struct Census {
    on: bool,
    alive: BTreeMap<String, usize>,
}

/// What was counted in some frames.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) frames: usize,
    /// Made by the code of the particles.
    by_particles: u64,
    /// Alive between frames; `None` where the driver does not tell.
    alive: Option<usize>,
    /// Frames after which another number was alive than before.
    changed: usize,
    /// Alive only within frames, by label, over all frames.
    passing: BTreeMap<String, usize>,
}

impl Tally {
    /// Draws a frame in which allocations are counted.
    pub(super) fn frame(&mut self, headless: &mut Headless) {
        let app = headless.app();
        let (before, made) = (alive(app.world().resource::<RenderDevice>()), buffers_made(app));
        set_census(app, true);
        super::frame(app);
        set_census(app, false);
        let after = alive(app.world().resource::<RenderDevice>());
        self.frames += 1;
        self.by_particles += buffers_made(app) - made;
        let (Some(before), Some(after)) = (before, after) else { return };
        self.alive = Some(after.values().sum());
        self.changed += usize::from(after != before);
        let during = &app.sub_app(RenderApp).world().resource::<Census>().alive;
        for (name, &count) in during {
            let new = count.saturating_sub(before.get(name).copied().unwrap_or(0));
            if new > 0 {
                *self.passing.entry(name.clone()).or_default() += new;
            }
        }
    }

    /// In words.
    pub(super) fn text(&self) -> String {
        let alive = self.alive.map_or("unknown".to_string(), |alive| alive.to_string());
        let passing: Vec<String> = self
            .passing
            .iter()
            .map(|(name, &count)| format!("{:.1} {name:?}", count as f64 / self.frames.max(1) as f64))
            .collect();
        format!(
            "made by particles {}, alive {alive}, frames that changed it {}, within a frame: {}",
            self.by_particles,
            self.changed,
            if passing.is_empty() { "none".to_string() } else { passing.join(", ") }
        )
    }
}

fn set_census(app: &mut App, on: bool) {
    app.sub_app_mut(RenderApp).world_mut().resource_mut::<Census>().on = on;
}

fn take_census(mut census: ResMut<Census>, device: Res<RenderDevice>) {
    if census.on {
        census.alive = alive(&device).unwrap_or_default();
    }
}

/// Live buffers and images by label; `None` where the driver's allocator does not tell.
fn alive(device: &RenderDevice) -> Option<BTreeMap<String, usize>> {
    let mut counts = BTreeMap::new();
    for one in device.wgpu_device().generate_allocator_report()?.allocations {
        *counts.entry(one.name).or_default() += 1;
    }
    Some(counts)
}
