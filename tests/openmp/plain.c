/* What C++ would not take: a pointer of malloc without a cast, a length from a parameter, tentative definitions. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct node {
  double value;
  struct node *next;
} node;

int calls;
int calls;

double listed(const double *x, int n) {
  node *first = NULL;
  for (int i = 0; i < n; ++i) {
    node *new = malloc(sizeof *new);
    *new = (node){.value = x[i] * x[i], .next = first};
    first = new;
  }
  double sum = 0, weight = 1;
  while (first) {
    node *next = first->next;
    sum += weight * sin(first->value);
    weight *= 0.75;
    free(first);
    first = next;
  }
  ++calls;
  return sum;
}

void product(int n, double a[n][n], double x[restrict n], double *y) {
  double row[n];
  for (int i = 0; i < n; ++i) {
    memset(row, 0, sizeof row);
    for (int j = 0; j < n; ++j)
      row[j] = a[i][j] * x[j];
    y[i] = 0;
    for (int j = 0; j < n; ++j)
      y[i] += row[j] * row[n - 1 - j];
  }
}

/* As translated from Fortran: from 1 on. */
void solved(const double *l, double *b, int *n) {
  int l_dim1 = *n;
  l -= 1 + l_dim1;
  --b;
#pragma omp parallel for num_threads(2)
  for (int i = 1; i <= *n; ++i)
    b[i] *= 2;
  for (int k = 1; k <= *n; ++k) {
    b[k] /= l[k + k * l_dim1];
    for (int i = k + 1; i <= *n; ++i)
      b[i] -= b[k] * l[i + k * l_dim1];
  }
}

void complexes(const double *x, double *primal, double *y, int n) {
  for (int i = 0; i < n; ++i) {
    double complex z = x[2 * i] + I * x[2 * i + 1];
    const double complex found[] = {cexp(z), clog(z), csqrt(z), cpow(z, z + 1), csin(z), ccos(z),
                                    ctan(z), csinh(z), ccosh(z), ctanh(z)};
    for (int k = 0; k < 10; ++k) {
      primal[20 * i + 2 * k] = creal(found[k]);
      primal[20 * i + 2 * k + 1] = cimag(found[k]);
      y[i] += cabs(found[k]) + carg(found[k] * conj(found[(k + 1) % 10])) + crealf(csqrtf(z));
    }
  }
}

static double helped(double v) { return v * v * v; }
