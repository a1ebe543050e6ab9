// Logistic map: a loop whose number of steps is known at run time only, each step using the last one's value.
template <typename Real>
__device__ void iterate(const Real* x0, const Real* rate, Real* out, int n, int steps)
{
	const int tid = threadIdx.x + blockIdx.x * blockDim.x;
	if (tid < n)
	{
		Real x = x0[tid];
		for (int s = 0; s < steps; ++s)
		{
			x = rate[tid] * x * (Real(1) - x);
		}
		out[tid] = x;
	}
}

__global__ void logistic(const double* x0, const double* rate, double* out, int n, int steps)
{
	iterate(x0, rate, out, n, steps);
}

__global__ void logistic_float(const float* x0, const float* rate, float* out, int n, int steps)
{
	iterate(x0, rate, out, n, steps);
}
