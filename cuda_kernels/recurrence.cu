// Logistic map: a loop whose number of steps is known at run time only, each step using the last one's value.
__global__ void logistic(const float* x0, const float* rate, float* out, int n, int steps)
{
	const int tid = threadIdx.x + blockIdx.x * blockDim.x;
	if (tid < n)
	{
		float x = x0[tid];
		for (int s = 0; s < steps; ++s)
		{
			x = rate[tid] * x * (1.0f - x);
		}
		out[tid] = x;
	}
}
