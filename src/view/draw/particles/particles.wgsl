// Particles as camera-facing discs shaded like balls, or as points. No vertex buffer: all comes from storage buffers.
#import bevy_render::view::View

struct Params {
    middle: vec3<f32>, scale: f32,          // metres to units of the picture
    low: f32, inverse_range: f32,           // colour scale: value at the lower end, 1 / (upper - lower), or of logarithms
    radius: f32, min_pixels: f32,           // size in units of the picture, smallest diameter in pixels
    corner: vec3<f32>, opacity: f32,        // lower corner of the cells, metres
    cells_per_metre: vec3<f32>, mode: u32,  // 0: grey, 1: values, 2: codes, 3: cells
    cells: vec3<u32>, logarithmic: u32,
    colors: array<vec4<f32>, 256>,          // linear colours of the map, or of the codes
};
@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<uniform> params: Params;
// x, y, z in metres and the value, as bits: arithmetic may take it for granted that there is no NaN.
@group(1) @binding(0) var<storage, read> particles: array<vec4<u32>>;
@group(1) @binding(1) var<storage, read> cell_values: array<u32>;

struct Vertex {
    @builtin(position) clip: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) @interpolate(flat) color: vec3<f32>,
    @location(2) @interpolate(flat) index: u32,
    @location(3) @interpolate(flat) pixels: f32, // radius
};

const GREY = vec3(0.21, 0.21, 0.21);

// The colour of a value, or grey if it is not finite.
fn shade(bits: u32) -> vec3<f32> {
    if (bits & 0x7f800000u) == 0x7f800000u { return GREY; }
    let value = bitcast<f32>(bits);
    if params.mode == 2u { return params.colors[u32(max(value, 0.0) + 0.5) & 255u].rgb; }
    var t = value - params.low;
    if params.logarithmic != 0u { t = log(max(value, 1.2e-38) / params.low); }
    return params.colors[u32(clamp(t * params.inverse_range, 0.0, 1.0) * 255.0 + 0.5)].rgb;
}

fn color(position: vec3<f32>, bits: u32) -> vec3<f32> {
    if params.mode == 0u { return GREY; }
    if params.mode < 3u { return shade(bits); }
    let inside = clamp((position - params.corner) * params.cells_per_metre, vec3(0.0), vec3<f32>(params.cells) - 0.5);
    let cell = vec3<u32>(inside);
    return shade(cell_values[(cell.z * params.cells.y + cell.y) * params.cells.x + cell.x]);
}

@vertex
fn vertex(@builtin(vertex_index) number: u32) -> Vertex {
#ifdef POINTS
    let index = number;
    let uv = vec2(0.0);
#else
    // One triangle around the disc.
    let index = number / 3u;
    var corners = array<vec2<f32>, 3>(vec2(-1.7320508, -1.0), vec2(1.7320508, -1.0), vec2(0.0, 2.0));
    let uv = corners[number % 3u];
#endif
    let particle = particles[index];
    let position = bitcast<vec3<f32>>(particle.xyz);
    let center = view.view_from_world * vec4((position - params.middle) * params.scale, 1.0);
    // In a perspective w is the distance, in a parallel projection it is 1: right for both.
    let w = (view.clip_from_view * vec4(center.xyz, 1.0)).w;
    let pixel = 2.0 * abs(w) / (view.viewport.w * view.clip_from_view[1][1]);
    let radius = max(params.radius, 0.5 * params.min_pixels * pixel);
    var out: Vertex;
    out.clip = view.clip_from_view * vec4(center.xy + uv * radius, center.z, 1.0);
    out.uv = uv;
    out.color = color(position, particle.w);
    out.index = index;
    out.pixels = radius / pixel;
    return out;
}

// A number from 0 to 1 that is the same in every frame.
fn dice(seed: vec3<u32>) -> f32 {
    var x = seed.x * 0x9e3779b1u ^ seed.y * 0x85ebca77u ^ seed.z * 0xc2b2ae3du;
    x = (x ^ (x >> 15u)) * 0x2c1b3c6du;
    x = (x ^ (x >> 12u)) * 0x297a2d39u;
    return f32((x ^ (x >> 15u)) >> 8u) / 16777216.0;
}

@fragment
fn fragment(in: Vertex) -> @location(0) vec4<f32> {
    let r2 = dot(in.uv, in.uv);
    if r2 > 1.0 { discard; }
#ifdef ADDITIVE
    return vec4(in.color * params.opacity, 0.0);
#else
    if params.opacity < 1.0 && dice(vec3(vec2<u32>(in.clip.xy), in.index)) >= params.opacity { discard; }
    // Particles of a few pixels have their plain colour: shading would only make noise there.
    let ball = 0.45 + 0.55 * max(dot(vec3(in.uv, sqrt(1.0 - r2)), normalize(vec3(0.4, 0.6, 0.7))), 0.0);
    return vec4(in.color * mix(1.0, ball, smoothstep(1.5, 4.0, in.pixels)), 1.0);
#endif
}
