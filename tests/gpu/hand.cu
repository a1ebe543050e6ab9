// Kernels and gradients written by hand to the binary interface of the cubin; hand.ptx is made from this file by
//   clang-22 -x cuda --cuda-device-only -nocudainc -nogpulib --cuda-gpu-arch=sm_75 -O2 -S hand.cu -o hand.ptx
#define KERNEL extern "C" __attribute__((global)) void
#define SHARED __attribute__((shared))
#define AT (__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())
struct particle {
  float q[3];
  int id;
  double m;
};
__attribute__((device)) unsigned adgen_heap_exhausted;

// y += a * x, with a active
KERNEL axpy(int n, float a, const float *x, float *y) {
  int i = AT;
  if (i < n) y[i] += a * x[i];
}
KERNEL axpy_grad(int n, float a, const float *x, float *y, float *da, float *dx, float *dy) {
  int i = AT;
  if (i >= n) return;
  y[i] += a * x[i];
  dx[i] += a * dy[i];
  __nvvm_atom_add_gen_f(da, x[i] * dy[i]);
}
// out = p.m * p.q[0], a struct by value
KERNEL weigh(particle p, double *out) { *out = p.m * p.q[0]; }
KERNEL weigh_grad(particle p, double *out, particle *dp, double *dout) {
  *out = p.m * p.q[0];
  dp->m += *dout * p.q[0];
  dp->q[0] += (float)(*dout * p.m);
  *dout = 0;
}
// Tells its dynamic shared memory: seen[0] the bytes that the launch gave, seen[1] the last argument
extern SHARED int words[];
__attribute__((device)) static void look(unsigned *seen) {
  words[0] = 1;
  unsigned bytes;
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  seen[0] = bytes;
}
KERNEL dynamic(unsigned *seen) { look(seen); }
KERNEL dynamic_grad(unsigned *seen, unsigned primal_bytes) {
  look(seen);
  seen[1] = primal_bytes;
}
// Says that the heap ran out where `out` holds a negative number
KERNEL hungry(double *x) { *x *= 2; }
KERNEL hungry_grad(double *x, double *dx) {
  if (*x < 0) adgen_heap_exhausted = 1;
  *dx *= 2;
}
KERNEL crashes(double *x) { *(double *)8 = *x; }
