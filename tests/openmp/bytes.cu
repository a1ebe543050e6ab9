// Floating point behind pointers to bytes, as file formats and messages have it, and to other types without it.
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

struct Untyped {
  const void *from;
  const int *bits;
  float *y;
  int n;
};

__global__ void of_an_untyped_member(Untyped all) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < all.n) {
    float x = reinterpret_cast<const float *>(all.from)[i];
    all.y[i] = x * x;
  }
}

__global__ void of_a_member_of_integers(Untyped all) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < all.n) {
    float x = __int_as_float(all.bits[i]);
    all.y[i] = x * x;
  }
}

__global__ void of_a_chosen_member(Untyped all, int other) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < all.n) {
    float x = reinterpret_cast<const float *>(other ? all.from : all.bits)[i];
    all.y[i] = x * x;
  }
}

__global__ void of_integers(const int *bits, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = __int_as_float(bits[i]) * __int_as_float(bits[i]);
}

__global__ void of_counts(Untyped all) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < all.n)
    all.y[i] *= all.bits[i];
}
