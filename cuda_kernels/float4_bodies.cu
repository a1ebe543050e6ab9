// The layout of the classic N-body samples: position and mass in one float4, result in a float3.
__global__ void field(const float4 *body, const float3 *probe, float3 *result, int bodies, int probes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= probes) return;
    float3 at = probe[i];
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int j = 0; j < bodies; j++) {
        float4 b = body[j];
        float3 d = make_float3(b.x - at.x, b.y - at.y, b.z - at.z);
        float r2 = d.x * d.x + d.y * d.y + d.z * d.z + 0.01f;
        float s = b.w / (r2 * sqrtf(r2));
        sum.x += s * d.x;
        sum.y += s * d.y;
        sum.z += s * d.z;
    }
    result[i] = sum;
}
