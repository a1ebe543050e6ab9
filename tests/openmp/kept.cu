// Loops that keep the best of their iterations' numbers in a list.
#include "kept_lists.h"

__global__ void inserted1(int n, int m, const double *__restrict__ p, const double *__restrict__ q,
                          double *__restrict__ y, int *__restrict__ which) {
  inserted<1>(n, m, p, q, y, which);
}

__global__ void inserted5(int n, int m, const double *__restrict__ p, const double *__restrict__ q,
                          double *__restrict__ y, int *__restrict__ which) {
  inserted<5>(n, m, p, q, y, which);
}

// Sorted, by swaps; no index beside the number.
__global__ void swapped(int n, int m, const double *__restrict__ p, const double *__restrict__ q,
                        double *__restrict__ y) {
  FOR_EACH(i, n) {
    double d[4] = {1e3, 1e3, 1e3, 1e3};
    for (int j = 0; j < m; ++j) {
      double near = squared(p + 3 * i, q + 3 * j);
      for (int k = 0; k < 4; ++k)
        if (near < d[k]) {
          double other = d[k];
          d[k] = near;
          near = other;
        }
    }
    for (int k = 0; k < 4; ++k)
      y[i * 4 + k] = d[k] * (k + 1);
  }
}

// Not sorted: the worst is replaced, and looked for again.
__global__ void replaced(int n, int m, const double *__restrict__ p, const double *__restrict__ q,
                         double *__restrict__ y, int *__restrict__ which) {
  FOR_EACH(i, n) {
    double d[6], most;
    int at[6], size = 0, worst = 0;
    for (int j = 0; j < m; ++j) {
      double near = squared(p + 3 * i, q + 3 * j);
      if (size < 6) {
        d[size] = near;
        at[size] = j;
        if (size == 0 || near > most) {
          most = near;
          worst = size;
        }
        ++size;
      } else if (near < most) {
        d[worst] = near;
        at[worst] = j;
        most = near;
        for (int k = 0; k < 6; ++k)
          if (d[k] > most) {
            most = d[k];
            worst = k;
          }
      }
    }
    for (int k = 0; k < size; ++k) {
      y[i * 6 + k] = d[k];
      which[i * 6 + k] = at[k];
    }
  }
}

struct Hit {
  double depth;
  int disc;
  double side, area;
};

// Of structs, of which most stay empty, sorted behind the loop: several numbers an entry, some iterations pass by.
__global__ void layers(int n, int m, int most, const double *__restrict__ rays, const double *__restrict__ discs,
                       double *__restrict__ y, int *__restrict__ which) {
  FOR_EACH(i, n) {
    Hit hits[50];
    int size = 0, worst = -1;
    double furthest = -1000;
    for (int j = 0; j < m; ++j) {
      double depth = discs[4 * j + 2];
      if (depth < 0)
        continue;
      double dx = rays[2 * i] - discs[4 * j], dy = rays[2 * i + 1] - discs[4 * j + 1], r = discs[4 * j + 3];
      double off = dx * dx + dy * dy;
      if (off > r * r)
        continue;
      if (size < most) {
        hits[size] = {depth * depth, j, dx * r, off};
        if (depth * depth > furthest) {
          furthest = depth * depth;
          worst = size;
        }
        ++size;
      } else if (depth * depth < furthest) {
        hits[worst] = {depth * depth, j, dx * r, off};
        furthest = depth * depth;
        for (int k = 0; k < most; ++k)
          if (hits[k].depth > furthest) {
            furthest = hits[k].depth;
            worst = k;
          }
      }
    }
    for (int a = 0; a < size - 1; ++a)
      for (int b = 0; b < size - a - 1; ++b)
        if (hits[b + 1].depth < hits[b].depth) {
          Hit other = hits[b];
          hits[b] = hits[b + 1];
          hits[b + 1] = other;
        }
    double through = 1, sum = 0;
    for (int k = 0; k < size; ++k) {
      sum += through * hits[k].side * hits[k].depth;
      through *= 1 - 0.1 * hits[k].area;
      which[i * most + k] = hits[k].disc;
    }
    y[i] = sum;
  }
}

// Each thread looks at some of the candidates; the best two in variables, from a list that begins with numbers.
__global__ void strided(int m, int rows, const double *__restrict__ x, const double *__restrict__ first,
                        double *__restrict__ y) {
  for (int i = 0; i < rows; ++i) {
    double best = first[2 * i] * first[2 * i], second = first[2 * i + 1] + 2;
    for (int j = threadIdx.x; j < m; j += blockDim.x) {
      double v = x[i * m + j] * x[i * m + j];
      if (v < best) {
        second = best;
        best = v;
      } else if (v < second) {
        second = v;
      }
    }
    y[i * blockDim.x + threadIdx.x] = second - 0.5 * best;
  }
}

// Tiles in shared memory, one list through all of them, which begins with the first candidates.
__global__ void tiles(int m, const double *__restrict__ x, const double *__restrict__ q, double *__restrict__ y) {
  __shared__ double tile[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double d[3];
  for (int k = 0; k < 3; ++k)
    d[k] = 5 + k * x[i];
  for (int begin = 0; begin < m; begin += 32) {
    __syncthreads();
    tile[threadIdx.x] = begin + threadIdx.x < m ? q[begin + threadIdx.x] : 1e3;
    __syncthreads();
    for (int j = 0; j < 32; ++j) {
      double v = (tile[j] - x[i]) * (tile[j] - x[i]);
      if (v < d[2]) {
        int k = 2;
        while (k > 0 && d[k - 1] > v) {
          d[k] = d[k - 1];
          --k;
        }
        d[k] = v;
      }
    }
  }
  y[i] = d[0] + 2 * d[1] * d[2];
}

// Two kinds of numbers in one list, and an inner loop in what is computed again.
__global__ void mixed(int n, int m, int terms, const double *__restrict__ p, const double *__restrict__ q,
                      double *__restrict__ y) {
  FOR_EACH(i, n) {
    double d[3] = {50, 50, 50};
    for (int j = 0; j < m; ++j) {
      double sum = 0;
      for (int t = 0; t < terms; ++t)
        sum += (p[i] - q[j]) * (p[i] + t * q[j]);
      double v = sum > 0 ? sum : -sum;
      if (q[j] < 0)
        v = 0.25 * q[j] * q[j];
      if (v < d[2]) {
        d[2] = v;
        if (d[2] < d[1]) {
          d[2] = d[1];
          d[1] = v;
        }
        if (d[1] < d[0]) {
          d[1] = d[0];
          d[0] = j % 3 ? v : 2 * p[i];
        }
      }
    }
    y[i] = d[0] + 3 * d[1] * d[2];
  }
}

// Nothing of these is computed again: what is kept is used for more than comparisons, and written where it is read.
__global__ void summed(int n, int m, const double *__restrict__ p, const double *__restrict__ q,
                       double *__restrict__ y) {
  FOR_EACH(i, n) {
    double best = 1e3, second = 1e3, sum = 0;
    for (int j = 0; j < m; ++j) {
      double v = (p[i] - q[j]) * (p[i] - q[j]);
      if (v < best) {
        second = best;
        best = v;
      } else if (v < second) {
        second = v;
      }
      sum += second * q[j];
    }
    y[i] = best + second + sum;
  }
}

__global__ void relaxed(int n, int m, const double *__restrict__ q, double *__restrict__ y) {
  FOR_EACH(i, n) {
    double d[4];
    for (int k = 0; k < 4; ++k)
      d[k] = 10 + k;
    for (int j = 0; j < m; ++j)
      for (int k = 1; k < 4; ++k) {
        double v = d[k - 1] * 0.5 + q[i * m + j];
        if (v < d[k])
          d[k] = v;
      }
    y[i] = d[1] + d[2] * d[3];
  }
}
