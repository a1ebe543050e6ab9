// Parameters gathered in a struct that is passed by value.
struct Lens {
    float focal;
    float centre;
    int order;
    float distortion[2];
};

__global__ void project(const float *depth, const float *height, float *pixel, Lens lens, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float slope = height[i] / depth[i];
    float bend = 1.0f + lens.distortion[0] * slope * slope;
    if (lens.order > 1) bend += lens.distortion[1] * slope * slope * slope * slope;
    pixel[i] = lens.focal * slope * bend + lens.centre;
}
