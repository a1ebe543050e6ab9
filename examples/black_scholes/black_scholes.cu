// Prices a chain of European options with the Black-Scholes formula.
//
//   nvcc -O2 black_scholes.cu -o black_scholes && ./black_scholes options.csv
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                       \
    do {                                                                                  \
        cudaError_t status = (call);                                                      \
        if (status != cudaSuccess) {                                                      \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            std::exit(1);                                                                 \
        }                                                                                 \
    } while (0)

__device__ float normal_cdf(float x) { return 0.5f * erfcf(-0.70710678f * x); }

// Value of one contract: a call for sign = 1, a put for sign = -1.
__device__ float contract_value(float spot, float strike, float rate, float vol, float maturity, float sign) {
    float deviation = vol * sqrtf(maturity);
    float d1 = (logf(spot / strike) + (rate + 0.5f * vol * vol) * maturity) / deviation;
    float d2 = d1 - deviation;
    float discount = expf(-rate * maturity);
    return sign * (spot * normal_cdf(sign * d1) - strike * discount * normal_cdf(sign * d2));
}

__global__ void price(const float *spot, const float *strike, const float *rate, const float *vol,
                      const float *maturity, const int *is_call, float *price, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sign = is_call[i] ? 1.0f : -1.0f;
    price[i] = contract_value(spot[i], strike[i], rate[i], vol[i], maturity[i], sign);
}

struct Chain {
    std::vector<float> spot, strike, rate, vol, maturity;
    std::vector<int> is_call;
};

static Chain read_chain(const char *path) {
    FILE *file = std::fopen(path, "r");
    if (!file) {
        std::perror(path);
        std::exit(1);
    }
    Chain chain;
    char header[256];
    if (!std::fgets(header, sizeof header, file)) std::exit(1);
    int is_call;
    float spot, strike, rate, vol, maturity;
    while (std::fscanf(file, "%*[^,],%d,%f,%f,%f,%f,%f ", &is_call, &spot, &strike, &rate, &vol, &maturity) == 6) {
        chain.is_call.push_back(is_call);
        chain.spot.push_back(spot);
        chain.strike.push_back(strike);
        chain.rate.push_back(rate);
        chain.vol.push_back(vol);
        chain.maturity.push_back(maturity);
    }
    std::fclose(file);
    return chain;
}

template <typename T>
static T *to_device(const std::vector<T> &values) {
    T *device;
    CHECK(cudaMalloc(&device, values.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main(int argc, char **argv) {
    Chain chain = read_chain(argc > 1 ? argv[1] : "options.csv");
    int n = static_cast<int>(chain.spot.size());
    float *spot = to_device(chain.spot), *strike = to_device(chain.strike), *rate = to_device(chain.rate);
    float *vol = to_device(chain.vol), *maturity = to_device(chain.maturity);
    int *is_call = to_device(chain.is_call);
    std::vector<float> result(n);
    float *value = to_device(result);

    int threads = 256, blocks = (n + threads - 1) / threads;
    price<<<blocks, threads>>>(spot, strike, rate, vol, maturity, is_call, value, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(result.data(), value, n * sizeof(float), cudaMemcpyDeviceToHost));

    for (int i = 0; i < n && i < 10; i++)
        std::printf("%-4s %10.2f  %6.3f years  %10.4f\n", chain.is_call[i] ? "call" : "put", chain.strike[i],
                    chain.maturity[i], result[i]);
    double total = 0;
    for (float v : result) total += v;
    std::printf("%d contracts, one of each costs %.2f\n", n, total);

    for (void *p : {(void *)spot, (void *)strike, (void *)rate, (void *)vol, (void *)maturity, (void *)is_call,
                    (void *)value})
        CHECK(cudaFree(p));
}
