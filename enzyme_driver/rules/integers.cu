// Where an integer is written over a number in shared memory, the number's cotangent, or tangent, is gone
// (passes/EnzymeCompat/HideReusedIntegers.cpp).
#define RULE extern "C" __attribute__((device, noinline))

#define CLEAR(BYTES, WORD)                                                                                             \
  RULE void adgen_rule_clear_##BYTES(void *) {}                                                                        \
  RULE void adgen_rule_clear_##BYTES##_augmented(void *, void *) {}                                                    \
  RULE void adgen_rule_clear_##BYTES##_reverse(void *place, void *shadow) {                                            \
    if (place != shadow)                                                                                               \
      *(WORD *)shadow = 0;                                                                                             \
  }                                                                                                                    \
  RULE void adgen_rule_clear_##BYTES##_tangent(void *place, void *shadow) {                                            \
    if (place != shadow)                                                                                               \
      *(WORD *)shadow = 0;                                                                                             \
  }

CLEAR(1, unsigned char)
CLEAR(2, unsigned short)
CLEAR(4, unsigned)
CLEAR(8, unsigned long long)
