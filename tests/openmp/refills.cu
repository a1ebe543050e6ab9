// Shared arrays that are filled from memory that nobody changes, in ways in which they may be filled again, or may not. Blocks have 8 threads.
// All kernels take: numbers, places, how many there are of each, the result of each thread.
#define WIDTH 8

__device__ double use(const double *tile)
{
    double sum = 0;
    for (int k = 0; k < WIDTH; ++k) sum += tile[k] * tile[k] * tile[(k + 3) % WIDTH];
    return sum;
}

__global__ void guarded(const double *x, const int *places, int n, double *y)
{
    __shared__ double tile[WIDTH];
    double sum = 0;
    for (int first = 0; first < n; first += WIDTH) {
        int i = first + threadIdx.x;
        tile[threadIdx.x] = i < n ? x[i] * x[i] : 0.5;
        __syncthreads();
        sum += use(tile);
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}

// Later rounds leave what the first has filled in half of it.
__global__ void partly(const double *x, const int *places, int n, double *y)
{
    __shared__ double tile[WIDTH];
    double sum = 0;
    for (int first = 0; first + WIDTH <= n; first += WIDTH) {
        if (first == 0 || threadIdx.x % 2 == 0) tile[threadIdx.x] = x[first + threadIdx.x];
        __syncthreads();
        sum += use(tile);
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}

// Which numbers come next follows from the round before.
__global__ void chased(const double *x, const int *places, int n, double *y)
{
    __shared__ double tile[WIDTH];
    double sum = 0;
    int at = threadIdx.x % n;
    for (int round = 0; round < n / 5; ++round) {
        tile[threadIdx.x] = x[at];
        at = places[at];
        __syncthreads();
        sum += use(tile);
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}

// Two arrays in dynamic memory, and places that are read; the number of rounds ends in the middle of the loop.
__global__ void carved(const double *x, const int *places, int n, double *y)
{
    extern __shared__ double memory[];
    double *left = memory, *right = memory + WIDTH, sum = 0;
    for (int round = 0;; ++round) {
        left[threadIdx.x] = x[places[threadIdx.x + round]];
        right[threadIdx.x] = cos(x[threadIdx.x]) * round;
        __syncthreads();
        if (round == 3) break;
        sum += use(left) * use(right);
        __syncthreads();
    }
    y[threadIdx.x] = sum + use(left);
}

// What it was filled from is overwritten afterwards: y is read and written.
__global__ void overwritten(const double *x, const int *places, int n, double *y)
{
    __shared__ double tile[WIDTH];
    for (int round = 0; round < n / 9; ++round) {
        tile[threadIdx.x] = x[round] * y[threadIdx.x];
        __syncthreads();
        double sum = use(tile);
        __syncthreads();
        y[threadIdx.x] = sum;
    }
}

// Filled inside of two loops, used behind the inner one.
__global__ void nested(const double *x, const int *places, int n, double *y)
{
    __shared__ double tile[WIDTH];
    double sum = 0;
    for (int outer = 0; outer < 3; ++outer) {
        for (int inner = 0; inner <= outer; ++inner) {
            tile[threadIdx.x] = x[(outer * WIDTH + inner + threadIdx.x) % n];
            __syncthreads();
            sum += use(tile);
            __syncthreads();
        }
        sum += use(tile) * outer;
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}

// A pointer walks over the numbers, and a branch stores zeros behind the last.
__global__ void walked(const double *x, const int *places, int n, double *y)
{
    __shared__ double2 tile[WIDTH];
    double sum = 0;
    const double *from = x + 2 * threadIdx.x;
    int left = n - 2 * threadIdx.x;
    for (int round = 0; round < (n + 2 * WIDTH - 1) / (2 * WIDTH); ++round) {
        if (left > 1)
            tile[threadIdx.x] = make_double2(from[0], from[1]);
        else
            tile[threadIdx.x] = make_double2(0, 0);
        __syncthreads();
        for (int k = 0; k < WIDTH; ++k) sum += tile[k].x * tile[k].x * tile[(k + 3) % WIDTH].y * round;
        __syncthreads();
        from += 2 * WIDTH;
        left -= 2 * WIDTH;
    }
    y[threadIdx.x] = sum;
}

// The branches store to different elements; one reads what it has stored.
__global__ void branched(const double *x, const int *places, int n, double *y)
{
    __shared__ double tile[WIDTH];
    double sum = 0;
    for (int first = 0; first + WIDTH <= n; first += WIDTH) {
        const int i = first + threadIdx.x;
        if (places[i] % 2 == 0) {
            tile[threadIdx.x] = x[i] * x[first];
            sum += tile[threadIdx.x] * x[i];
        } else {
            tile[threadIdx.x] = sin(x[i]);
        }
        if (first % (2 * WIDTH) == 0)
            tile[threadIdx.x] = x[first];
        else
            tile[(threadIdx.x + 1) % WIDTH] = x[i];
        __syncthreads();
        sum += use(tile);
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}

// A loop fills the tile, as many elements a thread as the block leaves it, with zeros behind the end.
__global__ void looped(const double *x, const int *places, int n, double *y)
{
    __shared__ double tile[2 * WIDTH];
    double sum = 0;
    for (int first = 0; first < n; first += 2 * WIDTH) {
        for (int i = threadIdx.x; i < 2 * WIDTH; i += blockDim.x) tile[i] = first + i < n ? x[first + i] : 0.0;
        __syncthreads();
        sum += use(tile) * use(tile + WIDTH);
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}

// The loop fills less in each round, and the rest stays from before.
__global__ void shrinking(const double *x, const int *places, int n, double *y)
{
    __shared__ double tile[2 * WIDTH];
    double sum = 0;
    for (int round = 0; round < 3; ++round) {
        for (int i = threadIdx.x; i < 2 * WIDTH - 4 * round; i += blockDim.x) tile[i] = x[(i + round) % n];
        __syncthreads();
        sum += use(tile) * use(tile + WIDTH);
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}

// Threads meet before the tile is filled, and a state goes on from round to round.
__global__ void begun(const double *x, const int *places, int n, double *y)
{
    __shared__ double tile[WIDTH];
    double state[WIDTH] = {0}, sum = 0;
    for (int round = 0; round < n / WIDTH; ++round) {
        __syncthreads();
        tile[threadIdx.x] = exp(-x[round * WIDTH + threadIdx.x]);
        __syncthreads();
        for (int k = 0; k < WIDTH; ++k) {
            sum += state[k] * tile[(k + 1) % WIDTH];
            state[k] = state[k] * tile[k] + x[round * WIDTH + threadIdx.x];
        }
    }
    y[threadIdx.x] = sum;
}

// Two threads store to each element, one after the other.
__global__ void swapped(const double *x, const int *places, int n, double *y)
{
    __shared__ double tile[WIDTH];
    double sum = 0;
    for (int first = 0; first + WIDTH <= n; first += WIDTH) {
        tile[threadIdx.x] = x[first];
        __syncthreads();
        tile[(threadIdx.x + 1) % WIDTH] = x[first + threadIdx.x];
        __syncthreads();
        sum += use(tile);
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}

// Lanes hand values to each other between reading the tile and meeting; what they leave behind is divided.
__global__ void handed(const double *x, const int *places, int n, double *y)
{
    __shared__ double tile[WIDTH];
    double total = 0, weights = 0;
    for (int first = 0; first + WIDTH <= n; first += WIDTH) {
        tile[threadIdx.x] = x[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < WIDTH; ++k) {
            double dot = tile[k] * x[threadIdx.x];
            for (int step = WIDTH / 2; step > 0; step /= 2) dot += __shfl_xor_sync((1u << WIDTH) - 1, dot, step);
            const double weight = exp(-dot * tile[(k + threadIdx.x) % WIDTH]);
            total = total * 0.5 + weight * tile[(k + threadIdx.x) % WIDTH];
            weights = weights * 0.5 + weight;
        }
        __syncthreads();
    }
    y[threadIdx.x] = total / weights;
}
