// What is left of a ray's light, which stops once little is left: the factors that an iteration has multiplied with are
// divided out again in the reverse sweep. Rays take a thread's turn one after another.

__global__ void light(const double *__restrict__ x, const double *__restrict__ density, double *__restrict__ seen, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double alpha, left = 1, sum = 0;
        int k = 0;
        for (; k < n; ++k) {
            alpha = 0.5 + 0.4 * tanh(density[k] + x[i]);
            if (alpha < 0.35)
                continue;
            double next = left * (1 - alpha);
            sum += alpha * left * x[k];
            if (next < 1e-2)
                break;
            left = next;
        }
        seen[i] = sum;
    }
}

// A product over all factors, or until it is less than what the caller says, which may come to zero.
__global__ void passes(const double *__restrict__ x, double *seen, double *left, int n, double least)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double t = 1, sum = 0;
    for (int k = 0; k < n; ++k) {
        if (t < least)
            break;
        sum += (k + 1) * t * x[i * n + k];
        t *= x[i * n + k];
    }
    seen[i] = sum;
    left[i] = t;
}

// Layers in tiles, of which the last is not full, seen by threads that count who has contributed and stop for good.
template <bool Breaks>
__global__ void layers(const int *__restrict__ order, const double *__restrict__ alphas, const double *__restrict__ colors,
                       double *seen, double *through, int *last, int n)
{
    __shared__ int id[8];
    __shared__ double tile[8];
    double left = 1, sum = 0;
    int contributor = 0, latest = 0;
    bool done = threadIdx.x % 5 == 4;
    for (int first = 0; first < n; first += 8) {
        int finished = __syncthreads_count(done);
        if (finished == 8)
            break;
        if (unsigned(first + threadIdx.x) < unsigned(n)) {
            id[threadIdx.x] = order[first + threadIdx.x];
            tile[threadIdx.x] = alphas[id[threadIdx.x]];
        }
        __syncthreads();
        for (int j = 0; !done && j < min(8, n - first); ++j) {
            ++contributor;
            double alpha = tile[j] * (1 + 0.03 * threadIdx.x);
            if (alpha < 0.1)
                continue;
            double next = left * (1 - alpha);
            if (next < 0.02) {
                done = true;
                if (Breaks)
                    break;
                continue;
            }
            sum += alpha * left * colors[id[j]];
            left = next;
            latest = contributor;
        }
    }
    seen[threadIdx.x] = sum;
    through[threadIdx.x] = left;
    last[threadIdx.x] = latest;
}
template __global__ void layers<true>(const int *, const double *, const double *, double *, double *, int *, int);
template __global__ void layers<false>(const int *, const double *, const double *, double *, double *, int *, int);

// The same in a mask: those threads whose pixel is in the image return at once, the others wait with nobody.
__global__ void masked_layers(const bool *mask, const double *__restrict__ alphas, double *seen, int *last, int n, int pixels)
{
    __shared__ double tile[8];
    const bool inside = threadIdx.x < pixels;
    bool done = !inside;
    if (mask != nullptr && inside && !mask[blockIdx.x]) {
        seen[blockIdx.x * 8 + threadIdx.x] = 0;
        return;
    }
    double left = 1, sum = 0;
    int latest = 0;
    for (int first = 0; first < n; first += 8) {
        if (__syncthreads_count(done) >= blockDim.x)
            break;
        if (first + threadIdx.x < n)
            tile[threadIdx.x] = alphas[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; !done && j < min(8, n - first); ++j) {
            double alpha = tile[j] * (1 + 0.03 * threadIdx.x), next = left * (1 - alpha);
            if (next <= 0.02) {
                done = true;
                break;
            }
            sum += alpha * left * (j + 1);
            left = next;
            latest = first + j;
        }
    }
    if (inside) {
        seen[blockIdx.x * 8 + threadIdx.x] = sum;
        last[blockIdx.x * 8 + threadIdx.x] = latest;
    }
}

// Threads whose pixel is outside return before the barriers; the light is asked behind each step, or instead of a flag.
template <int Stop>
__global__ void returned_layers(const double *__restrict__ alphas, double *seen, double *through, int n, int pixels)
{
    __shared__ double tile[8];
    if (threadIdx.x >= pixels) {
        seen[blockIdx.x * 8 + threadIdx.x] = 3;
        return;
    }
    bool done = false;
    double left = 1, sum = 0;
    for (int first = 0; first < n; first += 8) {
        __syncthreads();
        const int count = min(8, n - first);
        for (int j = threadIdx.x; j < count; j += pixels)
            tile[j] = alphas[first + j];
        __syncthreads();
        if (Stop == 2 && !(left > 0.02))
            continue;
        for (int j = 0; j < count && !done; ++j) {
            double alpha = tile[j] * (1 + 0.03 * threadIdx.x);
            if (alpha < 0.1)
                continue;
            if (Stop == 0 && left * (1 - alpha) < 0.02) {
                done = true;
                break;
            }
            sum += alpha * left * (j + 1);
            left *= 1 - alpha;
            if (Stop == 1)
                done = left < 0.02;
            if (Stop == 2 && left <= 0.02)
                break;
        }
    }
    seen[blockIdx.x * 8 + threadIdx.x] = sum;
    through[blockIdx.x * 8 + threadIdx.x] = left;
}
template __global__ void returned_layers<0>(const double *, double *, double *, int, int);
template __global__ void returned_layers<1>(const double *, double *, double *, int, int);
template __global__ void returned_layers<2>(const double *, double *, double *, int, int);

// Whether there is light is asked by a condition that skips the rest of an iteration, where the loop goes on, or behind
// what may leave a layer out.
template <int Way>
__global__ void asked_layers(const double *__restrict__ alphas, double *seen, double *through, int n)
{
    __shared__ double tile[8];
    bool done = Way == 0 && threadIdx.x % 5 == 4;
    double left = Way == 1 && threadIdx.x % 5 == 4 ? 0 : 1, sum = 0;
    for (int first = 0; first < n; first += 8) {
        if (Way == 2)
            __syncthreads();
        else if (__syncthreads_count(Way == 0 ? done : left < 0.02) == 8)
            break;
        if (first + threadIdx.x < n)
            tile[threadIdx.x] = alphas[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < min(8, n - first) && (Way != 1 || left >= 0.02); ++j) {
            if (Way == 0 && done)
                continue;
            double alpha = tile[j] * (1 + 0.03 * threadIdx.x);
            if (alpha < 0.1)
                continue;
            if (Way == 2 && left < 0.02)
                break;
            if (Way == 0 && left * (1 - alpha) < 0.02) {
                done = true;
                continue;
            }
            sum += alpha * left * (j + 1);
            left *= 1 - alpha;
        }
    }
    seen[threadIdx.x] = sum;
    through[threadIdx.x] = left;
}
template __global__ void asked_layers<0>(const double *, double *, double *, int);
template __global__ void asked_layers<1>(const double *, double *, double *, int);
template __global__ void asked_layers<2>(const double *, double *, double *, int);

// How many say that they see nothing any more is told, to which a light that is none does not belong.
__global__ void told_layers(const double *__restrict__ alphas, double *seen, int *dark, int n)
{
    __shared__ double tile[8];
    double left = 1, sum = 0;
    for (int first = 0; first < n; first += 8) {
        int finished = __syncthreads_count(left < 0.02);
        if (threadIdx.x == 0)
            dark[first / 8] = finished;
        if (first + threadIdx.x < n)
            tile[threadIdx.x] = alphas[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < min(8, n - first) && left >= 0.02; ++j) {
            double alpha = tile[j] * (1 + 0.03 * threadIdx.x);
            if (alpha < 0.1)
                continue;
            sum += alpha * left * (j + 1);
            left *= 1 - alpha;
        }
    }
    seen[threadIdx.x] = sum;
}

// A light that is none is not above the bound in front of a tile, and not below it in one.
__global__ void layers_of_none(const double *__restrict__ alphas, const double *__restrict__ passes, double *seen, int n)
{
    __shared__ double tile[8], factors[8];
    double left = 1, sum = 0;
    for (int first = 0; first < n; first += 8) {
        __syncthreads();
        if (first + threadIdx.x < n) {
            tile[threadIdx.x] = alphas[first + threadIdx.x];
            factors[threadIdx.x] = passes[first + threadIdx.x];
        }
        __syncthreads();
        if (!(left > 0.02))
            continue;
        for (int j = 0; j < min(8, n - first); ++j) {
            if (tile[j] < 0.1)
                continue;
            sum += tile[j] * left * (j + 1 + threadIdx.x);
            left *= factors[j];
            if (left <= 0.02)
                break;
        }
    }
    seen[threadIdx.x] = sum;
}

// The light is the exponential of a depth, which may be infinite behind a sample; or is asked whether to go on.
__global__ void depths(const double *__restrict__ density, double *seen, int n)
{
    double depth = 0, sum = 0;
    for (int k = 0; k < n; ++k) {
        const double s = density[n * threadIdx.x + k];
        sum += exp(-depth) * (1 - exp(-s)) * (k + 1);
        depth += s;
    }
    seen[threadIdx.x] = sum;
}
__global__ void steps(const double *__restrict__ density, double *seen, int n, double least)
{
    double left = 1, sum = 0;
    int step = 0;
    while (step < n) {
        const double alpha = 1 - exp(-density[n * threadIdx.x + step]);
        sum += alpha * left * (step + 1);
        left *= 1 - alpha;
        if (left < least)
            break;
        step++;
    }
    seen[threadIdx.x] = sum;
}

// Samples of rays one behind another, whose product is rounded from double in each step.
__global__ void packed(const float *__restrict__ alphas, const int *__restrict__ begins, float *__restrict__ weights,
                       float *__restrict__ left, int rays)
{
    int ray = blockIdx.x * blockDim.x + threadIdx.x;
    if (ray >= rays)
        return;
    float through = 1;
    for (int k = begins[ray]; k < begins[ray + 1]; ++k) {
        weights[k] = through * alphas[k];
        through *= (1. - alphas[k]);
        if (through < 1e-3)
            break;
    }
    left[ray] = through;
}
