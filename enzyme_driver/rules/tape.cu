// Blocks of a tape. Byte b of a thread's tape lies at (b / 8) * 256 + b % 8 from where the tape begins (passes/Cache/LowerCaches.cpp).
#define RULE extern "C" __attribute__((device, noinline))
#define DEVICE static __attribute__((device))

using Bytes = unsigned long long;

DEVICE char *at(char *begin, Bytes place) { return begin + ((place >> 3) << 8 | (place & 7)); }

template <class Word> DEVICE void fill(char *begin, Bytes place, Bytes count, Word value) {
  for (Bytes i = 0; i < count; i += sizeof(Word))
    *(Word *)at(begin, place + i) = value;
}

template <class Word> DEVICE void copy(char *begin, Bytes to, Bytes from, Bytes count) {
  for (Bytes i = 0; i < count; i += sizeof(Word))
    *(Word *)at(begin, to + i) = *(const Word *)at(begin, from + i);
}

template <class Word> DEVICE void record(char *begin, Bytes to, const char *memory, Bytes count) {
  for (Bytes i = 0; i < count; i += sizeof(Word))
    *(Word *)at(begin, to + i) = *(const Word *)(memory + i);
}

#define BY_WORDS(OFFSETS, CALL)                                                                                       \
  if (((OFFSETS) & 7) == 0) {                                                                                         \
    using Word = Bytes;                                                                                               \
    CALL;                                                                                                             \
  } else if (((OFFSETS) & 3) == 0) {                                                                                  \
    using Word = unsigned;                                                                                            \
    CALL;                                                                                                             \
  } else {                                                                                                            \
    using Word = unsigned char;                                                                                       \
    CALL;                                                                                                             \
  }

RULE void adgen_tape_fill(char *begin, Bytes place, unsigned char value, Bytes count) {
  BY_WORDS(place | count, fill(begin, place, count, Word(Word(~0ull) / 255 * value)));
}

RULE void adgen_tape_copy(char *begin, Bytes to, Bytes from, Bytes count) {
  BY_WORDS(to | from | count, copy<Word>(begin, to, from, count));
}

RULE void adgen_tape_record(char *begin, Bytes to, const char *memory, Bytes count) {
  BY_WORDS(to | Bytes(memory) | count, record<Word>(begin, to, memory, count));
}
