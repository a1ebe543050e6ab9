// What a shared array holds at a barrier, kept by the threads of the block, each its share, and put back in the reverse sweep
// (passes/Checkpointing/RematerializeSharedLoads.cpp). The primal needs none of it. The threads meet once more behind it, because the next interval may write
// to the arrays, and in the reverse sweep reads them until then; what is kept before the barrier needs that in the reverse sweep alone. Zero bytes stand for all dynamic shared memory: a gradient is launched with twice the primal's, whose
// second half are the shadows.
#define RULE extern "C" __attribute__((device, noinline))
#define DEVICE static __attribute__((device))

using Bytes = unsigned long long;

extern "C" __attribute__((device)) void *malloc(Bytes);
extern "C" __attribute__((device)) void free(void *);
extern "C" __attribute__((device)) unsigned dynamic_bytes() __asm("llvm.nvvm.read.ptx.sreg.dynamic_smem_size");

DEVICE unsigned thread() {
  return __nvvm_read_ptx_sreg_tid_x() +
         __nvvm_read_ptx_sreg_ntid_x() *
             (__nvvm_read_ptx_sreg_tid_y() + __nvvm_read_ptx_sreg_ntid_y() * __nvvm_read_ptx_sreg_tid_z());
}

DEVICE unsigned threads() {
  return __nvvm_read_ptx_sreg_ntid_x() * __nvvm_read_ptx_sreg_ntid_y() * __nvvm_read_ptx_sreg_ntid_z();
}

DEVICE unsigned size(Bytes bytes) { return bytes ? unsigned(bytes) : dynamic_bytes() / 2; }

// Words that are on their way at once.
constexpr unsigned Batch = 4;

// Calls `move` with the number of a word in the array, and its number among the thread's own, by batches: first for all of a batch to read, where the first word
// stands in for those behind the end, then for each that there is to write.
template <class Word, class Read, class Write> DEVICE void move(unsigned count, Read read, Write write) {
  unsigned step = threads(), own = 0;
  if (count <= step) { // as of a tile with an element for each thread
    if (unsigned i = thread(); i < count)
      write(i, 0, read(i, 0));
    return;
  }
  for (unsigned i = thread(); i < count; i += Batch * step, own += Batch) {
    Word words[Batch];
#pragma unroll
    for (unsigned j = 0; j < Batch; ++j) {
      bool isThere = i + j * step < count;
      words[j] = read(isThere ? i + j * step : i, isThere ? own + j : own);
    }
#pragma unroll
    for (unsigned j = 0; j < Batch; ++j)
      if (i + j * step < count)
        write(i + j * step, own + j, words[j]);
  }
}

template <class Word> DEVICE void keep(Word *kept, const void *shared, unsigned bytes) {
  move<Word>(
      bytes / sizeof(Word), [=](unsigned at, unsigned) { return ((const Word *)shared)[at]; },
      [=](unsigned, unsigned own, Word word) { kept[own] = word; });
}

template <class Word> DEVICE void restore(const Word *kept, void *shared, unsigned bytes) {
  move<Word>(
      bytes / sizeof(Word), [=](unsigned, unsigned own) { return kept[own]; },
      [=](unsigned at, unsigned, Word word) { ((Word *)shared)[at] = word; });
}

DEVICE void *place(unsigned bytes) {
  unsigned words = (bytes + 7) / 8, step = threads();
  return malloc(Bytes((words + step - 1) / step) * 8);
}

#define BY_WORDS(CALL)                                                                                                \
  if ((bytes & 7) == 0 && (Bytes(shared) & 7) == 0) {                                                                 \
    using Word = Bytes;                                                                                               \
    CALL;                                                                                                             \
  } else if ((bytes & 3) == 0 && (Bytes(shared) & 3) == 0) {                                                          \
    using Word = unsigned;                                                                                            \
    CALL;                                                                                                             \
  } else {                                                                                                            \
    using Word = unsigned char;                                                                                       \
    CALL;                                                                                                             \
  }

RULE void adgen_rule_snapshot(void *, Bytes) {}

RULE void *adgen_rule_snapshot_augmented(void *shared, void *, Bytes given, Bytes) {
  unsigned bytes = size(given);
  void *kept = place(bytes);
  BY_WORDS(keep((Word *)kept, shared, bytes));
  return kept;
}

RULE void adgen_rule_snapshot_reverse(void *shared, void *, Bytes given, Bytes, void *kept) {
  unsigned bytes = size(given);
  BY_WORDS(restore((const Word *)kept, shared, bytes));
  free(kept);
}

// The same of an array that is whole words of 8 bytes, and aligned to them.
RULE void adgen_rule_snapshot_words(void *, Bytes) {}

RULE void *adgen_rule_snapshot_words_augmented(void *shared, void *, Bytes bytes, Bytes) {
  void *kept = place(bytes);
  keep((Bytes *)kept, shared, bytes);
  return kept;
}

RULE void adgen_rule_snapshot_words_reverse(void *shared, void *, Bytes bytes, Bytes, void *kept) {
  restore((const Bytes *)kept, shared, bytes);
  free(kept);
}

RULE void adgen_rule_behind_snapshot(void *) {}
RULE void adgen_rule_behind_snapshot_augmented(void *, void *) { __nvvm_bar_sync(0); }
RULE void adgen_rule_behind_snapshot_reverse(void *, void *) { __nvvm_bar_sync(0); }

// The threads meet in the reverse sweep alone: behind arrays that are filled again, of which nothing is kept, and before what is kept before a barrier.
RULE void adgen_rule_meet_back(void *) {}
RULE void adgen_rule_meet_back_augmented(void *, void *) {}
RULE void adgen_rule_meet_back_reverse(void *, void *) { __nvvm_bar_sync(0); }
