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
// at different places, so these barriers are not the aligned ones. What brings lanes together that are apart runs one of those places for
// all of them, and registers are the same at all places but those for results: so no such barrier has a result. Between two barriers it is
// written that someone has come to one in the forward sweep; only changes are asked for, so it does not matter what is there at first.
extern "C" __attribute__((device, convergent)) void wait_apart(int) __asm("llvm.nvvm.barrier.cta.sync.all");
static __attribute__((shared)) unsigned adgen_waits_begun, adgen_waits_counted;

static __attribute__((device)) volatile unsigned *waits() { return &adgen_waits_begun; }

RULE void adgen_rule_counted_barrier(void *) { __nvvm_bar_sync(0); }
RULE void adgen_rule_counted_barrier_augmented(void *, void *) {
  wait_apart(0);
  *waits() = *waits() + 1;
  wait_apart(0);
}
RULE void adgen_rule_counted_barrier_reverse(void *, void *) { wait_apart(0); }

// How many threads say so, in a phase of two barriers.
extern "C" __attribute__((device, noinline)) int adgen_lanes_tally(bool says) {
  volatile unsigned *counted = &adgen_waits_counted;
  const unsigned before = *counted;
  wait_apart(0);
  if (says)
    __atomic_fetch_add(&adgen_waits_counted, 1u, __ATOMIC_RELAXED);
  wait_apart(0);
  return *counted - before;
}

static __attribute__((device)) bool someoneWaits() {
  const unsigned before = *waits();
  wait_apart(0);
  wait_apart(0);
  return *waits() != before;
}

static __attribute__((device)) void catchUp(int missed) {
  for (; missed > 0; --missed)
    wait_apart(0);
}

RULE void adgen_rule_turn(void *) {}
RULE void adgen_rule_turn_augmented(void *, void *) {}
RULE void adgen_rule_turn_reverse(void *, void *) {
  int missed = 0;
  while (someoneWaits())
    ++missed;
  catchUp(missed);
}

// Where barriers count, too, each announces itself so and then counts: who has come to the end adds nothing.
RULE void adgen_rule_tallied_turn(void *) {}
RULE void adgen_rule_tallied_turn_augmented(void *, void *) {}
RULE void adgen_rule_tallied_turn_reverse(void *, void *) {
  int missed = 0;
  for (; someoneWaits(); ++missed)
    adgen_lanes_tally(false);
  catchUp(missed);
}

// On the host (adgen-host-rules) a barrier with a result is one wait.
extern "C" __attribute__((device, convergent)) bool all_wait_apart(int, bool) __asm("llvm.nvvm.barrier.cta.red.and.all");
extern "C" __attribute__((device, convergent)) int tally_apart(int, bool) __asm("llvm.nvvm.barrier.cta.red.popc.all");

RULE void adgen_rule_counted_barrier_augmented_on_host(void *, void *) { all_wait_apart(0, false); }
extern "C" __attribute__((device, noinline)) int adgen_lanes_tally_on_host(bool says) { return tally_apart(0, says); }

RULE void adgen_rule_turn_reverse_on_host(void *, void *) {
  int missed = 0;
  while (!all_wait_apart(0, true))
    ++missed;
  catchUp(missed);
}

RULE void adgen_rule_tallied_turn_reverse_on_host(void *, void *) {
  int missed = 0;
  for (; !all_wait_apart(0, true); ++missed)
    tally_apart(0, false);
  catchUp(missed);
}

RULE void adgen_rule_warp_barrier(void *, unsigned mask) { __nvvm_bar_warp_sync(mask); }
RULE void adgen_rule_warp_barrier_augmented(void *, void *, unsigned mask, unsigned) { __nvvm_bar_warp_sync(mask); }
RULE void adgen_rule_warp_barrier_reverse(void *, void *, unsigned mask, unsigned) { __nvvm_bar_warp_sync(mask); }

// Lanes that do the same at once without saying so: those that are there meet.
static __attribute__((device)) void meet() { __nvvm_bar_warp_sync(__nvvm_activemask()); }

RULE void adgen_rule_lockstep(void *) { meet(); }
RULE void adgen_rule_lockstep_augmented(void *, void *) { meet(); }
RULE void adgen_rule_lockstep_reverse(void *, void *) { meet(); }

// Which lanes of a mask take part (adgen-name-participants): those that have come to the end of the forward sweep wait elsewhere, where the
// primal's have returned. Mostly all are there. Else a lane waits until each other one has come or is through; both are said in shared memory.
enum { Warps = 32 };
static __attribute__((shared)) unsigned adgen_lanes_here[Warps], adgen_lanes_gone[Warps];

// Of hardware whose lanes cannot wait for each other (adgen-retarget-amd): those that are there are all.
extern "C" __attribute__((device)) volatile int adgen_lanes_lockstep = 0;

static __attribute__((device)) unsigned linearThread() {
  return (__nvvm_read_ptx_sreg_tid_z() * __nvvm_read_ptx_sreg_ntid_y() + __nvvm_read_ptx_sreg_tid_y()) * __nvvm_read_ptx_sreg_ntid_x() +
         __nvvm_read_ptx_sreg_tid_x();
}

// The lanes of the own warp that the block has.
static __attribute__((device)) unsigned present(unsigned linear) {
  unsigned left = __nvvm_read_ptx_sreg_ntid_x() * __nvvm_read_ptx_sreg_ntid_y() * __nvvm_read_ptx_sreg_ntid_z() - (linear & ~31u);
  return left >= 32 ? ~0u : (1u << left) - 1;
}

static __attribute__((device)) unsigned lanes(unsigned *of) { return *(volatile unsigned *)of; }

extern "C" __attribute__((device, noinline)) void adgen_lanes_begin() {
  unsigned linear = linearThread(), warp = linear / 32, all = present(linear);
  __nvvm_bar_warp_sync(all);
  if (linear % 32 == 0)
    adgen_lanes_here[warp] = adgen_lanes_gone[warp] = 0;
  __nvvm_bar_warp_sync(all);
}

extern "C" __attribute__((device, noinline)) void adgen_lanes_leave() {
  unsigned linear = linearThread();
  __atomic_fetch_or(&adgen_lanes_gone[linear / 32], 1u << linear % 32, __ATOMIC_RELAXED);
}

extern "C" __attribute__((device, noinline)) unsigned adgen_lanes_participants(unsigned mask) {
  unsigned active = __nvvm_activemask();
  if (!(mask & ~active))
    return mask;
  unsigned linear = linearThread(), warp = linear / 32, me = 1u << linear % 32, named = mask & present(linear);
  if (!(named & me) || adgen_lanes_lockstep)
    return mask;
  __atomic_fetch_or(&adgen_lanes_here[warp], me, __ATOMIC_RELAXED);
  while (named & ~(lanes(&adgen_lanes_here[warp]) | lanes(&adgen_lanes_gone[warp])))
    ;
  unsigned met = named & ~lanes(&adgen_lanes_gone[warp]);
  __nvvm_bar_warp_sync(met);
  __atomic_fetch_and(&adgen_lanes_here[warp], ~me, __ATOMIC_RELAXED);
  __nvvm_bar_warp_sync(met);
  return met;
}

// On the host (adgen-host-rules) the runtime keeps account.
extern "C" __attribute__((device)) unsigned adgen_together_participants(unsigned mask);
extern "C" __attribute__((device)) void adgen_together_leave();

extern "C" __attribute__((device, noinline)) void adgen_lanes_begin_on_host() {}
extern "C" __attribute__((device, noinline)) void adgen_lanes_leave_on_host() { adgen_together_leave(); }
extern "C" __attribute__((device, noinline)) unsigned adgen_lanes_participants_on_host(unsigned mask) {
  return mask >> __nvvm_read_ptx_sreg_laneid() & 1 ? adgen_together_participants(mask) : mask;
}

// A barrier of the whole grid (adgen-select-kernels) has a number of its own until adgen-lower-grid-barriers makes it a call.
enum { OfGrid = 32 };
extern "C" __attribute__((device, convergent)) void wait_together(int) __asm("llvm.nvvm.barrier.cta.sync.aligned.all");

RULE void adgen_rule_grid_barrier(void *) { wait_together(OfGrid); }
RULE void adgen_rule_grid_barrier_augmented(void *, void *) { wait_together(OfGrid); }
RULE void adgen_rule_grid_barrier_reverse(void *, void *) { wait_together(OfGrid); }

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
