"""All constructs, in the order of docs/coverage.md."""

from __future__ import annotations

from typing import Any

import numpy as np
from constructs.arguments import apart
from constructs.construct import Construct, SourceFile

C = Construct


def _integers(low: int, high: int, length: int = 64, dtype: type = np.int32) -> Any:  # noqa: ANN401
    return lambda rng: rng.integers(low, high, length).astype(dtype)


_FUNCTIONS = (
    C("kernel template, type parameter", "typed<float>"),
    C("kernel template, type parameter (double)", "typed<double>"),
    C("kernel template, value parameter", "valued<3>"),
    C("kernel template, default arguments, `if constexpr`", "defaulted<float, true>"),
    C("explicit specialisation of a class template", "specialised<float>"),
    C("variadic template, fold expression", "variadic"),
    C("template template parameter", "template_template<Cube, float>"),
    C("curiously recurring template (static polymorphism)", "curiously_recurring"),
    C("functor struct as a kernel argument", "functor_template<Saxpy>"),
    C("overloaded device functions", "overloaded"),
    C("nested and anonymous namespaces", "outer::inner::in_namespaces"),
    C('`extern "C"` kernel', "c_linkage"),
    C("kernel in a header beside the file", "kernel_in_header"),
    C("kernel made by a macro", "made_by_macro"),
    C("`__launch_bounds__`", "with_launch_bounds"),
    C("`-D` flags", "with_definitions"),
    C("device function declared first, defined later", "calls_later_definition"),
    C("`__noinline__` and `__forceinline__` functions", "inlined_and_not"),
    C("results through references and pointers", "results_by_reference"),
    C("default arguments, `constexpr` functions", "default_arguments"),
    C("recursion with a bound", "recursive"),
    C("mutual recursion", "mutually_recursive", {"depth": 3}),
    C("overloaded operators", "overloaded_operators"),
    C("lambdas with captures, generic lambdas", "lambdas"),
    C("lambda called where it stands", "immediately_called"),
    C("function pointer as a template argument", "pointer_as_template_argument<&root>"),
    C("function pointer in a local variable", "local_function_pointer"),
    C("function passed to a device function", "function_as_argument"),
    C("function pointer chosen by a condition", "chosen_function_pointer", {"which": 1}),
    C("`__device__` table of functions", "table_of_functions", {"which": 2}),
    C(
        "`__constant__` table of functions, index from memory",
        "constant_table_of_functions",
        {"which": _integers(0, 3)},
    ),
    C("local table of functions", "local_table_of_functions", {"which": 1}),
    C("function pointer in a `__device__` variable", "function_in_variable"),
    C("function pointer as a kernel parameter", "function_as_parameter", refused="a function"),
    C("virtual call of a known object", "devirtualised"),
    C("virtual call of one of two known objects", "virtual_call", {"kind": 1}),
    C("virtual call of an object in memory", "virtual_call_through_parameter", refused="pointers"),
    C("pointers to members", "pointer_to_member", {"which": 1}),
    C("`cuda::std::array`, `pair`, `tuple`", "standard_containers"),
    C("`cuda::std::complex`", "standard_complex"),
)

_STRUCTS = (
    C("struct by value", "by_value"),
    C("struct by value with a derivative", "by_value_with_derivative"),
    C("derivative with respect to one field only", "one_field_only"),
    C("struct by pointer", "by_pointer"),
    C("array of structs, read and written", "array_of_structs"),
    C("struct of arrays by value (from a dict)", "struct_of_arrays"),
    C("struct of arrays with numbers beside the pointers", "numbers_beside_pointers"),
    C("nested structs with arrays", "nested"),
    C("inheritance, methods", "inherited"),
    C("class with private members, chained calls", "class_with_methods"),
    C("struct returned by value", "returned_struct"),
    C("struct copied whole", "copied_struct"),
    C("`__align__`ed struct", "aligned_struct"),
    C("enums and booleans beside floats", "enum_and_bool"),
    C("`float2`", "vector_float2"),
    C("`float3`", "vector_float3"),
    C("`float4`", "vector_float4"),
    C("`double2`", "vector_double2"),
    C("`int3`", "vector_int3"),
    C("`uchar4`", "vector_uchar4"),
    C("floats loaded and stored as `float4`", "floats_as_float4"),
    C("union of a vector and an array, in registers", "union_as_array"),
    C("union of a float and its bits, in a register", "union_of_bits"),
    C("unions and bit-fields in memory", "union_in_memory", refused="sees no floating point", also=("bit_fields",)),
    C(
        "`size_t`, `long`, `unsigned`, `char`, `bool` arguments",
        "integer_arguments",
        {"stride": 1, "shift": 3, "sign": 2, "twice": True},
    ),
    C(
        "`short`, `unsigned char`, `uint16_t`, `long long` arguments",
        "narrow_arguments",
        {"a": 1, "b": 2, "c": 3, "d": 4},
    ),
    C("index arrays of `unsigned char`, `int64_t`, `bool`", "index_arrays"),
    C("float and double together", "float_and_double"),
    C("numbers with a derivative", "scalar_with_derivative"),
    C("`const` numbers and pointers", "const_scalars"),
    C("parameters called seed, wrt, cotangents, shadows, tolerance", "reserved_names", {"tolerance": 40}),
)

_MEMORY = (
    C("`__constant__` number, array, struct", "constant_memory"),
    C("`__device__` variables, read", "device_variables"),
    C("`__device__` counter", "counts_calls"),
    C("`static const` and `constexpr` tables", "static_table"),
    C("`__restrict__`", "restricted"),
    C("`__ldg`", "read_only_loads"),
    C("`__ldcg`, `__ldcs`, `__stcg`, `__stcs`", "cache_hints"),
    C("`volatile`", "volatile_memory"),
    C("pointers that move", "moving_pointers", {"rows": 2, "columns": 30}),
    C("pointers stored in an array", "stored_pointers"),
    C("pointers swapped in a loop", "swapped_pointers", {"steps": 3}),
    C("two views of one array", "aliasing_views"),
    C(
        "`const void *` that holds integers, said to be const",
        "const_void",
    ),
    C("`void *` that a kernel takes for floats", "void_of_floats"),
    C("pointers to pointers", "pointers_to_pointers", refused="pointers"),
    C("bits of a float (`__float_as_int`, `memcpy`)", "bits_of_floats"),
    C("floats moved as integers", "moved_as_words"),
    C("`memcpy` between local and global memory", "copied_by_memcpy"),
    C("local arrays, index known at run time", "local_arrays", {"which": 2}),
    C("local matrix", "local_matrix"),
    C("`malloc` and `free` in a kernel", "from_the_heap"),
    C("array read and written in place", "in_place"),
    C("output accumulated into", "accumulated"),
    C("output partly written", "partly_written"),
    C("output written twice", "written_twice"),
    C("scatter with atomics", "scattered"),
    C("gather", "gathered"),
    C("linear congruential generator", "linear_congruential", {"start": 7}),
    C("xorshift generator of 64 bits", "xorshift", {"start": 7}),
)

_VARIABLES = (
    C("`__constant__` array and struct with a derivative", "constant_with_derivative"),
    C("`__device__` array with a derivative, written", "variable_written"),
)

_RANDOM = (
    C("cuRAND, Philox", "philox", {"start": 7}),
    C("cuRAND, XORWOW with its state in memory", "xorwow_in_memory"),
)

_CONTROL = (
    C("grid of two dimensions", "grid_of_two_dimensions", {"width": 7, "height": 6}, (2, 2), (4, 4)),
    C(
        "grid of three dimensions, `dim3` argument",
        "grid_of_three_dimensions",
        {"size": np.array([(4, 3, 5)], [("x", "u4"), ("y", "u4"), ("z", "u4")])[0]},
        (2, 2, 3),
        (2, 2, 2),
    ),
    C("grid-stride loop", "grid_stride", {"n": 60}, 1),
    C("early return", "early_return"),
    C("`switch` with fall-through", "switch_statement", {"kind": _integers(0, 4)}),
    C("`while` with an end that depends on data", "while_with_data_dependent_end"),
    C("`do` ... `while`", "do_while"),
    C("`break` and `continue`", "break_and_continue"),
    C("`return` from inner loops", "left_from_inside"),
    C("`goto` out of loops", "goto_out"),
    C("`goto` backwards", "goto_back"),
    C("loops whose bounds depend on outer loops", "triangular_nest"),
    C("loop that counts in floating point", "float_counter"),
    C("`#pragma unroll`", "unrolled"),
    C("conditional operators, short circuits", "conditional_operators"),
    C("`[[likely]]`, `__builtin_expect`, `__builtin_assume`", "hints"),
    C("structured bindings, range-based `for`", "structured_bindings"),
    C("`assert`", "asserted"),
    C("`printf`", "printed"),
    C("`__trap`", "trapped"),
    C("`clock64`", "clocks"),
    C("special register read in assembly", "read_register"),
    C("arithmetic in assembly", "arithmetic_in_assembly"),
)

_MATHEMATICS = (
    C("fast forms (`__sinf`, `__expf`, `__fdividef`, ...)", "fast_forms"),
    C("`rsqrt`, `cbrt`, `rcbrt`", "roots"),
    C("`sincos`, `sincospi`", "sine_and_cosine"),
    C("`fma`, arithmetic with a rounding", "fused"),
    C("integer intrinsics (`__popc`, `__clz`, ...)", "integer_functions"),
    C("`min`, `max`, `abs`, clamping", "extremes", {"w": lambda rng: apart(rng, (64,), 0.25).astype(np.float32)}),
    C("`floor`, `ceil`, `fmod`, `copysign`", "in_pieces"),
    C("conversions to and from integers", "conversions"),
    C("`erf`, `lgamma`, `tgamma`, Bessel functions", "special_functions"),
    C("powers", "powers"),
    C("norms, `atan2`", "norms"),
    C("half storage, float arithmetic", "half_storage"),
    C("half arithmetic", "half_arithmetic"),
    C("`__half2`", "half_pairs"),
    C("bfloat16 storage", "bfloat16_storage", {"packed": lambda _: np.full(64, 0x3F80, np.uint16)}),
    C("`atomicAdd` on half", "half_atomics"),
)

_COOPERATION = (
    C("`__shared__` array", "static_shared"),
    C("`extern __shared__` array", "dynamic_shared", shared_bytes=128),
    C("several arrays carved out of one", "carved_shared", shared_bytes=32 * 16),
    C("`__shared__` matrix with padding", "shared_matrix", {"n": 64}, 1, (8, 8)),
    C("`__shared__` array of structs", "shared_structs"),
    C("`__shared__` number", "shared_scalar"),
    C("atomics on `__shared__` memory", "shared_atomics"),
    C("`__syncthreads` in a loop", "barriers_in_a_loop", {"steps": 3}),
    C("`__syncthreads_count`, `_and`, `_or`", "counting_barriers"),
    C("`return` before a barrier", "return_before_barrier"),
    C("`__syncwarp`", "warp_barriers"),
    C("`__threadfence` and its kin", "fences"),
    C("shuffles of float", "float_shuffles"),
    C("shuffles of double", "double_shuffles"),
    C("shuffles of a double's halves", "halves_of_doubles"),
    C("shuffles of integers", "integer_shuffles"),
    C("shuffle of a float's bits", "shuffled_bits"),
    C("shuffle of words that memory holds as floats", "shuffled_words_of_memory"),
    C("struct shuffled word by word", "shuffled_struct"),
    C("shuffles of `__half2`", "half_shuffles"),
    C("votes (`__ballot_sync`, `__any_sync`, `__all_sync`)", "votes"),
    C("matches (`__match_any_sync`)", "matches", {"k": _integers(0, 4)}),
    C("warp reductions of integers (`__reduce_add_sync`)", "integer_warp_reductions"),
    C("warp reduction by shuffles", "warp_reduction"),
    C("block reduction by shuffles and shared memory", "block_reduction"),
    C("block maximum in a tree", "block_maximum"),
    C("block scan in two buffers", "block_scan"),
    C("cooperative groups: `thread_block`", "thread_block_group"),
    C("cooperative groups: `tiled_partition`", "tiled_partition"),
    C("cooperative groups: `reduce`", "group_reduce"),
    C("cooperative groups: `inclusive_scan`", "group_scan"),
    C("cooperative groups: `coalesced_threads`", "coalesced_group"),
    C("cooperative groups: `this_grid().sync()`", "grid_group", refused="whole grid"),
    C("`cub::BlockReduce`", "cub_block_reduce", {"n": 64}, 1, 64),
    C("`cub::WarpReduce`", "cub_warp_reduce", {"n": 64}),
    C("`cub::BlockScan`", "cub_block_scan"),
)

_ATOMICS = (
    C("`atomicAdd` on float", "add_floats"),
    C("`atomicAdd` on double", "add_doubles"),
    C("subtraction", "subtract"),
    C("`atomicAdd_block`, `atomicAdd_system`", "add_in_a_scope"),
    C("`atomicAdd` on int and 64 bits", "integer_sums"),
    C("stream compaction by a counter", "compaction", {"count": lambda _: np.zeros(1, np.int32)}, 1),
    C("`atomicMax`, `atomicMin` on int", "integer_extremes"),
    C("`atomicOr`, `And`, `Xor`, `Inc`", "integer_bits", {"k": _integers(0, 30)}),
    C("`atomicExch` on int", "integer_exchange"),
    C(
        "`atomicCAS` on int: hash insertion",
        "hash_insertion",
        {"table": lambda _: np.full(64, -1, np.int32), "keys": _integers(0, 20), "slots": 32},
    ),
    C("`atomicCAS` on int: a flag", "flag_once", {"flag": lambda _: np.zeros(1, np.int32)}),
    C("sum of doubles by `atomicCAS`", "cas_add_double"),
    C("sum of floats by `atomicCAS`", "cas_add_float"),
    C("`cuda::atomic_ref`", "atomic_reference"),
    C(
        "maximum, minimum, product of floats by `atomicCAS`, or by integer atomics on their bits",
        "cas_max_float",
        refused="floating point",
        also=("cas_min_double", "cas_multiply", "max_by_integer_bits", "max_by_bits_of_either_sign"),
    ),
    C(
        "value before an atomic operation on floats",
        "value_before_the_sum",
        refused="floating point",
        also=("exchanged_floats", "cas_add_by_exchange"),
    ),
    C(
        "threads in an order that atomics decide: a lock, the last block to finish",
        "spin_lock",
        refused="order that atomics decide",
        also=("last_block_sums",),
    ),
)

_HOST_CODE = (
    C("Thrust, CUB, cuBLAS, streams, events, graphs, managed memory, the samples' helpers", "beside_host_code"),
    C("`helper_math.h` of NVIDIA's samples", "with_helper_math"),
)

_HARDWARE = (
    C("`__nanosleep`", "sleeping"),
    C("textures, surfaces", "texture", refused="texture", also=()),
    C("Tensor Cores (`wmma`), named barriers in assembly", "tensor_cores", refused="Tensor Core"),
)

FILES = (
    SourceFile("Functions", "functions.cu", _FUNCTIONS, flags=("-DSCALE=2.5f",)),
    SourceFile(
        "Structs, vector types, arguments",
        "structs.cu",
        _STRUCTS,
        activity=dict.fromkeys(("material", "partial", "alpha", "beta"), "active"),
    ),
    SourceFile("Memory", "memory.cu", _MEMORY),
    SourceFile(
        "Variables with a derivative",
        "variables.cu",
        _VARIABLES,
        activity=dict.fromkeys(("weights", "offset", "state"), "active"),
    ),
    SourceFile("cuRAND", "random.cu", _RANDOM),
    SourceFile("Control flow", "control.cu", _CONTROL),
    SourceFile("Mathematics", "mathematics.cu", _MATHEMATICS, activity={"packed": "const"}),
    SourceFile("Mathematics with `fast_math`", "fast_math.cu", (C("`fast_math`", "fast_math"),)),
    SourceFile("Cooperation", "cooperation.cu", _COOPERATION),
    SourceFile("Atomics", "atomics.cu", _ATOMICS),
    SourceFile("Host code", "host_code.cu", _HOST_CODE),
    SourceFile("Special hardware", "hardware.cu", _HARDWARE),
)
