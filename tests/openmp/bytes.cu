// Floating point behind pointers to bytes, as file formats and messages have it.
struct Rows {
  char *data;
  int stride;
};

__global__ void of_a_member(Rows rows, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = *reinterpret_cast<const float *>(rows.data + i * rows.stride);
    y[i] = x * x;
  }
}

__global__ void of_a_parameter(const unsigned char *bytes, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = reinterpret_cast<const float *>(bytes)[i];
    y[i] += x * x;
  }
}

__global__ void of_pixels(const unsigned char *pixels, const float *gain, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = gain[i] * pixels[i];
}
