struct Grid {
  const double *cells;
  const double *weights;
  double *scratch;
};

struct Data {
  int n;
  Grid grid;
  const double *x;
  double *out;
  double scale;
};

__global__ void energy(Data d, const double *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= d.n)
    return;
  double sum = 0;
  for (int k = 0; k < d.n; ++k)
    sum += sin(d.grid.cells[k] * d.x[i]) * d.grid.weights[k];
  d.grid.scratch[i] = sum * sum;
  d.out[i] += d.scale * sum * sum * y[i];
}

__device__ double __noinline__ total(const Data *d, int depth) {
  return depth == 0 ? d->x[0] : d->x[depth] + total(d, depth - 1);
}

__global__ void handed_on(Data d) { d.out[0] = total(&d, d.n - 1); }
