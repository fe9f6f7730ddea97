// Particles as camera-facing discs shaded like spheres. No vertex buffer: everything comes from one storage buffer.
#import bevy_render::view::View

struct Params {
    middle: vec3<f32>, scale: f32,       // metres to units of the picture
    low: f32, inverse_range: f32,        // colour scale: speed at the lower end, 1 / (upper - lower)
    radius: f32, min_pixels: f32,        // size in units of the picture, never below so many pixels
    colors: array<vec4<f32>, 256>,       // linear colours of the map
};
@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<uniform> params: Params;
@group(1) @binding(0) var<storage, read> particles: array<vec4<f32>>; // x, y, z in metres, speed

struct Vertex {
    @builtin(position) clip: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) @interpolate(flat) color: vec3<f32>,
};

@vertex
fn vertex(@builtin(vertex_index) corner: u32, @builtin(instance_index) index: u32) -> Vertex {
    let uv = vec2(f32(corner & 1u), f32(corner >> 1u)) * 2.0 - 1.0;
    let particle = particles[index];
    let center = view.view_from_world * vec4((particle.xyz - params.middle) * params.scale, 1.0);
    let pixel = abs(center.z) * 2.0 / (view.viewport.w * view.clip_from_view[1][1]);
    let radius = max(params.radius, 0.5 * params.min_pixels * pixel);
    let t = clamp((particle.w - params.low) * params.inverse_range, 0.0, 1.0);
    var out: Vertex;
    out.clip = view.clip_from_view * vec4(center.xy + uv * radius, center.z, 1.0);
    out.uv = uv;
    out.color = params.colors[u32(t * 255.0)].rgb;
    return out;
}

@fragment
fn fragment(in: Vertex) -> @location(0) vec4<f32> {
    let r2 = dot(in.uv, in.uv);
    if r2 > 1.0 { discard; }
    let light = 0.45 + 0.55 * dot(vec3(in.uv, sqrt(1.0 - r2)), normalize(vec3(0.4, 0.6, 0.7)));
    return vec4(in.color * max(light, 0.3), 1.0);
}
