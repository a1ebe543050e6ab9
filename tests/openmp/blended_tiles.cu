// Layers of a pixel that a block reads tile by tile, until its light is used up: the ways in which the threads of a warp
// tell each other so, and in which a thread says it itself.
struct Pixel {
    double left = 1, sum = 0;
    int last = -1;

    // False where this layer uses up what is left.
    __device__ bool take(double alpha, double colour, int number)
    {
        if (left * (1 - alpha) < 0.02)
            return false;
        sum += alpha * left * colour;
        left *= 1 - alpha;
        last = number;
        return true;
    }
};

constexpr int Size = 32;
constexpr unsigned All = ~0u;

template <int Way>
__global__ void blended(const double *__restrict__ alphas, const double *__restrict__ colours, double *seen, double *through,
                        int *last, int n)
{
    __shared__ double tile[Size];
    __shared__ int numbers[Size];
    __shared__ double shades[Size];
    bool done = threadIdx.x % 11 == 4;
    Pixel pixel;
    for (int first = 0; first < n; first += Size) {
        if (Way == 3 ? !__syncthreads_or(!done) : __syncthreads_and(done))
            break;
        const int count = min(Size, n - first);
        if (threadIdx.x < count) {
            numbers[threadIdx.x] = first + threadIdx.x;
            tile[threadIdx.x] = alphas[first + threadIdx.x];
            shades[threadIdx.x] = colours[numbers[threadIdx.x]];
        }
        __syncthreads();
        if (Way == 2 && __ballot_sync(All, !done) == 0)
            continue;
        for (int j = 0; j < count; ++j) {
            if (Way == 0 && __all_sync(All, done))
                break;
            if (Way == 1 && !__any_sync(All, !done))
                break;
            if (Way == 5 && __popc(__ballot_sync(All, done)) == 32)
                break;
            if ((Way == 2 || Way == 3) && done)
                break;
            const double alpha = tile[j] * (1 + 0.01 * threadIdx.x);
            const bool valid = !done && alpha >= 0.1;
            if (Way == 4 && !__any_sync(All, valid))
                continue;
            if (valid)
                done = !pixel.take(alpha, shades[j], numbers[j]);
        }
    }
    seen[threadIdx.x] = pixel.sum;
    through[threadIdx.x] = pixel.left;
    last[threadIdx.x] = pixel.last;
}
template __global__ void blended<0>(const double *, const double *, double *, double *, int *, int);
template __global__ void blended<1>(const double *, const double *, double *, double *, int *, int);
template __global__ void blended<2>(const double *, const double *, double *, double *, int *, int);
template __global__ void blended<3>(const double *, const double *, double *, double *, int *, int);
template __global__ void blended<4>(const double *, const double *, double *, double *, int *, int);
template __global__ void blended<5>(const double *, const double *, double *, double *, int *, int);

// As many colours as the caller says, which are added up where they go.
__global__ void channelled(const double *__restrict__ alphas, const double *__restrict__ colours, double *seen, double *through,
                           int n, int channels)
{
    __shared__ double tile[Size];
    bool done = false;
    double left = 1;
    for (int c = 0; c < channels; ++c)
        seen[threadIdx.x * channels + c] = 0;
    for (int first = 0; first < n; first += Size) {
        if (__syncthreads_count(done) == Size)
            break;
        const int count = min(Size, n - first);
        if (threadIdx.x < count)
            tile[threadIdx.x] = alphas[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < count && !done; ++j) {
            const double alpha = tile[j] * (1 + 0.01 * threadIdx.x);
            if (alpha < 0.1)
                continue;
            if (left * (1 - alpha) < 0.02) {
                done = true;
                break;
            }
            for (int c = 0; c < channels; ++c)
                seen[threadIdx.x * channels + c] += colours[(first + j) * channels + c] * alpha * left;
            left *= 1 - alpha;
        }
    }
    through[threadIdx.x] = left;
}

// What the others say decides here: a lane goes on adding layers until all have little left, or skips one as long as
// somebody else takes it.
template <int Way>
__global__ void together(const double *__restrict__ alphas, const double *__restrict__ colours, double *seen, int n)
{
    Pixel pixel;
    for (int k = 0; k < n; ++k) {
        const double alpha = alphas[k] * (1 + 0.01 * threadIdx.x);
        if (Way == 0 && __all_sync(All, pixel.left < 0.5))
            break;
        if (Way == 1 && __any_sync(All, alpha < 0.2))
            continue;
        if (Way == 2 && __ballot_sync(All, alpha >= 0.3) == All)
            pixel.sum += colours[k];
        pixel.take(alpha, colours[k], k);
    }
    seen[threadIdx.x] = pixel.sum;
}
template __global__ void together<0>(const double *, const double *, double *, int);
template __global__ void together<1>(const double *, const double *, double *, int);
template __global__ void together<2>(const double *, const double *, double *, int);

// The shade of the layer in which half of the light is used up, beside what is seen.
__global__ void halved(const double *__restrict__ alphas, const double *__restrict__ colours, double *seen, double *middle, int n)
{
    __shared__ double tile[Size];
    __shared__ double shades[Size];
    bool done = threadIdx.x % 11 == 4;
    double left = 1, sum = 0, half = 0;
    for (int first = 0; first < n; first += Size) {
        if (__syncthreads_count(done) == Size)
            break;
        const int count = min(Size, n - first);
        if (threadIdx.x < count) {
            tile[threadIdx.x] = alphas[first + threadIdx.x];
            shades[threadIdx.x] = colours[first + threadIdx.x];
        }
        __syncthreads();
        for (int j = 0; j < count && !done; ++j) {
            const double alpha = fmin(0.99, tile[j] * (1 + 0.01 * threadIdx.x));
            if (alpha < 0.1)
                continue;
            const double rest = left * (1 - alpha);
            if (rest < 0.02) {
                done = true;
                continue;
            }
            if (left > 0.5)
                half = shades[j] * shades[j];
            sum += alpha * left * shades[j];
            left = rest;
        }
    }
    seen[threadIdx.x] = sum;
    middle[threadIdx.x] = half;
}
