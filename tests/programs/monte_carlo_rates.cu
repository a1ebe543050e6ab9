// Monte Carlo for a short-rate model with path dependent products: own generators (xorshift and a counter based one),
// Box-Muller, antithetic pairs, a control variate, templates over payoffs, grid-stride loops, unrolled block reduction.
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
class XorShift {
public:
    __device__ explicit XorShift(uint64_t seed) : state_(seed ? seed : 88172645463325252ull) { next(); }
    __device__ uint64_t next()
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }
    __device__ T uniform() { return (T(next() >> 11) + T(0.5)) * T(1.0 / 9007199254740992.0); }
    __device__ T normal()
    {
        if (has_) {
            has_ = false;
            return spare_;
        }
        const T r = sqrt(T(-2) * log(uniform())), phi = T(6.283185307179586) * uniform();
        spare_ = r * sin(phi);
        has_ = true;
        return r * cos(phi);
    }

private:
    uint64_t state_;
    T spare_ = 0;
    bool has_ = false;
};

__device__ inline uint32_t mix(uint32_t key, uint32_t counter)      // counter based
{
    uint32_t h = key ^ (counter * 0x9E3779B9u);
    h ^= h >> 16; h *= 0x85EBCA6Bu;
    h ^= h >> 13; h *= 0xC2B2AE35u;
    return h ^ (h >> 16);
}

struct ShortRate {
    double r0, speed, level, volatility;
};

struct Contract {
    double notional, strike;
    double tenor;
    int fixings;
};

// ---- payoffs: see each fixing, then give the discounted value
struct Caplets {
    double value = 0;
    __device__ void fixing(double rate, double discount, double accrual, const Contract &c)
    {
        value += rate > c.strike ? c.notional * accrual * (rate - c.strike) * discount : 0.0;
    }
    __device__ double finish(double, const Contract &) const { return value; }
};

struct AverageRate {
    double sum = 0;
    int count = 0;
    __device__ void fixing(double rate, double, double, const Contract &)
    {
        sum += rate;
        ++count;
    }
    __device__ double finish(double discount, const Contract &c) const
    {
        const double average = sum / count;
        return c.notional * c.tenor * discount * fmax(average - c.strike, 0.0);
    }
};

struct RangeAccrual {
    double sum = 0;
    __device__ void fixing(double rate, double discount, double accrual, const Contract &c)
    {
        const double width = 0.002;
        const double in = 1.0 / (1.0 + exp((rate - c.strike) / width)); // smoothed digital
        sum += in * accrual * discount * c.notional;
    }
    __device__ double finish(double, const Contract &) const { return sum; }
};

template <typename Payoff>
__device__ double one_path(const ShortRate &m, const Contract &c, const double *z, double sign, double *control)
{
    const double dt = c.tenor / c.fixings, decay = exp(-m.speed * dt);
    const double sd = m.volatility * sqrt((1 - decay * decay) / (2 * m.speed));
    double r = m.r0, discount = 1;
    Payoff payoff;
    for (int i = 0; i < c.fixings; ++i) {
        discount *= exp(-r * dt);
        r = m.level + (r - m.level) * decay + sd * sign * z[i];
        payoff.fixing(r, discount, dt, c);
    }
    *control = discount;
    return payoff.finish(discount, c);
}

template <unsigned BLOCK>
__device__ void block_add(double value, double *shared, double *out)
{
    const unsigned t = threadIdx.x;
    shared[t] = value;
    __syncthreads();
    if (BLOCK >= 256) { if (t < 128) shared[t] += shared[t + 128]; __syncthreads(); }
    if (BLOCK >= 128) { if (t < 64) shared[t] += shared[t + 64]; __syncthreads(); }
    if (t < 32) {
        double v = shared[t];
        if (BLOCK >= 64) v += shared[t + 32];
#pragma unroll
        for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(0xffffffffu, v, o);
        if (t == 0) atomicAdd(out, v);
    }
    __syncthreads();
}

template <typename Payoff, unsigned BLOCK>
__global__ void simulate(const ShortRate *model, const Contract *contracts, double *value, double *bond, int n_contracts,
                         int pairs, uint64_t seed)
{
    __shared__ double scratch[BLOCK];
    constexpr int kMax = 16;
    const int id = blockIdx.y;
    assert(id < n_contracts);
    const Contract c = contracts[id];
    double sum = 0, control = 0;
    for (int p = blockIdx.x * BLOCK + threadIdx.x; p < pairs; p += gridDim.x * BLOCK) {
        XorShift<double> rng(seed * 1000003u + p);
        double z[kMax], d1, d2;
        for (int i = 0; i < c.fixings; ++i) z[i] = rng.normal();
        sum += 0.5 * one_path<Payoff>(*model, c, z, 1.0, &d1);
        sum += 0.5 * one_path<Payoff>(*model, c, z, -1.0, &d2);
        control += 0.5 * (d1 + d2);
    }
    block_add<BLOCK>(sum / pairs, scratch, &value[id]);
    block_add<BLOCK>(control / pairs, scratch, &bond[id]);
}

// jumps added to a log price, compound Poisson by thinning uniform draws
__global__ void jump_diffusion(const float *spot, const float *vol, const float *intensity, float jump_mean, float jump_sd,
                               float *terminal, int n, int steps, float dt, uint32_t key)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = logf(spot[i]);
    for (int s = 0; s < steps; ++s) {
        const float u1 = (mix(key + i, 3 * s) + 1.f) * 2.3283064e-10f, u2 = mix(key + i, 3 * s + 1) * 2.3283064e-10f;
        const float u3 = mix(key + i, 3 * s + 2) * 2.3283064e-10f;
        const float z = sqrtf(-2.f * logf(u1)) * cospif(2.f * u2);
        x += -0.5f * vol[i] * vol[i] * dt + vol[i] * sqrtf(dt) * z;
        if (u3 < intensity[i] * dt) x += jump_mean + jump_sd * sinpif(2.f * u2);
    }
    terminal[i] = expf(x);
}

int main()
{
    ShortRate *m;
    Contract *c;
    double *v, *b;
    cudaMallocManaged(&m, sizeof(ShortRate));
    cudaMallocManaged(&c, 2 * sizeof(Contract));
    cudaMallocManaged(&v, 2 * sizeof(double));
    cudaMallocManaged(&b, 2 * sizeof(double));
    *m = {0.02, 0.3, 0.03, 0.01};
    c[0] = {100, 0.025, 2, 8};
    c[1] = {100, 0.03, 1, 4};
    v[0] = v[1] = b[0] = b[1] = 0;
    simulate<Caplets, 128><<<dim3(8, 2), 128>>>(m, c, v, b, 2, 10000, 42);
    simulate<AverageRate, 128><<<dim3(8, 2), 128>>>(m, c, v, b, 2, 10000, 42);
    simulate<RangeAccrual, 64><<<dim3(8, 2), 64>>>(m, c, v, b, 2, 10000, 42);
    cudaDeviceSynchronize();
    std::printf("%f %f\n", v[0], v[1]);
}
