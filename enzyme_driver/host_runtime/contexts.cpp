#include "contexts.h"

#include <sys/mman.h>
#include <unistd.h>

// What a call preserves is pushed, the stack pointers are exchanged, what the other side had pushed is popped.
#if defined(__x86_64__)

extern "C" __attribute__((naked)) void adgen_switch(void **, void *) {
  __asm__("pushq %rbp\n\t"
          "pushq %rbx\n\t"
          "pushq %r12\n\t"
          "pushq %r13\n\t"
          "pushq %r14\n\t"
          "pushq %r15\n\t"
          "movq %rsp, (%rdi)\n\t"
          "movq %rsi, %rsp\n\t"
          "popq %r15\n\t"
          "popq %r14\n\t"
          "popq %r13\n\t"
          "popq %r12\n\t"
          "popq %rbx\n\t"
          "popq %rbp\n\t"
          "retq");
}

static __attribute__((naked)) void start() {
  __asm__("movq %r12, %rdi\n\t"
          "callq *%r13\n\t"
          "ud2");
}

void *adgen_prepare(char *top, void (*entry)(void *), void *argument) {
  void **frame = reinterpret_cast<void **>(top) - 9; // six registers, where to go, and 16 bytes that keep calls aligned
  frame[0] = frame[1] = frame[4] = frame[5] = nullptr;
  frame[2] = reinterpret_cast<void *>(entry); // r13
  frame[3] = argument;                        // r12
  frame[6] = reinterpret_cast<void *>(start);
  return frame;
}

#elif defined(__aarch64__)

extern "C" __attribute__((naked)) void adgen_switch(void **, void *) {
  __asm__("sub sp, sp, #160\n\t"
          "stp x19, x20, [sp, #0]\n\t"
          "stp x21, x22, [sp, #16]\n\t"
          "stp x23, x24, [sp, #32]\n\t"
          "stp x25, x26, [sp, #48]\n\t"
          "stp x27, x28, [sp, #64]\n\t"
          "stp x29, x30, [sp, #80]\n\t"
          "stp d8, d9, [sp, #96]\n\t"
          "stp d10, d11, [sp, #112]\n\t"
          "stp d12, d13, [sp, #128]\n\t"
          "stp d14, d15, [sp, #144]\n\t"
          "mov x9, sp\n\t"
          "str x9, [x0]\n\t"
          "mov sp, x1\n\t"
          "ldp x19, x20, [sp, #0]\n\t"
          "ldp x21, x22, [sp, #16]\n\t"
          "ldp x23, x24, [sp, #32]\n\t"
          "ldp x25, x26, [sp, #48]\n\t"
          "ldp x27, x28, [sp, #64]\n\t"
          "ldp x29, x30, [sp, #80]\n\t"
          "ldp d8, d9, [sp, #96]\n\t"
          "ldp d10, d11, [sp, #112]\n\t"
          "ldp d12, d13, [sp, #128]\n\t"
          "ldp d14, d15, [sp, #144]\n\t"
          "add sp, sp, #160\n\t"
          "ret");
}

static __attribute__((naked)) void start() {
  __asm__("mov x0, x19\n\t"
          "blr x20\n\t"
          "brk #1");
}

void *adgen_prepare(char *top, void (*entry)(void *), void *argument) {
  void **frame = reinterpret_cast<void **>(top) - 20;
  for (int i = 0; i < 20; ++i)
    frame[i] = nullptr;
  frame[0] = argument;                         // x19
  frame[1] = reinterpret_cast<void *>(entry);  // x20
  frame[11] = reinterpret_cast<void *>(start); // x30
  return frame;
}

#else
#error "adgen's host runtime switches contexts on x86-64 and AArch64 only"
#endif

bool Stacks::reserve(size_t wanted, size_t bytes) {
  page = size_t(sysconf(_SC_PAGESIZE));
  const size_t wide = (bytes + page - 1) / page * page + page;
  if (wanted <= count && wide <= stride)
    return true;
  release();
  void *memory =
      mmap(nullptr, wanted * wide, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  base = static_cast<char *>(memory);
  count = wanted;
  stride = wide;
  // A process may have only so many mappings. Where that limit is met, the other stacks go without.
  for (size_t i = 0; i < count; ++i)
    if (mprotect(base + i * stride, page, PROT_NONE) != 0)
      break;
  return true;
}

// Stacks begin at different distances from a page's end, for all would meet in few lines of the cache.
char *Stacks::top(size_t index) const { return base + (index + 1) * stride - index % 32 * 128; }

bool Stacks::isGuard(const void *address) const {
  const uintptr_t offset = uintptr_t(address) - uintptr_t(base);
  return base && offset < count * stride && offset % stride < page;
}

void Stacks::release() {
  if (base)
    munmap(base, count * stride);
  base = nullptr;
  count = stride = 0;
}
