// Robertson's reaction, three substances whose rates differ by nine orders of magnitude, for one pixel a thread:
//   a -> b (slow),  b + b -> c + b (very fast),  b + c -> a + c (fast)
// Implicit Euler with Newton's method; c = 1 - a - b.
constexpr int STEPS = 8;       // between two times at which it is looked at
constexpr int ITERATIONS = 4;  // of Newton's method
constexpr double FAST = 3e7;
constexpr double SCALE = 2e4;  // b is small: this makes it as large as a

struct State {
    double a, b;
};

__device__ State advanced(State from, double slow, double back, double h)
{
    State to = from;
    for (int i = 0; i < ITERATIONS; ++i) {
        const double c = 1.0 - to.a - to.b;
        const double returned = back * to.b * c, gone = FAST * to.b * to.b;
        const double f = to.a - from.a + h * (slow * to.a - returned);
        const double g = to.b - from.b - h * (slow * to.a - returned - gone);
        // The Jacobian of (f, g) by (a, b), and the solution of a system of two equations.
        const double by_a = -back * to.b, by_b = back * (c - to.b);
        const double fa = 1.0 + h * (slow - by_a), fb = -h * by_b;
        const double ga = -h * (slow - by_a), gb = 1.0 + h * (by_b + 2.0 * FAST * to.b);
        const double inverse = 1.0 / (fa * gb - fb * ga);
        to.a -= (gb * f - fb * g) * inverse;
        to.b -= (fa * g - ga * f) * inverse;
    }
    return to;
}

// log_rates: [pixels, 2], of the slow reaction and of the one back. seen: [pixels, looks, 2], a and SCALE * b.
__global__ void kinetics(const double *log_rates, const double *times, double *seen, int pixels, int looks)
{
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= pixels)
        return;
    const double slow = exp(log_rates[2 * pixel]), back = exp(log_rates[2 * pixel + 1]);
    State state = {1.0, 0.0};
    double begin = 0.0;
    for (int look = 0; look < looks; ++look) {
        const double h = (times[look] - begin) / STEPS;
        for (int step = 0; step < STEPS; ++step)
            state = advanced(state, slow, back, h);
        begin = times[look];
        seen[2 * (pixel * looks + look)] = state.a;
        seen[2 * (pixel * looks + look) + 1] = SCALE * state.b;
    }
}
