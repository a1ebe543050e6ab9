// A bit of everything from the single-precision maths library.
__global__ void math_mix(const float *a, const float *b, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i];
    float first = powf(x, y) + tanhf(x - y) + erff(x * y) + log1pf(x) + expm1f(0.1f * y);
    float second = atan2f(x, y) + cbrtf(x) + hypotf(x, y) + fmaf(x, y, cosf(x)) + sinhf(0.3f * x) * coshf(0.2f * y);
    float third = asinf(0.4f * x) + acosf(0.3f * y) + tanf(0.5f * x) + exp2f(0.5f * y) + log2f(x) + log10f(y) + rsqrtf(x);
    out[i] = first + 0.5f * second + 0.25f * third;
}
