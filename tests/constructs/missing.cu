// Host code that needs what is not there, and a kernel that does.
#include "element.h"
#include <mpi.h>
#include <opencv2/opencv.hpp>
#include <vector>

texture<float, 2, cudaReadModeElementType> image;
static cv::Mat picture;
struct Ranks {
    MPI_Comm all;
};

template <class T> __global__ void beside_missing_headers(const T *x, T *y, int n)
{
    MY_ELEMENT(n);
    y[i] = x[i] * x[i];
}

__global__ void reads_a_texture_reference(float *y, int n)
{
    MY_ELEMENT(n);
    const float value = tex2D(image, i + 0.5f, 0.5f);
    y[i] = value;
}

__device__ float elsewhere(float v);

__global__ void calls_what_is_elsewhere(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = elsewhere(x[i]);
}

class Window {
  public:
    void show(const std::vector<float> &values)
    {
        cv::Mat shown(1, values.size(), CV_32F);
        for (int i = 0; i < shown.cols; ++i) {
            shown.at<float>(0, i) = values[i];
        }
        cv::imshow("values", shown);
    }
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    picture = cv::imread(argv[1]);
    if (picture.empty()) {
        return 1;
    } else {
        cudaBindTextureToArray(image, nullptr);
    }
    float *x = nullptr, *y = nullptr;
    beside_missing_headers<float><<<picture.rows, 256>>>(x, y, picture.cols);
    beside_missing_headers<float><<<1, 256>>>(x, y, 256);
    calls_what_is_elsewhere<<<1, 256>>>(x, y, 256);
    const double elapsed = MPI_Wtime();
    MPI_Finalize();
    return 0;
}
