// Derivatives of barriers. A barrier moves no values, so its adjoint is a barrier: what one thread
// accumulated into shared memory before it in the reverse sweep is read by others after it.
// The pointer, with its shadow, only tells Enzyme that the call belongs to differentiated memory. Every argument of a derivative
// comes twice: a pointer with its shadow, an integer with itself.
#define RULE extern "C" __attribute__((device, noinline))

RULE void adgen_rule_barrier(void *) { __nvvm_bar_sync(0); }
RULE void adgen_rule_barrier_augmented(void *, void *) { __nvvm_bar_sync(0); }
RULE void adgen_rule_barrier_reverse(void *, void *) { __nvvm_bar_sync(0); }

// Where threads may return before a barrier that others wait at, the reverse sweep has to begin with those barriers: each thread that has
// no more to do forward (adgen_rule_turn, at the end) goes on to wait with the others and counts how often. The lanes of a warp then wait
// at different places, so these barriers are not the aligned ones.
extern "C" __attribute__((device, convergent)) void wait_apart(int) __asm("llvm.nvvm.barrier.cta.sync.all");
extern "C" __attribute__((device, convergent)) bool all_wait_apart(int, bool) __asm("llvm.nvvm.barrier.cta.red.and.all");

RULE void adgen_rule_counted_barrier(void *) { __nvvm_bar_sync(0); }
RULE void adgen_rule_counted_barrier_augmented(void *, void *) { all_wait_apart(0, false); }
RULE void adgen_rule_counted_barrier_reverse(void *, void *) { wait_apart(0); }

RULE void adgen_rule_turn(void *) {}
RULE void adgen_rule_turn_augmented(void *, void *) {}
RULE void adgen_rule_turn_reverse(void *, void *) {
  int missed = 0;
  while (!all_wait_apart(0, true))
    ++missed;
  for (; missed > 0; --missed)
    wait_apart(0);
}

RULE void adgen_rule_warp_barrier(void *, unsigned mask) { __nvvm_bar_warp_sync(mask); }
RULE void adgen_rule_warp_barrier_augmented(void *, void *, unsigned mask, unsigned) { __nvvm_bar_warp_sync(mask); }
RULE void adgen_rule_warp_barrier_reverse(void *, void *, unsigned mask, unsigned) { __nvvm_bar_warp_sync(mask); }

// Lanes that do the same at once without saying so: those that are there meet.
static __attribute__((device)) void meet() { __nvvm_bar_warp_sync(__nvvm_activemask()); }

RULE void adgen_rule_lockstep(void *) { meet(); }
RULE void adgen_rule_lockstep_augmented(void *, void *) { meet(); }
RULE void adgen_rule_lockstep_reverse(void *, void *) { meet(); }

// On the host (adgen-host-rules) a reverse sweep's barriers are known by their number: lanes that wait there have returned from the primal.
enum { InReverse = 16 };

RULE void adgen_rule_barrier_reverse_on_host(void *, void *) { __nvvm_bar_sync(InReverse); }
RULE void adgen_rule_counted_barrier_reverse_on_host(void *, void *) { wait_apart(InReverse); }
RULE void adgen_rule_turn_reverse_on_host(void *, void *) {
  int missed = 0;
  while (!all_wait_apart(InReverse, true))
    ++missed;
  for (; missed > 0; --missed)
    wait_apart(InReverse);
}

// A barrier of the whole grid (adgen-select-kernels) has a number of its own until adgen-lower-grid-barriers makes it a call.
enum { OfGrid = 32 };
extern "C" __attribute__((device, convergent)) void wait_together(int) __asm("llvm.nvvm.barrier.cta.sync.aligned.all");

RULE void adgen_rule_grid_barrier(void *) { wait_together(OfGrid); }
RULE void adgen_rule_grid_barrier_augmented(void *, void *) { wait_together(OfGrid); }
RULE void adgen_rule_grid_barrier_reverse(void *, void *) { wait_together(OfGrid); }
RULE void adgen_rule_grid_barrier_reverse_on_host(void *, void *) { wait_together(OfGrid + InReverse); }

// What the driver keeps for a cooperative launch: the second word counts blocks. The first block adds so much less than one for each other
// that the highest bit changes when all have come, and the count goes on from there.
extern "C" __attribute__((device)) unsigned workspace_low() __asm("llvm.nvvm.read.ptx.sreg.envreg2");
extern "C" __attribute__((device)) unsigned workspace_high() __asm("llvm.nvvm.read.ptx.sreg.envreg1");

extern "C" __attribute__((device, noinline)) void adgen_wait_for_grid() {
  __nvvm_bar_sync(0);
  if ((__nvvm_read_ptx_sreg_tid_x() | __nvvm_read_ptx_sreg_tid_y() | __nvvm_read_ptx_sreg_tid_z()) == 0) {
    unsigned *arrived = (unsigned *)((unsigned long)workspace_high() << 32 | workspace_low()) + 1;
    const unsigned blocks = __nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_nctaid_y() * __nvvm_read_ptx_sreg_nctaid_z();
    const bool first = (__nvvm_read_ptx_sreg_ctaid_x() | __nvvm_read_ptx_sreg_ctaid_y() | __nvvm_read_ptx_sreg_ctaid_z()) == 0;
    __nvvm_membar_gl();
    const unsigned before = __nvvm_atom_add_gen_i((int *)arrived, first ? 0x80000000u - (blocks - 1) : 1u);
    while (((before ^ *(volatile unsigned *)arrived) & 0x80000000u) == 0)
      ;
    __nvvm_membar_gl();
  }
  __nvvm_bar_sync(0);
}
