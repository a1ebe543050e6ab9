// A texture in levels, and one on the faces of a cube: structs with arrays of pointers, handed on by value.
struct Texture {
    const double *levels[4];
    const double *at;
    const double *level;
    double *out;
    int width, count, last;
};

static __device__ __forceinline__ double look_up(const Texture t, int level, double u)
{
    const int width = max(t.width >> level, 2);
    const double p = fmin(fmax(u, 0.0), 1.0) * (width - 1);
    const int low = min(int(p), width - 2);
    const double *row = t.levels[level];
    return row[low] + (p - low) * (row[low + 1] - row[low]);
}

template <bool Between> static __device__ void sample(const Texture t)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= t.count)
        return;
    const double f = fmin(fmax(t.level[i], 0.0), double(t.last));
    const int level = min(int(f), t.last);
    double v = look_up(t, level, t.at[i]);
    if (Between)
        v += (f - level) * (look_up(t, min(level + 1, t.last), t.at[i]) - v);
    t.out[i] = v;
}

__global__ void nearest_level(const Texture t) { sample<false>(t); }
__global__ void between_levels(const Texture t) { sample<true>(t); }

// Coordinates on the face of a cube, of which some point backwards: the sign bit says so.
__global__ void on_faces(const float *direction, float *at, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float x = direction[3 * i], y = direction[3 * i + 1], z = direction[3 * i + 2];
    const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    int face = az > fmaxf(ax, ay) ? 4 : ay > ax ? 2 : 0;
    const float c = face == 4 ? z : face == 2 ? y : x, along = face == 0 ? z : x, up = face == 2 ? z : y;
    face += c < 0;
    const float half = 0.5f / fabsf(c);
    const float turned = __uint_as_float(__float_as_uint(half) ^ ((0x21u >> face) << 31));
    at[2 * i] = along * turned + 0.5f;
    at[2 * i + 1] = up * (face != 2 ? -half : half) + 0.5f;
}
