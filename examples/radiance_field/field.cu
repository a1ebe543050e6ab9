// A radiance field: a network of three layers says the colour and the density of each point in space, and a thread adds
// up what its ray meets, from the front until nothing comes through any more. Forward only.
#include <cuda_runtime.h>

constexpr int OCTAVES = 4;
constexpr int INPUTS = 3 + 6 * OCTAVES;
constexpr int WIDTH = 16;
constexpr int OUTPUTS = 4;   // red, green, blue, density
constexpr int WEIGHTS = (INPUTS + 1) * WIDTH + (WIDTH + 1) * WIDTH + (WIDTH + 1) * OUTPUTS;
constexpr float OPAQUE = 1e-3f;   // of light that still comes through

struct Segment {
    float from, to;   // of each ray, in units of its direction
    int samples;
};

__device__ void encode(float3 at, float (&inputs)[INPUTS])
{
    inputs[0] = at.x, inputs[1] = at.y, inputs[2] = at.z;
    for (int octave = 0; octave < OCTAVES; ++octave) {
        const float scale = float(1 << octave);
        float *own = inputs + 3 + 6 * octave;
        own[0] = __sinf(scale * at.x), own[1] = __cosf(scale * at.x);
        own[2] = __sinf(scale * at.y), own[3] = __cosf(scale * at.y);
        own[4] = __sinf(scale * at.z), own[5] = __cosf(scale * at.z);
    }
}

// A row of weights an output, and then the biases. Returns where the next layer's weights begin.
template <int FROM, int TO>
__device__ const float *layer(const float *weights, const float (&in)[FROM], float (&out)[TO])
{
#pragma unroll
    for (int row = 0; row < TO; ++row) {
        float sum = weights[FROM * TO + row];
#pragma unroll
        for (int column = 0; column < FROM; ++column)
            sum += weights[row * FROM + column] * in[column];
        out[row] = sum;
    }
    return weights + FROM * TO + TO;
}

template <int COUNT> __device__ void rectify(float (&values)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        values[i] = fmaxf(values[i], 0.0f);
}

__device__ float4 field(const float *weights, float3 at)
{
    float inputs[INPUTS], first[WIDTH], second[WIDTH], out[OUTPUTS];
    encode(at, inputs);
    weights = layer(weights, inputs, first);
    rectify(first);
    weights = layer(weights, first, second);
    rectify(second);
    layer(weights, second, out);
    return make_float4(1.0f / (1.0f + __expf(-out[0])), 1.0f / (1.0f + __expf(-out[1])),
                       1.0f / (1.0f + __expf(-out[2])), __logf(1.0f + __expf(fminf(out[3], 60.0f))));
}

// origins, directions, colours: three numbers a ray. starts: where between two samples a ray's first one lies, 0 to 1.
__global__ void __launch_bounds__(128)
render(int rays, Segment segment, const float *weights, const float3 *origins, const float3 *directions,
       const float *starts, float3 background, float3 *colours)
{
    __shared__ float shared[WEIGHTS];
    for (int i = threadIdx.x; i < WEIGHTS; i += blockDim.x)
        shared[i] = weights[i];
    __syncthreads();
    const int ray = blockIdx.x * blockDim.x + threadIdx.x;
    if (ray >= rays)
        return;
    const float3 origin = origins[ray], direction = directions[ray];
    const float step = (segment.to - segment.from) / segment.samples, start = starts[ray];
    float through = 1.0f;
    float3 colour = {0, 0, 0};
    for (int sample = 0; sample < segment.samples; ++sample) {
        const float t = segment.from + (sample + start) * step;
        const float4 seen = field(shared, make_float3(origin.x + t * direction.x, origin.y + t * direction.y,
                                                      origin.z + t * direction.z));
        const float clear = __expf(-step * seen.w), weight = through * (1.0f - clear);
        colour.x += weight * seen.x, colour.y += weight * seen.y, colour.z += weight * seen.z;
        through *= clear;
        if (through < OPAQUE)
            break;
    }
    colours[ray] = make_float3(colour.x + through * background.x, colour.y + through * background.y,
                               colour.z + through * background.z);
}
