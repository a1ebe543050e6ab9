// Comparisons of what mathematical functions give, of numbers that are made for them alone.
struct Point {
  float x, y;
};

// The area of the polygon that has these corners, in the order of their angles.
__global__ void area(const float *corners, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  Point kept[6];
  int count = 0;
  for (int k = 0; k < 6; ++k) {
    const Point each = {corners[12 * i + 2 * k], corners[12 * i + 2 * k + 1]};
    if (each.x + each.y > -1)
      kept[count++] = each;
  }
  for (int round = 0; round < count - 1; ++round)
    for (int k = 0; k < count - round - 1; ++k)
      if (atan2(kept[k].y, kept[k].x) > atan2(kept[k + 1].y, kept[k + 1].x)) {
        const Point other = kept[k];
        kept[k] = kept[k + 1];
        kept[k + 1] = other;
      }
  float sum = 0;
  for (int k = 0; k < count - 1; ++k)
    sum += kept[k].x * kept[k + 1].y - kept[k].y * kept[k + 1].x;
  y[i] = sum / 2;
}

// One step of a sort by the sine.
__global__ void swapped(const double *x, double *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double own[4];
  for (int k = 0; k < 4; ++k)
    own[k] = x[4 * i + k] * 2;
  for (int k = 0; k < 3; ++k)
    if (sinpi(0.3 * own[k]) > atan2(own[k + 1], 1.0)) {
      const double other = own[k];
      own[k] = own[k + 1];
      own[k + 1] = other;
    }
  y[i] = own[0] + 2 * own[1] + 3 * own[3];
}
