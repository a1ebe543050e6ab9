// Of values that threads bring to one place by atomics, one remains (passes/Import/RaiseAtomicChoices.cpp). The runtime
// runs a derivative twice, so that the place holds what remains all the time: whose value that is takes
// the place's cotangent, and of several with the same value one does. Where it was there before, its cotangent stays.
#define RULE extern "C" __attribute__((device, noinline))
#define DEVICE static __attribute__((device))

using Word = unsigned;
using Wide = unsigned long long;

DEVICE Word swap(Word *place, Word expected, Word wanted) {
  return __nvvm_atom_cas_gen_i((int *)place, int(expected), int(wanted));
}
DEVICE Wide swap(Wide *place, Wide expected, Wide wanted) {
  return __nvvm_atom_cas_gen_ll((long long *)place, (long long)expected, (long long)wanted);
}

// Stores the bits where they are better than those that are there.
template <class Bits, class Better> DEVICE void choose(void *at, Bits brought, Better isBetter) {
  Bits *place = (Bits *)at, there = *(volatile Bits *)place;
  while (isBetter(brought, there)) {
    const Bits expected = there;
    there = swap(place, expected, brought);
    if (there == expected)
      return;
  }
}

// Takes the cotangent if these bits are those that remain.
template <class Bits, class Number> DEVICE void take(void *place, void *shadow, Number *to, Bits kept) {
  if (place == shadow || *(volatile Bits *)place != kept)
    return;
  Bits *cotangent = (Bits *)shadow, there = *(volatile Bits *)cotangent;
  for (Bits expected = there; there != 0; expected = there)
    if ((there = swap(cotangent, expected, 0)) == expected)
      break;
  *to += __builtin_bit_cast(Number, there);
}

#define CHOOSE(NAME, NUMBER, BITS, AS, BETTER)                                                                         \
  DEVICE void NAME(void *place, NUMBER *brought) {                                                                     \
    choose(place, __builtin_bit_cast(BITS, *brought), [](BITS one, BITS other) {                                       \
      const AS a = __builtin_bit_cast(AS, one), b = __builtin_bit_cast(AS, other);                                     \
      return a BETTER b || (b != b && a == a);                                                                         \
    });                                                                                                                \
  }                                                                                                                    \
  RULE void adgen_rule_##NAME(void *place, NUMBER *brought) { NAME(place, brought); }                                  \
  RULE NUMBER adgen_rule_##NAME##_augmented(void *place, void *, NUMBER *brought, NUMBER *) {                          \
    NAME(place, brought);                                                                                              \
    return *brought;                                                                                                   \
  }                                                                                                                    \
  RULE void adgen_rule_##NAME##_reverse(void *place, void *shadow, NUMBER *, NUMBER *to, NUMBER kept) {                \
    take(place, shadow, to, __builtin_bit_cast(BITS, kept));                                                           \
  }                                                                                                                    \
  RULE void adgen_rule_##NAME##_tangent(void *place, void *shadow, NUMBER *brought, NUMBER *tangent) {                 \
    NAME(place, brought);                                                                                              \
    if (place != shadow && *(volatile BITS *)place == __builtin_bit_cast(BITS, *brought))                              \
      *(NUMBER *)shadow = brought == tangent ? 0 : *tangent;                                                           \
  }

CHOOSE(choose_max_f32, float, Word, float, >)
CHOOSE(choose_min_f32, float, Word, float, <)
CHOOSE(choose_smax_f32, float, Word, int, >)
CHOOSE(choose_smin_f32, float, Word, int, <)
CHOOSE(choose_umax_f32, float, Word, unsigned, >)
CHOOSE(choose_umin_f32, float, Word, unsigned, <)
CHOOSE(choose_max_f64, double, Wide, double, >)
CHOOSE(choose_min_f64, double, Wide, double, <)
CHOOSE(choose_smax_f64, double, Wide, long long, >)
CHOOSE(choose_smin_f64, double, Wide, long long, <)
CHOOSE(choose_umax_f64, double, Wide, unsigned long long, >)
CHOOSE(choose_umin_f64, double, Wide, unsigned long long, <)

// What remains in shared memory is kept at a barrier, for something else may be written there before the reverse sweep
// comes back (passes/Import/SettleSharedChoices.cpp). All threads put the same back.
#define SETTLE(NAME, NUMBER, BITS)                                                                                     \
  RULE void adgen_rule_##NAME(void *) {}                                                                               \
  RULE NUMBER adgen_rule_##NAME##_augmented(void *place, void *) {                                                     \
    return __builtin_bit_cast(NUMBER, *(volatile BITS *)place);                                                        \
  }                                                                                                                    \
  RULE void adgen_rule_##NAME##_reverse(void *place, void *, NUMBER kept) {                                            \
    *(volatile BITS *)place = __builtin_bit_cast(BITS, kept);                                                          \
  }

SETTLE(settle_f32, float, Word)
SETTLE(settle_f64, double, Wide)
