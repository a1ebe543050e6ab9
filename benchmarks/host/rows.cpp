// Losses of classes: each row of scores has a vector of its own.
#include <algorithm>
#include <cmath>
#include <vector>

double cross_entropy(const double *x, const double *w, const int *label, int rows, int inputs, int classes)
{
    double total = 0;
    for (int r = 0; r < rows; ++r) {
        std::vector<double> scores(classes);
        for (int c = 0; c < classes; ++c) {
            scores[c] = 0;
            for (int i = 0; i < inputs; ++i)
                scores[c] += w[c * inputs + i] * x[r * inputs + i];
        }
        const double most = *std::max_element(scores.begin(), scores.end());
        double sum = 0;
        for (double s : scores)
            sum += std::exp(s - most);
        total += most + std::log(sum) - scores[label[r]];
    }
    return total / rows;
}
