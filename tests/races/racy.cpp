// A race of the user's own, to see that races are found.
double racy(const double *x, int n)
{
    double sum = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}
