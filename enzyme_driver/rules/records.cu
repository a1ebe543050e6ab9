// Adds to neighbouring elements at once (passes/Accumulate/BulkReduceAtomics.cpp). A thread leaves what it adds in its own `stride` bytes of `slots`,
// which has `room` bytes for the block's first threads, as far from an address that is a multiple of 16 as the elements are. A bulk reduction
// takes what lies between such addresses; the rest, and everything of a thread without room, is added with atomics.
#define RULE extern "C" __attribute__((device, noinline))
#define DEVICE __attribute__((device, always_inline))
#define SHARED __attribute__((address_space(3)))

constexpr unsigned Alignment = 16;

static DEVICE void reduce(float *to, unsigned from, unsigned bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes) : "memory");
}

static DEVICE void reduce(double *to, unsigned from, unsigned bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f64 [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes) : "memory");
}

static DEVICE unsigned threadOfBlock() {
  unsigned width = __nvvm_read_ptx_sreg_ntid_x(), height = __nvvm_read_ptx_sreg_ntid_y();
  return __nvvm_read_ptx_sreg_tid_x() + width * (__nvvm_read_ptx_sreg_tid_y() + height * __nvvm_read_ptx_sreg_tid_z());
}

RULE bool adgen_has_slot(unsigned stride, unsigned room) { return (threadOfBlock() + 1) * stride <= room; }

// Where the thread leaves the first element, once what it left there before has been taken.
RULE SHARED char *adgen_begin_record(const char *to, SHARED char *slots, unsigned stride) {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  return slots + threadOfBlock() * stride + (unsigned long long)to % Alignment;
}

template <class T> static DEVICE void endRecord(T *to, const SHARED T *mine, unsigned count) {
  unsigned first = unsigned(-(unsigned long long)to % Alignment / sizeof(T));
  unsigned bytes = (count - first) * unsigned(sizeof(T)) / Alignment * Alignment, end = first + bytes / unsigned(sizeof(T));
  for (unsigned i = 0; i < first; ++i)
    __atomic_fetch_add(to + i, mine[i], __ATOMIC_RELAXED);
  for (unsigned i = end; i < count; ++i)
    __atomic_fetch_add(to + i, mine[i], __ATOMIC_RELAXED);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  reduce(to + first, unsigned((unsigned long long)(mine + first)), bytes);
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

RULE void adgen_end_record_f32(float *to, const SHARED float *mine, unsigned count) { endRecord(to, mine, count); }
RULE void adgen_end_record_f64(double *to, const SHARED double *mine, unsigned count) { endRecord(to, mine, count); }

// Before a function ends: the block's shared memory is another's then.
RULE void adgen_end_records() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
