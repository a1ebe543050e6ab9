// A small fully connected network in modern C++: std::vector layers, a lambda for the activation, std::transform.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <numeric>
#include <vector>

namespace net {

template <typename T>
std::vector<T> dense(const T *weights, const std::vector<T> &input, std::size_t outputs)
{
    std::vector<T> result(outputs);
    for (std::size_t o = 0; o < outputs; ++o)
        result[o] = std::inner_product(input.begin(), input.end(), weights + o * input.size(), T(0));
    return result;
}

template <typename T>
T cross_entropy(const std::vector<T> &logits, int target)
{
    const T top = *std::max_element(logits.begin(), logits.end());
    T sum = 0;
    for (const T &z : logits)
        sum += std::exp(z - top);
    return std::log(sum) + top - logits[target];
}

float loss(const float *images, const int *labels, const float *w1, const float *w2, int count, int inputs, int hidden,
           int classes)
{
    float total = 0;
    for (int i = 0; i < count; ++i) {
        const std::vector<float> x(images + i * inputs, images + (i + 1) * inputs);
        auto h = dense(w1, x, hidden);
        std::transform(h.begin(), h.end(), h.begin(), [](float v) { return v / (1.0f + std::exp(-v)); });
        total += cross_entropy(dense(w2, h, classes), labels[i]);
    }
    return total / static_cast<float>(count);
}

} // namespace net

int main()
{
    std::vector<float> images(40, 0.5f), w1(24, 0.1f), w2(18, -0.1f);
    std::array<int, 10> labels{};
    std::cout << net::loss(images.data(), labels.data(), w1.data(), w2.data(), 10, 4, 6, 3) << std::endl;
}
