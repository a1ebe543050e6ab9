// The same in functions.
#include <vector>

struct Near {
  double distance;
  int at;
};

double nearest(int m, const double *p, const double *q) {
  double d[4];
  for (int k = 0; k < 4; ++k)
    d[k] = 1e3;
  for (int j = 0; j < m; ++j) {
    double v = 0;
    for (int c = 0; c < 3; ++c)
      v += (p[c] - q[3 * j + c]) * (p[c] - q[3 * j + c]);
    if (v >= d[3])
      continue;
    int k = 3;
    for (; k > 0 && d[k - 1] > v; --k)
      d[k] = d[k - 1];
    d[k] = v;
  }
  return d[0] + 2 * d[1] + d[2] * d[3];
}

double structs(int m, int most, const double *p, const double *q) {
  Near list[12];
  int size = 0, worst = 0;
  for (int j = 0; j < m; ++j) {
    double v = (p[0] - q[j]) * (p[0] - q[j]);
    if (size < most) {
      list[size] = {v, j};
      if (v > list[worst].distance)
        worst = size;
      ++size;
    } else if (v < list[worst].distance) {
      list[worst] = {v, j};
      for (int k = 0; k < most; ++k)
        if (list[k].distance > list[worst].distance)
          worst = k;
    }
  }
  double sum = 0;
  for (int k = 0; k < size; ++k)
    sum += list[k].distance * (k + 1) * q[list[k].at];
  return sum;
}

void parallel(int n, int m, const double *p, const double *q, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    double best = 1e3, second = 1e3, third = 1e3;
    for (int j = 0; j < m; ++j) {
      double v = (p[i] - q[j]) * (p[i] - q[j]) * (1 + q[j]);
      if (v < best) {
        third = second;
        second = best;
        best = v;
      } else if (v < second) {
        third = second;
        second = v;
      } else if (v < third) {
        third = v;
      }
    }
    y[i] = best * second + third;
  }
}
