// Memory that the threads of a team allocate: for themselves, and for each other.
#include <cmath>
#include <cstddef>
#include <vector>

#include <omp.h>

double own(const double *x, int n) { // a vector that each thread has a copy of, and one for each iteration
  std::vector<double> scaled(n);
  double sum = 0;
#pragma omp parallel for firstprivate(scaled) reduction(+ : sum)
  for (int i = 0; i < 4 * n; ++i) {
    std::vector<double> running(n);
    for (int j = 0; j < n; ++j)
      scaled[j] = x[j] * std::sin(x[(i + j) % n]);
    for (int j = 0; j < n; ++j)
      running[j] = scaled[j] * scaled[n - 1 - j] + (j > 0 ? 0.5 * running[j - 1] : 0);
    sum += running[n - 1] * running[n / 2];
  }
  return sum;
}

double rows(const double *x, int n) { // each thread makes rows, which all read in another region
  std::vector<std::vector<double>> made(2 * n);
#pragma omp parallel for
  for (int i = 0; i < 2 * n; ++i) {
    made[i].resize(n);
    for (int j = 0; j < n; ++j)
      made[i][j] = x[j] * std::cos(x[i % n] * (i + 1));
  }
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 200 * n; ++i)
    for (int j = 0; j < n; ++j)
      sum += made[i % (2 * n)][j] * made[0][j] * made[j][(i + j) % n];
  return sum;
}

double neighbours(const double *x, int n) { // each thread makes an array, which the next one reads in the same region
  std::vector<double *> made(omp_get_max_threads(), nullptr);
  double sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    const int thread = omp_get_thread_num();
    double *mine = new double[n];
    made[thread] = mine;
    for (int j = 0; j < n; ++j)
      mine[j] = std::sin(x[j]);
#pragma omp barrier
    const double *other = made[(thread + 1) % omp_get_num_threads()], *first = made[0];
#pragma omp for
    for (int i = 0; i < 500 * n; ++i)
      sum += other[i % n] * first[(i + 1) % n] * x[i % n];
#pragma omp barrier
    delete[] mine;
  }
  return sum;
}
