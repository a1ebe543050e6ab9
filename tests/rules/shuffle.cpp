// Runs the adjoints of shuffles on the lanes of a warp on the host: in every segment of lanes, side by side or not, and
// with lanes missing, each number that a lane sends to its segment comes back as the sum of the segment's cotangents.
#include "warp.h"

// A lane that does not take part sends anything.
static int __nvvm_shfl_sync_idx_i32(unsigned active, int value, int from, int) {
  bool takesPart = active >> from & 1;
  int received = exchange(active, value, takesPart ? from : lane);
  return takesPart ? received : -12345;
}
static float __nvvm_shfl_sync_idx_f32(unsigned active, float value, int from, int control) {
  return std::bit_cast<float>(__nvvm_shfl_sync_idx_i32(active, std::bit_cast<int>(value), from, control));
}
static float __nvvm_shfl_sync_bfly_f32(unsigned active, float value, int offset, int) {
  return __nvvm_shfl_sync_idx_f32(active, value, lane ^ offset, 31);
}
static float __nvvm_shfl_sync_up_f32(unsigned, float, int, int) { std::abort(); }
static float __nvvm_shfl_sync_down_f32(unsigned, float, int, int) { std::abort(); }
static int __nvvm_read_ptx_sreg_laneid() { return lane; }

static int __nvvm_match_all_sync_i32p(unsigned active, int value, int *same) {
  *same = 1;
  for (unsigned other = 0; other < 32; ++other)
    if (active >> other & 1)
      *same &= exchange(active, value, other) == value;
  return *same ? active : 0;
}
#include RULES
extern "C" float adgen_together_gather_f32(unsigned, float, int, int) { std::abort(); }
extern "C" double adgen_together_gather_f64(unsigned, double, int, int) { std::abort(); }

// What comes back where the lane of each segment that has these bits has sent to all.
static void check(void (*reverse)(float *, float *, float *, float *, unsigned, unsigned, int, int, int, int),
                  unsigned segment, unsigned sender) {
  const int control = segment << 8 | 31;
  std::array<float, 32> back{}, wanted{};
  for (unsigned i = 0; i < 32; ++i)
    if (here >> i & 1)
      wanted[(i & segment) | (sender & ~segment & 31)] += i * i + 1;
  warp([&] {
    float cotangent = lane * lane + 1;
    reverse(nullptr, &cotangent, nullptr, &back[lane], here, 0, sender, 0, control, 0);
    if (cotangent != 0)
      std::printf("lane %u has not consumed its cotangent\n", lane);
  });
  for (unsigned i = 0; i < 32; ++i)
    if (here >> i & 1 && back[i] != wanted[i])
      std::printf("segment %x, sender %u, lanes %x: lane %u gets %g and not %g\n", segment, sender, here, i, back[i],
                  wanted[i]);
}

int main() {
  for (unsigned lanes : {0xffffffffu, 0x0000ff00u, 0x000fffffu, 0xa5930f61u, 0x00f00000u})
    for (unsigned segment = 0; segment < 32; ++segment)
      for (unsigned sender : {0u, 6u, 21u}) {
        here = lanes;
        check(adgen_rule_shfl_one_f32_reverse, segment, sender);
        check(adgen_rule_shfl_idx_f32_reverse, segment, sender);
      }
}
