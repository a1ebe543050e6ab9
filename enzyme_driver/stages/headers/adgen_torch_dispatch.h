// AT_DISPATCH_...: code is made for each of the types that may be asked for when the program runs.
#pragma once
#include <adgen_torch_numbers.h>
#include <cstdint>

namespace c10 {
enum class ScalarType : int8_t {
    Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool, BFloat16 = 15,
    Undefined
};
template <ScalarType> struct NumberOf;
#define ADGEN_NUMBER(NAME, TYPE)                                                                                         \
    constexpr ScalarType k##NAME = ScalarType::NAME;                                                                     \
    template <> struct NumberOf<ScalarType::NAME> {                                                                      \
        using type = TYPE;                                                                                               \
    };
ADGEN_NUMBER(Byte, uint8_t)
ADGEN_NUMBER(Char, int8_t)
ADGEN_NUMBER(Short, int16_t)
ADGEN_NUMBER(Int, int)
ADGEN_NUMBER(Long, int64_t)
ADGEN_NUMBER(Half, ::c10::Half)
ADGEN_NUMBER(Float, float)
ADGEN_NUMBER(Double, double)
ADGEN_NUMBER(Bool, bool)
ADGEN_NUMBER(BFloat16, ::c10::BFloat16)
#undef ADGEN_NUMBER
constexpr ScalarType kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt, kInt64 = kLong, kFloat16 = kHalf,
                     kFloat32 = kFloat, kFloat64 = kDouble;
} // namespace c10

#define ADGEN_MADE(NAME, TYPE, ...)                                                                                      \
    {                                                                                                                    \
        using NAME [[maybe_unused]] = TYPE;                                                                              \
        __VA_ARGS__();                                                                                                   \
    }
#define ADGEN_FLOATS(...) ADGEN_MADE(scalar_t, double, __VA_ARGS__) ADGEN_MADE(scalar_t, float, __VA_ARGS__)
#define ADGEN_HALF(...) ADGEN_MADE(scalar_t, ::c10::Half, __VA_ARGS__)
#define ADGEN_NAMED(KIND, ...) ADGEN_MADE(scalar_t, ::c10::NumberOf<KIND>::type, __VA_ARGS__)
#define ADGEN_WHOLE(...)                                                                                                 \
    ADGEN_MADE(scalar_t, uint8_t, __VA_ARGS__)                                                                           \
    ADGEN_MADE(scalar_t, int8_t, __VA_ARGS__)                                                                            \
    ADGEN_MADE(scalar_t, int16_t, __VA_ARGS__)                                                                           \
    ADGEN_MADE(scalar_t, int, __VA_ARGS__)                                                                               \
    ADGEN_MADE(scalar_t, int64_t, __VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) [&] { ADGEN_FLOATS(__VA_ARGS__) }()
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) [&] { ADGEN_FLOATS(__VA_ARGS__) ADGEN_HALF(__VA_ARGS__) }()
#define AT_DISPATCH_FLOATING_TYPES_AND(A, TYPE, NAME, ...) [&] { ADGEN_FLOATS(__VA_ARGS__) ADGEN_NAMED(A, __VA_ARGS__) }()
#define AT_DISPATCH_FLOATING_TYPES_AND2(A, B, TYPE, NAME, ...)                                                           \
    [&] { ADGEN_FLOATS(__VA_ARGS__) ADGEN_NAMED(A, __VA_ARGS__) ADGEN_NAMED(B, __VA_ARGS__) }()
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...)                                                              \
    [&] { ADGEN_HALF(__VA_ARGS__) ADGEN_MADE(scalar_t, ::c10::BFloat16, __VA_ARGS__) }()
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) [&] { ADGEN_WHOLE(__VA_ARGS__) }()
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) [&] { ADGEN_FLOATS(__VA_ARGS__) ADGEN_WHOLE(__VA_ARGS__) }()
#define AT_DISPATCH_ALL_TYPES_AND(A, TYPE, NAME, ...)                                                                    \
    [&] { ADGEN_FLOATS(__VA_ARGS__) ADGEN_WHOLE(__VA_ARGS__) ADGEN_NAMED(A, __VA_ARGS__) }()
#define AT_DISPATCH_ALL_TYPES_AND2(A, B, TYPE, NAME, ...)                                                                \
    [&] { ADGEN_FLOATS(__VA_ARGS__) ADGEN_WHOLE(__VA_ARGS__) ADGEN_NAMED(A, __VA_ARGS__) ADGEN_NAMED(B, __VA_ARGS__) }()
#define AT_DISPATCH_FLOATING_TYPES_AND3(A, B, C, TYPE, NAME, ...)                                                        \
    [&] {                                                                                                                \
        ADGEN_FLOATS(__VA_ARGS__)                                                                                        \
        ADGEN_NAMED(A, __VA_ARGS__) ADGEN_NAMED(B, __VA_ARGS__) ADGEN_NAMED(C, __VA_ARGS__)                              \
    }()
#define AT_DISPATCH_ALL_TYPES_AND3(A, B, C, TYPE, NAME, ...)                                                             \
    [&] {                                                                                                                \
        ADGEN_FLOATS(__VA_ARGS__) ADGEN_WHOLE(__VA_ARGS__)                                                               \
        ADGEN_NAMED(A, __VA_ARGS__) ADGEN_NAMED(B, __VA_ARGS__) ADGEN_NAMED(C, __VA_ARGS__)                              \
    }()
// Where a file or library puts its own choice of types together.
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...) [&] { __VA_ARGS__ }()
#define AT_DISPATCH_CASE(KIND, ...) ADGEN_NAMED(KIND, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES(...) ADGEN_FLOATS(__VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND(A, ...) ADGEN_FLOATS(__VA_ARGS__) ADGEN_NAMED(A, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND2(A, B, ...)                                                                  \
    ADGEN_FLOATS(__VA_ARGS__) ADGEN_NAMED(A, __VA_ARGS__) ADGEN_NAMED(B, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...) ADGEN_WHOLE(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) ADGEN_FLOATS(__VA_ARGS__) ADGEN_WHOLE(__VA_ARGS__)
#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...)                                                                         \
    [&] { ADGEN_MADE(index_t, int32_t, __VA_ARGS__) ADGEN_MADE(index_t, int64_t, __VA_ARGS__) }()
