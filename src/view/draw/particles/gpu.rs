//! Particles in the render world: buffers, bindings, pipelines, the draw call.
//! Must not know devices or physics. Nothing is made anew in a steady frame: no buffer, no copy of the particles.

use super::upload::{Ring, roomy};
use super::{
    Coloring, ParticleBlend, ParticleCloud, ParticlePaint, ParticleStyle, STRIDE, Shown, code_color,
};
use crate::sim::{Fields, Paint, Snapshot};
use crate::view::flow::{Flow, Stamp};
use crate::view::simulation::Exact;
use crate::view::stage::Stage;
use bevy::asset::{load_internal_asset, uuid_handle};
use bevy::camera::visibility::RenderLayers;
use bevy::color::{ColorToComponents, LinearRgba, Srgba};
use bevy::core_pipeline::core_3d::{CORE_3D_DEPTH_FORMAT, main_opaque_pass_3d, main_transparent_pass_3d};
use bevy::core_pipeline::{Core3d, Core3dSystems};
use bevy::mesh::PrimitiveTopology;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::render_resource::binding_types::{
    storage_buffer_read_only_sized, uniform_buffer, uniform_buffer_sized,
};
use bevy::render::render_resource::*;
use bevy::render::renderer::{RenderContext, RenderDevice, RenderQueue, ViewQuery};
use bevy::render::view::{ViewDepthTexture, ViewTarget, ViewUniform, ViewUniformOffset, ViewUniforms};
use bevy::render::{Extract, ExtractSchedule, Render, RenderApp, RenderStartup, RenderSystems};
use bytemuck::{Pod, Zeroable, bytes_of, cast_slice};
use std::num::NonZeroU64;
use std::sync::{Mutex, PoisonError};

const SHADER: Handle<Shader> = uuid_handle!("5e0c9f2a-7a60-4d2e-9c58-3a1d0c7c6f21");
const PARAMS_BYTES: u64 = size_of::<Params>() as u64;

/// As in the shader.
#[derive(Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Params {
    middle: [f32; 3],
    scale: f32,
    low: f32,
    inverse_range: f32,
    radius: f32,
    min_pixels: f32,
    corner: [f32; 3],
    opacity: f32,
    cells_per_metre: [f32; 3],
    mode: u32,
    cells: [u32; 3],
    logarithmic: u32,
    colors: [[f32; 4]; 256],
}

/// What the picture depends on beside the snapshot.
#[derive(Debug, Clone, PartialEq)]
struct Look {
    cloud: ParticleCloud,
    coloring: Coloring,
    stage: Stage,
}

/// Buffers and bindings.
#[derive(Resource, Default)]
pub(super) struct Gpu {
    ring: Ring,
    params: Option<Buffer>,
    particles: Option<Buffer>,
    cells: Option<Buffer>,
    /// Of the view uniforms, with the buffer that it binds.
    view_binding: Option<(BufferId, BindGroup)>,
    data_binding: Option<BindGroup>,
    /// What the buffers hold.
    look: Option<Look>,
    pub(super) stamp: Stamp,
    count: u32,
    visible: bool,
    made: u64,
    /// Snapshots taken over.
    uploads: u64,
}

#[derive(Resource)]
struct Pipelines {
    view_layout: BindGroupLayoutDescriptor,
    data_layout: BindGroupLayoutDescriptor,
    variants: Mutex<HashMap<Key, CachedRenderPipelineId>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    format: TextureFormat,
    samples: u32,
    style: ParticleStyle,
    blend: ParticleBlend,
}

pub(super) fn build(app: &mut App) {
    load_internal_asset!(app, SHADER, "particles.wgsl", Shader::from_wgsl);
    // Without a render app (tests of the rest) there is nothing to draw.
    let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
    render_app
        .init_resource::<Gpu>()
        .add_systems(RenderStartup, init)
        .add_systems(ExtractSchedule, extract)
        .add_systems(Render, prepare.in_set(RenderSystems::PrepareBindGroups))
        .add_systems(
            Core3d,
            draw.after(main_opaque_pass_3d).before(main_transparent_pass_3d).in_set(Core3dSystems::MainPass),
        );
}

/// Particles that a buffer of this device can hold: eight million at least.
pub(super) fn most(device: &RenderDevice) -> usize {
    let limits = device.limits();
    let bytes = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size / 2);
    // An upload buffer holds the cells as well. Vertices are counted by 32 bits, three a particle.
    usize::try_from((bytes / STRIDE).min(u64::from(u32::MAX / 3))).unwrap_or(usize::MAX)
}

/// Buffers that the particles have made since the app began: to be the same after steady frames.
pub fn buffers_made(app: &App) -> u64 {
    let gpu = app.get_sub_app(RenderApp).and_then(|render| render.world().get_resource::<Gpu>());
    gpu.map_or(0, |gpu| gpu.made + gpu.ring.made)
}

/// Snapshots whose particles have been uploaded since the app began.
pub fn uploads(app: &App) -> u64 {
    let gpu = app.get_sub_app(RenderApp).and_then(|render| render.world().get_resource::<Gpu>());
    gpu.map_or(0, |gpu| gpu.uploads)
}

/// The storage buffers of the particles and of the cell values; none before the first upload.
pub fn buffers(app: &App) -> Vec<BufferId> {
    let gpu = app.get_sub_app(RenderApp).and_then(|render| render.world().get_resource::<Gpu>());
    gpu.into_iter().flat_map(|gpu| [&gpu.particles, &gpu.cells]).flatten().map(Buffer::id).collect()
}

fn init(mut commands: Commands) {
    commands.insert_resource(Pipelines {
        view_layout: BindGroupLayoutDescriptor::new(
            "particle_view",
            &BindGroupLayoutEntries::sequential(
                ShaderStages::VERTEX_FRAGMENT,
                (
                    uniform_buffer::<ViewUniform>(true),
                    uniform_buffer_sized(false, NonZeroU64::new(PARAMS_BYTES)),
                ),
            ),
        ),
        data_layout: BindGroupLayoutDescriptor::new(
            "particle_data",
            &BindGroupLayoutEntries::sequential(
                ShaderStages::VERTEX,
                (storage_buffer_read_only_sized(false, None), storage_buffer_read_only_sized(false, None)),
            ),
        ),
        variants: Mutex::default(),
    });
}

/// Takes over settings and new particles, straight from the snapshot: all that belongs together, or nothing while no
/// upload buffer is free.
fn extract(
    flow: Extract<Option<Res<Flow>>>,
    stage: Extract<Option<Res<Stage>>>,
    exact: Extract<Option<Res<Exact>>>,
    clouds: Extract<Query<(&ParticleCloud, &Shown)>>,
    device: Res<RenderDevice>,
    queue: Res<RenderQueue>,
    mut gpu: ResMut<Gpu>,
) {
    let gpu = &mut *gpu;
    gpu.visible = false;
    let (Some(flow), Some(stage)) = (flow.as_ref(), stage.as_ref()) else { return };
    let Some((cloud, shown)) = clouds.iter().find(|(cloud, _)| cloud.visible) else { return };
    gpu.visible = true;
    let settled = gpu
        .look
        .as_ref()
        .is_some_and(|look| look.coloring == shown.coloring && look.stage == **stage && look.cloud == *cloud);
    let look = || Look { cloud: cloud.clone(), coloring: shown.coloring, stage: **stage };
    let to = Road { device: &device, queue: &queue, exact: exact.as_ref().is_some_and(|exact| exact.0) };
    let mut stamp = gpu.stamp;
    let taken = flow.read_new(&mut stamp, |snapshot| {
        // Published since the colours were resolved, with values of another meaning: the next frame has both.
        snapshot.paint == shown.paint && gpu.take(look(), snapshot, true, to)
    });
    match taken {
        Some(true) => gpu.stamp = stamp,
        None if !settled => {
            flow.read(|snapshot| gpu.take(look(), snapshot, false, to));
        }
        _ => {}
    }
}

/// Where uploads go, and whether they may wait.
#[derive(Clone, Copy)]
struct Road<'a> {
    device: &'a RenderDevice,
    queue: &'a RenderQueue,
    exact: bool,
}

impl Gpu {
    /// Uploads the look, the particles if they are `new`, and the cells if they are looked at; false if that must wait.
    fn take(&mut self, look: Look, snapshot: &Snapshot, new: bool, to: Road<'_>) -> bool {
        let limit = to.device.limits().max_storage_buffer_binding_size;
        // The cells go along with every change of the look, since that may be the one that needs them.
        let values = match (&look.coloring, &look.cloud.paint) {
            (Coloring::Cells(_), ParticlePaint::Field(key)) => snapshot
                .fields
                .as_ref()
                .and_then(|fields| Some((fields, fields.column(key)?.values.as_slice())))
                .filter(|(_, values)| size_of_val(*values) as u64 <= limit),
            _ => None,
        };
        let drawn = &snapshot.drawn[..snapshot.drawn.len().min(most(to.device))];
        let particles: &[u8] = if new { cast_slice(drawn) } else { &[] };
        let cells: &[u8] = values.map_or(&[], |(_, values)| cast_slice(values));
        let params = params(&look, values.map(|(fields, _)| fields), snapshot.paint);
        let bytes = PARAMS_BYTES + (particles.len() + cells.len()) as u64;
        let Some(ticket) = self.ring.reserve(to.device, bytes, to.exact) else { return false };
        let sizes = [PARAMS_BYTES, particles.len() as u64, cells.len() as u64];
        let [Some(params_buffer), Some(particles_buffer), Some(cells_buffer)] =
            self.fit(sizes, limit, to.device)
        else {
            return false;
        };
        let parts =
            [(bytes_of(&params), params_buffer), (particles, particles_buffer), (cells, cells_buffer)];
        self.ring.upload(ticket, to.device, to.queue, &parts);
        if new {
            self.count = drawn.len() as u32;
            self.uploads += 1;
        }
        self.look = Some(look);
        true
    }

    /// The buffers of settings, particles and cells, made anew only where they are too small.
    fn fit(&mut self, sizes: [u64; 3], limit: u64, device: &RenderDevice) -> [Option<Buffer>; 3] {
        let uses = [BufferUsages::UNIFORM, BufferUsages::STORAGE, BufferUsages::STORAGE];
        let labels = ["particle_params", "particles", "particle_cells"];
        let slots = [&mut self.params, &mut self.particles, &mut self.cells];
        for (((slot, size), usage), label) in slots.into_iter().zip(sizes).zip(uses).zip(labels) {
            if slot.as_ref().is_none_or(|buffer| buffer.size() < size) {
                *slot = Some(device.create_buffer(&BufferDescriptor {
                    label: Some(label),
                    size: roomy(size).min(limit).max(size),
                    usage: usage | BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                }));
                self.made += 1;
                self.view_binding = None;
                self.data_binding = None;
            }
        }
        [self.params.clone(), self.particles.clone(), self.cells.clone()]
    }
}

fn params(look: &Look, fields: Option<&Fields>, paint: Paint) -> Params {
    let linear = |[r, g, b]: [u8; 3]| LinearRgba::from(Srgba::rgb_u8(r, g, b)).to_f32_array();
    let (mode, colors) = match look.coloring {
        Coloring::Grey => (0, None),
        Coloring::Values(colors) => (1, Some(colors)),
        Coloring::Codes => (2, None),
        // Without its cells there is no colour.
        Coloring::Cells(colors) => (if fields.is_some() { 3 } else { 0 }, Some(colors)),
    };
    let table = |i: usize| match colors {
        Some(colors) => linear(colors.map.color(i as f64 / 255.0)),
        None => linear(code_color(paint, i)),
    };
    let grid = |of: &dyn Fn(&Fields, usize) -> f32| {
        std::array::from_fn(|a| fields.map_or(0.0, |fields| of(fields, a)))
    };
    Params {
        middle: look.stage.middle_m.map(|x| x as f32),
        scale: look.stage.scale() as f32,
        low: colors.map_or(0.0, |colors| colors.low),
        inverse_range: colors.map_or(1.0, |colors| {
            1.0 / if colors.log { (colors.high / colors.low).ln() } else { colors.high - colors.low }
        }),
        radius: look.cloud.radius,
        min_pixels: look.cloud.min_pixels,
        corner: grid(&|fields, a| fields.corner_m[a] as f32),
        opacity: look.cloud.opacity.clamp(0.0, 1.0),
        cells_per_metre: grid(&|fields, a| (f64::from(fields.cells[a]) / fields.size_m[a]) as f32),
        mode,
        cells: fields.map_or([1; 3], |fields| fields.cells),
        logarithmic: colors.is_some_and(|colors| colors.log).into(),
        colors: std::array::from_fn(table),
    }
}

fn prepare(
    mut gpu: ResMut<Gpu>,
    pipelines: Res<Pipelines>,
    cache: Res<PipelineCache>,
    views: Res<ViewUniforms>,
    device: Res<RenderDevice>,
) {
    let gpu = &mut *gpu;
    let (Some(params), Some(particles), Some(cells)) = (&gpu.params, &gpu.particles, &gpu.cells) else {
        return;
    };
    let (Some(buffer), Some(view)) = (views.uniforms.buffer(), views.uniforms.binding()) else { return };
    // The view's buffer moves when more views come.
    if gpu.view_binding.as_ref().is_none_or(|(of, _)| *of != buffer.id()) {
        let binding = device.create_bind_group(
            "particle_view",
            &cache.get_bind_group_layout(&pipelines.view_layout),
            &BindGroupEntries::sequential((view, params.as_entire_binding())),
        );
        gpu.view_binding = Some((buffer.id(), binding));
    }
    gpu.data_binding.get_or_insert_with(|| {
        device.create_bind_group(
            "particle_data",
            &cache.get_bind_group_layout(&pipelines.data_layout),
            &BindGroupEntries::sequential((particles.as_entire_binding(), cells.as_entire_binding())),
        )
    });
}

/// What is asked of a camera.
type SeenBy = (
    &'static ExtractedCamera,
    &'static ViewTarget,
    &'static ViewDepthTexture,
    &'static ViewUniformOffset,
    &'static Msaa,
    Option<&'static RenderLayers>,
);

fn draw(
    view: ViewQuery<SeenBy>,
    gpu: Res<Gpu>,
    pipelines: Option<Res<Pipelines>>,
    cache: Res<PipelineCache>,
    mut context: RenderContext,
) {
    let (camera, target, depth, offset, msaa, layers) = view.into_inner();
    // Cameras that see handles or panels only, not the flow.
    if layers.is_some_and(|layers| !layers.intersects(&RenderLayers::default())) {
        return;
    }
    let (Some(pipelines), Some((_, view_binding)), Some(data), Some(look)) =
        (pipelines, &gpu.view_binding, &gpu.data_binding, &gpu.look)
    else {
        return;
    };
    if !gpu.visible || gpu.count == 0 {
        return;
    }
    let key = Key {
        format: target.main_texture_format(),
        samples: msaa.samples(),
        style: look.cloud.style,
        blend: look.cloud.blend,
    };
    let mut variants = pipelines.variants.lock().unwrap_or_else(PoisonError::into_inner);
    let id = *variants.entry(key).or_insert_with(|| cache.queue_render_pipeline(pipelines.descriptor(key)));
    drop(variants);
    let Some(render_pipeline) = cache.get_render_pipeline(id) else { return };
    let color = [Some(target.get_color_attachment())];
    let mut pass = context.begin_tracked_render_pass(RenderPassDescriptor {
        label: Some("particles"),
        color_attachments: &color,
        depth_stencil_attachment: Some(depth.get_attachment(StoreOp::Store)),
        timestamp_writes: None,
        occlusion_query_set: None,
        multiview_mask: None,
    });
    if let Some(viewport) = &camera.viewport {
        pass.set_camera_viewport(viewport);
    }
    pass.set_render_pipeline(render_pipeline);
    pass.set_bind_group(0, view_binding, &[offset.offset]);
    pass.set_bind_group(1, data, &[]);
    let vertices = if key.style == ParticleStyle::Points { 1 } else { 3 };
    pass.draw(0..vertices * gpu.count, 0..1);
}

impl Pipelines {
    fn descriptor(&self, key: Key) -> RenderPipelineDescriptor {
        let (points, additive) = (key.style == ParticleStyle::Points, key.blend == ParticleBlend::Additive);
        let mut shader_defs = Vec::new();
        if points {
            shader_defs.push("POINTS".into());
        }
        if additive {
            shader_defs.push("ADDITIVE".into());
        }
        let sum = BlendComponent {
            src_factor: BlendFactor::One,
            dst_factor: BlendFactor::One,
            operation: BlendOperation::Add,
        };
        let blend = additive.then_some(BlendState { color: sum, alpha: sum });
        RenderPipelineDescriptor {
            label: Some("particles".into()),
            layout: vec![self.view_layout.clone(), self.data_layout.clone()],
            vertex: VertexState { shader: SHADER, shader_defs: shader_defs.clone(), ..default() },
            fragment: Some(FragmentState {
                shader: SHADER,
                shader_defs,
                targets: vec![Some(ColorTargetState {
                    format: key.format,
                    blend,
                    write_mask: ColorWrites::ALL,
                })],
                ..default()
            }),
            primitive: PrimitiveState {
                topology: if points { PrimitiveTopology::PointList } else { PrimitiveTopology::TriangleList },
                ..default()
            },
            depth_stencil: Some(DepthStencilState {
                format: CORE_3D_DEPTH_FORMAT,
                // Light hides nothing.
                depth_write_enabled: Some(!additive),
                // Depth is reversed in Bevy: near is large.
                depth_compare: Some(CompareFunction::GreaterEqual),
                stencil: default(),
                bias: default(),
            }),
            multisample: MultisampleState { count: key.samples, ..default() },
            ..default()
        }
    }
}
