// Six arrays and hardly any work: what a call costs is what is measured.
__global__ void six(int n, const float *a, const float *b, const float *c, const float *d, const float *e, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a[i] * b[i] + c[i] * d[i] + e[i] * e[i];
}
