// Short functions, and their adjoints as one writes them by hand: those have `by_hand_` before their name, and take after the
// arguments the cotangent of what is returned, and the arrays that they add to.
#include <algorithm>
#include <cmath>
#include <vector>

double log_sum_exp(const double *x, int n)
{
    const double top = *std::max_element(x, x + n);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += std::exp(x[i] - top);
    return top + std::log(sum);
}

double least_squares(const double *matrix, const double *x, const double *b, int rows, int columns)
{
    double sum = 0;
    for (int i = 0; i < rows; i++) {
        double r = -b[i];
        for (int j = 0; j < columns; j++)
            r += matrix[i * columns + j] * x[j];
        sum += r * r;
    }
    return 0.5 * sum;
}

// The sum of the squared distances of points from the nearest centre.
double nearest(const double *points, const double *centres, int n, int k, int d)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double least = INFINITY;
        for (int c = 0; c < k; c++) {
            double distance = 0;
            for (int j = 0; j < d; j++) {
                const double difference = points[i * d + j] - centres[c * d + j];
                distance += difference * difference;
            }
            least = std::min(least, distance);
        }
        sum += least;
    }
    return sum;
}

// A determinant by minors: `columns` are those that are left, `row` is the first row of the rest.
static double minors(const double *matrix, int n, int row, unsigned columns)
{
    if (row == n)
        return 1;
    double sum = 0, sign = 1;
    for (int j = 0; j < n; j++)
        if (columns >> j & 1) {
            sum += sign * matrix[row * n + j] * minors(matrix, n, row + 1, columns & ~(1u << j));
            sign = -sign;
        }
    return sum;
}

double determinant(const double *matrix, int n) { return minors(matrix, n, 0, (1u << n) - 1); }

#ifdef BY_HAND
extern "C" {

void by_hand_log_sum_exp(const double *x, int n, double cotangent, double *dx)
{
    const double top = *std::max_element(x, x + n);
    double sum = 0;
    std::vector<double> terms(n);
    for (int i = 0; i < n; i++)
        sum += terms[i] = std::exp(x[i] - top);
    for (int i = 0; i < n; i++)
        dx[i] += cotangent / sum * terms[i];
}

void by_hand_least_squares(const double *matrix, const double *x, const double *b, int rows, int columns, double cotangent,
                           double *dx, double *db)
{
    for (int i = 0; i < rows; i++) {
        double r = -b[i];
        for (int j = 0; j < columns; j++)
            r += matrix[i * columns + j] * x[j];
        for (int j = 0; j < columns; j++)
            dx[j] += cotangent * r * matrix[i * columns + j];
        db[i] -= cotangent * r;
    }
}

void by_hand_nearest(const double *points, const double *centres, int n, int k, int d, double cotangent, double *dpoints,
                     double *dcentres)
{
    for (int i = 0; i < n; i++) {
        double least = INFINITY;
        int best = 0;
        for (int c = 0; c < k; c++) {
            double distance = 0;
            for (int j = 0; j < d; j++) {
                const double difference = points[i * d + j] - centres[c * d + j];
                distance += difference * difference;
            }
            if (distance < least) {
                least = distance;
                best = c;
            }
        }
        for (int j = 0; j < d; j++) {
            const double add = 2 * cotangent * (points[i * d + j] - centres[best * d + j]);
            dpoints[i * d + j] += add;
            dcentres[best * d + j] -= add;
        }
    }
}

static void back_minors(const double *matrix, int n, int row, unsigned columns, double cotangent, double *dmatrix)
{
    double sign = cotangent;
    for (int j = 0; j < n; j++)
        if (columns >> j & 1) {
            const unsigned rest = columns & ~(1u << j);
            dmatrix[row * n + j] += sign * minors(matrix, n, row + 1, rest);
            if (row + 1 < n)
                back_minors(matrix, n, row + 1, rest, sign * matrix[row * n + j], dmatrix);
            sign = -sign;
        }
}

void by_hand_determinant(const double *matrix, int n, double cotangent, double *dmatrix)
{
    back_minors(matrix, n, 0, (1u << n) - 1, cotangent, dmatrix);
}
}
#endif
