#define CALLED
#include "annotated.h"

double total(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += both(x[i]);
    return sum;
}
