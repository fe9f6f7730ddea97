//! Particles from one persistent storage buffer, 16 bytes each, written only when the snapshot changes.
//! Must not know devices or physics. Nothing is made anew in a steady frame: no buffer, no copy of the particles.

use super::Colors;
use crate::view::flow::Flow;
use crate::view::stage::Stage;
use bevy::asset::{load_internal_asset, uuid_handle};
use bevy::core_pipeline::core_3d::{CORE_3D_DEPTH_FORMAT, main_opaque_pass_3d, main_transparent_pass_3d};
use bevy::core_pipeline::{Core3d, Core3dSystems};
use bevy::mesh::PrimitiveTopology;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::binding_types::{storage_buffer_read_only_sized, uniform_buffer};
use bevy::render::render_resource::*;
use bevy::render::renderer::{RenderContext, RenderDevice, RenderQueue, ViewQuery};
use bevy::render::view::{ViewDepthTexture, ViewTarget, ViewUniform, ViewUniformOffset, ViewUniforms};
use bevy::render::{Extract, ExtractSchedule, Render, RenderApp, RenderStartup, RenderSystems};
use std::sync::{Mutex, PoisonError};

const SHADER: Handle<Shader> = uuid_handle!("5e0c9f2a-7a60-4d2e-9c58-3a1d0c7c6f21");
/// Bytes of a drawn particle.
const STRIDE: u64 = 16;

/// How particles are drawn.
#[derive(Debug, Clone, PartialEq, Resource)]
pub struct ParticleSettings {
    /// Whether they are drawn at all.
    pub visible: bool,
    /// Colours by speed, m/s.
    pub colors: Colors,
    /// Radius, units of the picture (the domain's longest edge is 2).
    pub radius: f32,
    /// Smallest size, pixels.
    pub min_pixels: f32,
}

/// Draws particles.
pub struct ParticlePlugin;

#[derive(ShaderType, Clone, Copy)]
struct Params {
    middle: Vec3,
    scale: f32,
    low: f32,
    inverse_range: f32,
    radius: f32,
    min_pixels: f32,
    colors: [Vec4; 256],
}

/// Buffer and bindings in the render world.
#[derive(Resource, Default)]
struct Gpu {
    params: Option<UniformBuffer<Params>>,
    view_binding: Option<BindGroup>,
    buffer: Option<Buffer>,
    data_binding: Option<BindGroup>,
    count: u32,
    generation: u64,
    visible: bool,
}

#[derive(Resource)]
struct Pipeline {
    view_layout: BindGroupLayoutDescriptor,
    data_layout: BindGroupLayoutDescriptor,
    variants: Mutex<HashMap<(TextureFormat, u32), CachedRenderPipelineId>>,
}

impl Plugin for ParticlePlugin {
    fn build(&self, app: &mut App) {
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
                draw.after(main_opaque_pass_3d)
                    .before(main_transparent_pass_3d)
                    .in_set(Core3dSystems::MainPass),
            );
    }
}

fn init(mut commands: Commands) {
    commands.insert_resource(Pipeline {
        view_layout: BindGroupLayoutDescriptor::new(
            "particle_view",
            &BindGroupLayoutEntries::sequential(
                ShaderStages::VERTEX_FRAGMENT,
                (uniform_buffer::<ViewUniform>(true), uniform_buffer::<Params>(false)),
            ),
        ),
        data_layout: BindGroupLayoutDescriptor::new(
            "particle_data",
            &BindGroupLayoutEntries::single(
                ShaderStages::VERTEX,
                storage_buffer_read_only_sized(false, None),
            ),
        ),
        variants: Mutex::default(),
    });
}

/// Takes the settings over, and writes new particles straight from the snapshot into the buffer.
fn extract(
    flow: Extract<Option<Res<Flow>>>,
    stage: Extract<Option<Res<Stage>>>,
    settings: Extract<Option<Res<ParticleSettings>>>,
    device: Res<RenderDevice>,
    queue: Res<RenderQueue>,
    mut gpu: ResMut<Gpu>,
) {
    let (Some(flow), Some(stage), Some(settings)) = (flow.as_ref(), stage.as_ref(), settings.as_ref()) else {
        return;
    };
    let gpu = &mut *gpu;
    gpu.visible = settings.visible;
    if settings.is_changed() || stage.is_changed() || gpu.params.is_none() {
        let Colors { low, high, .. } = settings.colors;
        let color =
            |i: usize| Vec4::from_array(settings.colors.linear(low + (high - low) * i as f32 / 255.0));
        gpu.params = Some(UniformBuffer::from(Params {
            middle: Vec3::from_array(stage.middle_m.map(|x| x as f32)),
            scale: stage.scale() as f32,
            low,
            inverse_range: 1.0 / (high - low),
            radius: settings.radius,
            min_pixels: settings.min_pixels,
            colors: std::array::from_fn(color),
        }));
    }
    flow.read(|snapshot| {
        if snapshot.generation == gpu.generation {
            return;
        }
        gpu.generation = snapshot.generation;
        // What a buffer cannot hold is left out: the limit is 128 MB at least, eight million particles.
        let most = device.limits().max_storage_buffer_binding_size / STRIDE;
        let count = (snapshot.drawn.len() as u64).min(most);
        gpu.count = count as u32;
        if count == 0 {
            return;
        }
        if gpu.buffer.as_ref().is_none_or(|buffer| buffer.size() < count * STRIDE) {
            // Some room for more, so that a fluctuating number does not make a new buffer each time.
            let size = (count + count / 8).min(most) * STRIDE;
            gpu.buffer = Some(device.create_buffer(&BufferDescriptor {
                label: Some("particles"),
                size,
                usage: BufferUsages::STORAGE | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }));
            gpu.data_binding = None;
        }
        if let Some(buffer) = &gpu.buffer {
            queue.write_buffer(buffer, 0, bytemuck::cast_slice(&snapshot.drawn[..count as usize]));
        }
    });
}

fn prepare(
    mut gpu: ResMut<Gpu>,
    pipeline: Res<Pipeline>,
    cache: Res<PipelineCache>,
    views: Res<ViewUniforms>,
    device: Res<RenderDevice>,
    queue: Res<RenderQueue>,
) {
    let gpu = &mut *gpu;
    let (Some(params), Some(view)) = (gpu.params.as_mut(), views.uniforms.binding()) else { return };
    params.write_buffer(&device, &queue);
    let Some(params) = params.binding() else { return };
    // The view's buffer may move when views come and go, so its binding is made each frame.
    gpu.view_binding = Some(device.create_bind_group(
        "particle_view",
        &cache.get_bind_group_layout(&pipeline.view_layout),
        &BindGroupEntries::sequential((view, params)),
    ));
    if let (None, Some(buffer)) = (&gpu.data_binding, &gpu.buffer) {
        gpu.data_binding = Some(device.create_bind_group(
            "particle_data",
            &cache.get_bind_group_layout(&pipeline.data_layout),
            &BindGroupEntries::single(buffer.as_entire_binding()),
        ));
    }
}

fn draw(
    view: ViewQuery<(&ViewTarget, &ViewDepthTexture, &ViewUniformOffset, &Msaa)>,
    gpu: Res<Gpu>,
    pipeline: Option<Res<Pipeline>>,
    cache: Res<PipelineCache>,
    mut context: RenderContext,
) {
    let (target, depth, offset, msaa) = view.into_inner();
    let (Some(pipeline), Some(view_binding), Some(data)) = (pipeline, &gpu.view_binding, &gpu.data_binding)
    else {
        return;
    };
    if !gpu.visible || gpu.count == 0 {
        return;
    }
    let key = (target.main_texture_format(), msaa.samples());
    let mut variants = pipeline.variants.lock().unwrap_or_else(PoisonError::into_inner);
    let id = *variants.entry(key).or_insert_with(|| cache.queue_render_pipeline(pipeline.descriptor(key)));
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
    pass.set_render_pipeline(render_pipeline);
    pass.set_bind_group(0, view_binding, &[offset.offset]);
    pass.set_bind_group(1, data, &[]);
    pass.draw(0..4, 0..gpu.count);
}

impl Pipeline {
    fn descriptor(&self, (format, samples): (TextureFormat, u32)) -> RenderPipelineDescriptor {
        RenderPipelineDescriptor {
            label: Some("particles".into()),
            layout: vec![self.view_layout.clone(), self.data_layout.clone()],
            vertex: VertexState { shader: SHADER, ..default() },
            fragment: Some(FragmentState {
                shader: SHADER,
                targets: vec![Some(ColorTargetState { format, blend: None, write_mask: ColorWrites::ALL })],
                ..default()
            }),
            primitive: PrimitiveState { topology: PrimitiveTopology::TriangleStrip, ..default() },
            depth_stencil: Some(DepthStencilState {
                format: CORE_3D_DEPTH_FORMAT,
                depth_write_enabled: Some(true),
                // Depth is reversed in Bevy: near is large.
                depth_compare: Some(CompareFunction::GreaterEqual),
                stencil: default(),
                bias: default(),
            }),
            multisample: MultisampleState { count: samples, ..default() },
            ..default()
        }
    }
}
