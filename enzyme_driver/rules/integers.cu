// Where an integer is written over a number in shared memory, the number's cotangent, or tangent, is gone
// (passes/EnzymeCompat/HideReusedIntegers.cpp).
// Numbers of another kind than the others in one place are moved there and back by functions of their own.
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

#define MOVE(TYPE, NUMBER, ADD)                                                                                        \
  RULE void adgen_rule_take_##TYPE(NUMBER *variable, NUMBER *place) { *variable = *place; }                            \
  RULE void adgen_rule_take_##TYPE##_augmented(NUMBER *variable, NUMBER *, NUMBER *place, NUMBER *) {                  \
    *variable = *place;                                                                                                \
  }                                                                                                                    \
  RULE void adgen_rule_take_##TYPE##_reverse(NUMBER *variable, NUMBER *from, NUMBER *place, NUMBER *to) {              \
    if (variable == from)                                                                                              \
      return;                                                                                                          \
    const NUMBER cotangent = *from;                                                                                    \
    *from = 0;                                                                                                         \
    if (place != to)                                                                                                   \
      ADD(to, cotangent);                                                                                              \
  }                                                                                                                    \
  RULE void adgen_rule_put_##TYPE(NUMBER *place, NUMBER *variable) { *place = *variable; }                             \
  RULE void adgen_rule_put_##TYPE##_augmented(NUMBER *place, NUMBER *, NUMBER *variable, NUMBER *) {                   \
    *place = *variable;                                                                                                \
  }                                                                                                                    \
  RULE void adgen_rule_put_##TYPE##_reverse(NUMBER *place, NUMBER *from, NUMBER *variable, NUMBER *to) {               \
    if (place == from)                                                                                                 \
      return;                                                                                                          \
    const NUMBER cotangent = *from;                                                                                    \
    *from = 0;                                                                                                         \
    if (variable != to)                                                                                                \
      *to += cotangent;                                                                                                \
  }

MOVE(f32, float, __nvvm_atom_add_gen_f)
MOVE(f64, double, __nvvm_atom_add_gen_d)
