// Queues and stacks of the standard library, whose elements lie in pieces that a table leads to.
#include <cmath>
#include <deque>
#include <stack>

// The largest of each `k` numbers in a row.
double largest_in_windows(const double *x, int n, int k)
{
    std::deque<int> places;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        while (!places.empty() && x[places.back()] <= x[i])
            places.pop_back();
        places.push_back(i);
        if (places.front() <= i - k) places.pop_front();
        if (i >= k - 1) sum += x[places.front()] * (i + 1);
    }
    return sum;
}

// A formula in Polish notation: numbers, a sine (3), a sum (4) or a product (5).
double computed(const double *x, const int *formula, int n)
{
    std::stack<double> numbers;
    for (int i = 0; i < n; i++) {
        if (formula[i] < 3) {
            numbers.push(x[formula[i]]);
            continue;
        }
        double last = numbers.top();
        numbers.pop();
        if (formula[i] == 3) {
            numbers.push(std::sin(last));
            continue;
        }
        double one = numbers.top();
        numbers.pop();
        numbers.push(formula[i] == 4 ? one + last : one * last);
    }
    return numbers.top();
}
