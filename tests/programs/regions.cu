#include <cfloat>

// Maxima over windows whose corners are data, as pooling of regions of interest takes them.
__global__ void region_maxima(int n, const float *image, const float *boxes, float *out, int *argmax, int pooled, int channels,
                           int height, int width) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    int px = i % pooled, py = (i / pooled) % pooled, c = (i / pooled / pooled) % channels, r = i / pooled / pooled / channels;
    const float *box = boxes + 4 * r;
    float w = (box[2] - box[0]) / pooled, h = (box[3] - box[1]) / pooled;
    int x0 = min(max((int)floorf(box[0] + px * w), 0), width), x1 = min(max((int)ceilf(box[0] + (px + 1) * w), 0), width);
    int y0 = min(max((int)floorf(box[1] + py * h), 0), height), y1 = min(max((int)ceilf(box[1] + (py + 1) * h), 0), height);
    bool empty = y1 <= y0 || x1 <= x0;
    const float *plane = image + c * height * width;
    float best = empty ? 0.0f : -FLT_MAX;
    int at = -1;
    for (int y = y0; y < y1; ++y)
      for (int x = x0; x < x1; ++x) {
        int k = y * width + x;
        if (plane[k] > best) { best = plane[k]; at = k; }
      }
    out[i] = best;
    if (argmax != nullptr) argmax[i] = at;
  }
}

// Maxima of interpolated samples along lines, as alignment to borders and maximum intensity projections take them.
__device__ float sample(const float *plane, int height, int width, float y, float x) {
  if (y < -1.0f || y > height || x < -1.0f || x > width) return 0.0f;
  if (y <= 0) y = 0;
  if (x <= 0) x = 0;
  int y0 = (int)y, x0 = (int)x, y1, x1;
  if (y0 >= height - 1) { y1 = y0 = height - 1; y = (float)y0; } else y1 = y0 + 1;
  if (x0 >= width - 1) { x1 = x0 = width - 1; x = (float)x0; } else x1 = x0 + 1;
  float ly = y - y0, lx = x - x0, hy = 1.0f - ly, hx = 1.0f - lx;
  return hy * hx * plane[y0 * width + x0] + hy * lx * plane[y0 * width + x1] + ly * hx * plane[y1 * width + x0] +
         ly * lx * plane[y1 * width + x1];
}
__global__ void line_maxima(int n, const float *image, const float *lines, float *out, int *at, int channels, int height,
                            int width, int steps) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    int c = i % channels, l = i / channels;
    float x = lines[4 * l], y = lines[4 * l + 1], dx = (lines[4 * l + 2] - x) / steps, dy = (lines[4 * l + 3] - y) / steps;
    const float *plane = image + c * height * width;
    float best = sample(plane, height, width, y, x);
    int winner = 0;
    for (int s = 1; s <= steps; ++s) {
      x += dx;
      y += dy;
      float v = sample(plane, height, width, y, x);
      if (v > best) { best = v; winner = s; }
    }
    out[i] = best;
    at[i] = winner;
  }
}
