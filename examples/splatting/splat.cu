// A renderer of three-dimensional Gaussians, forward only: each is projected to a spot on the picture, the spots of each
// tile of 16 x 16 pixels are listed from front to back, and each pixel blends its tile's list until it is opaque.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int TILE = 16;
constexpr int LANES = TILE * TILE;
constexpr float NEAR = 0.2f;
constexpr float WIDEN = 0.3f;               // a spot is no smaller than a pixel
constexpr float FAINT = 1.0f / 255.0f;      // fainter spots are not seen
constexpr float OPAQUE = 1e-4f;             // of light that still comes through

struct View {
    int width, height;
    float focal;  // in pixels
};

// A spot on the picture: its centre, the inverse of its covariance (xx, xy, yy), and its opacity.
struct Spot {
    float x, y, xx, xy, yy, opacity;
};

__device__ void rotation(const float *turn, float r[9])
{
    const float norm = rsqrtf(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3]);
    const float w = turn[0] * norm, x = turn[1] * norm, y = turn[2] * norm, z = turn[3] * norm;
    r[0] = 1 - 2 * (y * y + z * z), r[1] = 2 * (x * y - w * z), r[2] = 2 * (x * z + w * y);
    r[3] = 2 * (x * y + w * z), r[4] = 1 - 2 * (x * x + z * z), r[5] = 2 * (y * z - w * x);
    r[6] = 2 * (x * z - w * y), r[7] = 2 * (y * z + w * x), r[8] = 1 - 2 * (x * x + y * y);
}

// pose: rows of the matrix [3 x 4] from the world to the camera, which looks along z. boxes: the tiles that a spot
// may be seen in, from (x, y) to before (x, y).
__global__ void project(int count, View view, const float *pose, const float *means, const float *log_scales,
                        const float *turns, const float *logits, Spot *spots, float *depths, int4 *boxes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    boxes[i] = make_int4(0, 0, 0, 0);
    const float *m = means + 3 * i;
    float at[3];
    for (int row = 0; row < 3; ++row)
        at[row] = pose[4 * row] * m[0] + pose[4 * row + 1] * m[1] + pose[4 * row + 2] * m[2] + pose[4 * row + 3];
    depths[i] = at[2];
    if (at[2] < NEAR)
        return;

    float r[9], wide[9];
    rotation(turns + 4 * i, r);
    for (int axis = 0; axis < 3; ++axis) {
        const float scale = expf(log_scales[3 * i + axis]);
        for (int row = 0; row < 3; ++row)
            wide[3 * row + axis] = r[3 * row + axis] * scale;
    }
    // Two rows of the projection's derivative times the pose's rotation times the Gaussian's axes.
    const float f = view.focal / at[2], sx = -f * at[0] / at[2], sy = -f * at[1] / at[2];
    float u[3], v[3];
    for (int axis = 0; axis < 3; ++axis) {
        float turned[3];
        for (int row = 0; row < 3; ++row)
            turned[row] = pose[4 * row] * wide[axis] + pose[4 * row + 1] * wide[3 + axis]
                          + pose[4 * row + 2] * wide[6 + axis];
        u[axis] = f * turned[0] + sx * turned[2];
        v[axis] = f * turned[1] + sy * turned[2];
    }
    const float a = u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + WIDEN;
    const float b = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    const float c = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + WIDEN;
    const float inverse = 1.0f / (a * c - b * b);
    const float x = f * at[0] + 0.5f * view.width, y = f * at[1] + 0.5f * view.height;
    spots[i] = Spot{x, y, c * inverse, -b * inverse, a * inverse, 1.0f / (1.0f + expf(-logits[i]))};

    const float half = 0.5f * (a + c), radius = 3.0f * sqrtf(half + sqrtf(fmaxf(half * half - a * c + b * b, 0.0f)));
    const int tiles_x = (view.width + TILE - 1) / TILE, tiles_y = (view.height + TILE - 1) / TILE;
    boxes[i] = make_int4(min(max(int(floorf((x - radius) / TILE)), 0), tiles_x),
                         min(max(int(floorf((y - radius) / TILE)), 0), tiles_y),
                         min(max(int(ceilf((x + radius) / TILE)), 0), tiles_x),
                         min(max(int(ceilf((y + radius) / TILE)), 0), tiles_y));
}

// One entry for each spot and tile, with keys that sort them by tile and then from front to back; ends: where the
// entries of each spot end.
__global__ void list_tiles(int count, View view, const float *depths, const int4 *boxes, const int *ends,
                           unsigned long long *keys, int *entries)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const int4 box = boxes[i];
    const int tiles_x = (view.width + TILE - 1) / TILE;
    int place = ends[i] - (box.z - box.x) * (box.w - box.y);
    for (int y = box.y; y < box.w; ++y)
        for (int x = box.x; x < box.z; ++x, ++place) {
            keys[place] = (unsigned long long)(y * tiles_x + x) << 32 | __float_as_uint(depths[i]);
            entries[place] = i;
        }
}

// A block is a tile, a thread a pixel. ranges: where a tile's entries begin and end. image: [3, height, width].
__global__ void __launch_bounds__(LANES)
blend(View view, const int2 *ranges, const int *entries, const Spot *spots, const float3 *colours, float3 background,
      float *image)
{
    __shared__ Spot near_spots[LANES];
    __shared__ float3 near_colours[LANES];
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    const int lane = threadIdx.y * TILE + threadIdx.x;
    const bool inside = x < view.width && y < view.height;
    const int2 range = ranges[blockIdx.y * gridDim.x + blockIdx.x];
    bool done = !inside;
    float through = 1.0f;
    float3 colour = {0, 0, 0};
    for (int first = range.x; first < range.y; first += LANES) {
        if (__syncthreads_count(done) == LANES)
            break;
        if (first + lane < range.y) {
            near_spots[lane] = spots[entries[first + lane]];
            near_colours[lane] = colours[entries[first + lane]];
        }
        __syncthreads();
        const int listed = min(LANES, range.y - first);
        for (int k = 0; !done && k < listed; ++k) {
            const Spot s = near_spots[k];
            const float dx = s.x - x - 0.5f, dy = s.y - y - 0.5f;
            const float power = -0.5f * (s.xx * dx * dx + s.yy * dy * dy) - s.xy * dx * dy;
            if (power > 0.0f)
                continue;
            const float alpha = fminf(0.99f, s.opacity * __expf(power));
            if (alpha < FAINT)
                continue;
            const float rest = through * (1.0f - alpha);
            if (rest < OPAQUE) {
                done = true;
                continue;
            }
            colour.x += near_colours[k].x * alpha * through;
            colour.y += near_colours[k].y * alpha * through;
            colour.z += near_colours[k].z * alpha * through;
            through = rest;
        }
    }
    if (inside) {
        const int pixel = y * view.width + x, size = view.width * view.height;
        image[pixel] = colour.x + through * background.x;
        image[size + pixel] = colour.y + through * background.y;
        image[2 * size + pixel] = colour.z + through * background.z;
    }
}
