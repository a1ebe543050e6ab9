// Loops that choose between two ways of computing several numbers, of which the reverse sweep takes the decision again.
// All kernels take: points, lines (position, width, strength, phase), how many there are of each, results.
struct Complex {
    double re, im;
};

struct Line {
    double position, width, strength, phase;
};

struct Lines {
    const Line *all;
    int count;
};

__device__ Complex times(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

__device__ Complex over(Complex a, Complex b)
{
    const double size = b.re * b.re + b.im * b.im;
    return {(a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size};
}

__device__ Complex exponential(Complex a) { return {exp(a.re) * cos(a.im), exp(a.re) * sin(a.im)}; }

// Near zero a sum of quotients and an exponential, far away a continued fraction.
__device__ Complex shape(Complex z)
{
    if (z.re * z.re + z.im * z.im < 2.25) {
        Complex sum = exponential(Complex{-z.im, z.re});
        for (int k = 1; k < 4; ++k) {
            const Complex part = over(Complex{1.0 / k, z.im}, Complex{z.re * z.re + k, z.re * z.im});
            sum = {sum.re + part.re, sum.im - part.im};
        }
        return sum;
    }
    const Complex square = times(z, z);
    return over(z, Complex{square.re - 0.5, square.im + sqrt(z.im)});
}

__global__ void broadened(const double *x, Lines lines, int n, double *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double absorbed = 0, turned = 0;
    for (int k = 0; k < lines.count; ++k) {
        const Line line = lines.all[k];
        const Complex w = shape(Complex{(x[i] - line.position) / line.width, line.width});
        const Complex turn = exponential(Complex{0, line.phase});
        absorbed += line.strength * times(w, turn).re;
        turned += line.strength * times(w, turn).im * w.re;
    }
    y[2 * i] = absorbed;
    y[2 * i + 1] = turned;
}

// A choice on one way of another, and one whose both ways end the same.
__global__ void nested(const double *x, Lines lines, int n, double *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double sum = 0;
    for (int k = 0; k < lines.count; ++k) {
        const Line line = lines.all[k];
        const double far = x[i] - line.position;
        double u, v;
        if (far > 0) {
            u = exp(-far) / line.width;
            if (line.phase > 0.5) {
                u = u * sqrt(far + line.phase);
                v = 1 / (1 + far * u);
            } else {
                v = log(1 + far) / line.phase;
            }
        } else {
            u = line.strength / (1 - far);
            v = u / line.width;
        }
        sum += u * v + (far > 0 ? v * v : u);
    }
    y[2 * i] = sum;
    y[2 * i + 1] = sum * sum;
}

// What an iteration computes decides what the next one does, and ends the loop.
__global__ void carried(const double *x, Lines lines, int n, double *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double state = x[i], other = 1;
    for (int k = 0; k < lines.count; ++k) {
        const Line line = lines.all[k];
        if (state < line.position) {
            state += line.strength * exp(-state / line.width);
            other *= 1 + 0.1 / (1 + state * state);
        } else {
            state -= 0.3 * sqrt(1 + state * state) * line.width;
            other /= 1.1 + 0.1 * sin(state);
        }
        if (other > 1.5) break;
    }
    y[2 * i] = state;
    y[2 * i + 1] = other;
}

// One way alone stores, and reads what it has stored.
__global__ void stored(const double *x, Lines lines, int n, double *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < lines.count; ++k) {
        const Line line = lines.all[k];
        double w = x[i] * line.width;
        if (line.phase > 0.5) {
            y[2 * i] += exp(w) / (1 + line.strength);
            w = y[2 * i] / (1 + w * w);
        }
        y[2 * i + 1] += w * (line.phase > 0.5 ? w : 1 / line.width);
    }
}

// Threads wait for each other in every iteration, in front of the decisions and behind them.
__global__ void tiled(const double *x, Lines lines, int n, double *y)
{
    __shared__ Line tile[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0, product = 1;
    for (int first = 0; first < lines.count; first += blockDim.x) {
        const int at = first + threadIdx.x;
        if (at < lines.count) tile[threadIdx.x] = lines.all[at];
        __syncthreads();
        for (int k = 0; k < min(lines.count - first, int(blockDim.x)); ++k) {
            const Complex w = shape(Complex{(x[i < n ? i : 0] - tile[k].position) / tile[k].width, tile[k].width});
            sum += tile[k].strength * w.re;
            product *= 1 + 0.1 * tile[k].phase * w.im * w.re;
        }
        __syncthreads();
    }
    if (i >= n) return;
    y[2 * i] = sum;
    y[2 * i + 1] = product;
}
