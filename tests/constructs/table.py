"""All constructs, in the order of docs/coverage.md."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from constructs.arguments import Rng, apart
from constructs.construct import Construct, SourceFile
from constructs.table_cpp import CONTAINERS, LANGUAGE, OPENMP, integers, rows
from constructs.table_dialect import DIALECT, MISSING
from constructs.table_extremes import EXTREMES
from constructs.table_shared import SHARED, VIRTUAL_CALLS

import enzyme_driver as adgen

C = Construct


def _texture(rng: Rng) -> Any:  # noqa: ANN401
    return adgen.texture(rng.uniform(0.5, 1.5, (3, 9)).astype(np.float32), filter_mode="linear", address_mode="mirror")


def _surface(rng: Rng) -> Any:  # noqa: ANN401
    return adgen.surface(rng.uniform(0.5, 1.5, (2, 64)).astype(np.float32))


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
    C("recursion of 24 calls, with the stack that its gradient needs", "recursive_deep"),
    C("mutual recursion", "mutually_recursive", {"depth": 3}),
    C("overloaded operators", "overloaded_operators"),
    C("lambdas with captures, generic lambdas", "lambdas"),
    C("lambda called where it stands", "immediately_called"),
    C("function pointer as a template argument", "pointer_as_template_argument<&root>"),
    C("function pointer in a local variable", "local_function_pointer"),
    C("function passed to a device function", "function_as_argument"),
    C("function passed to a recursive function", "function_handed_on_by_recursion", {"which": 1}),
    C("function pointer chosen by a condition", "chosen_function_pointer", {"which": 1}),
    C("`__device__` table of functions", "table_of_functions", {"which": 2}),
    C(
        "`__constant__` table of functions, index from memory",
        "constant_table_of_functions",
        {"which": integers(0, 3)},
    ),
    C("local table of functions", "local_table_of_functions", {"which": 1}),
    C("function pointer in a `__device__` variable", "function_in_variable"),
    C("function pointer as a kernel parameter", "function_as_parameter", refused="a function, which could be any"),
    C("virtual call of a known object", "devirtualised"),
    C("virtual call of one of two known objects", "virtual_call", {"kind": 1}),
    *VIRTUAL_CALLS,
    C("virtual call of an object that a parameter leads to", "virtual_call_through_parameter", refused="pointers"),
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
    C("unions that only give the same floats several names", "renaming_unions"),
    C(
        "bit-fields in memory, without floating point",
        "masked_by_bit_fields",
        {"masks": lambda rng: rng.integers(0, 256, 256).astype(np.uint8)},
    ),
    C(
        "unions in memory, bit-fields beside floating point",
        "union_in_memory",
        refused="sees no floating point",
        also=("bit_fields",),
    ),
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
    C("`__managed__` variables", "managed_variable"),
    C("`__device__` counter", "counts_calls"),
    C("`static const` and `constexpr` tables", "static_table"),
    C("`__restrict__`", "restricted"),
    C("`__ldg`", "read_only_loads"),
    C("`__ldcg`, `__ldcs`, `__stcg`, `__stcs`", "cache_hints"),
    C("`volatile`", "volatile_memory"),
    C("pointers that move", "moving_pointers", {"rows": 2, "columns": 30}),
    C("pointers stored in an array", "stored_pointers"),
    C("pointers swapped in a loop", "swapped_pointers", {"steps": 3}),
    C("array read ahead of what is written in place", "shifted_in_place"),
    C("stack in a local array", "stack_of_intervals", {"longest": 0.2}, tolerance=2e-2),
    C("`__restrict__` function called with other pointers each time", "restricted_each_time", {"steps": 4}),
    C("two views of one array", "aliasing_views"),
    C("pointer that may be null (`None`), used instead of another", "null_or_given", {"given": lambda _: None}),
    C("pointer that may be null (`None`), used where it is given", "null_offset", {"offset": lambda _: None}),
    C(
        "`const void *` that holds integers, said to be const",
        "const_void",
    ),
    C("`void *` that a kernel takes for floats", "void_of_floats"),
    C("pointers to pointers", "pointers_to_pointers", {"rows": rows(40)}),
    C(
        "pointers to pointers, written through, one of them null",
        "rows_in_place",
        {"rows": lambda rng: [*rows(3)(rng), None, *rows(1)(rng)], "order": rows(2, np.int32), "count": 5},
    ),
    C("pointers to pointers, behind which all threads add", "sums_into_rows", {"sums": rows(3, np.float64)}),
    C(
        "pointers to pointers in a struct",
        "tables_in_a_struct",
        {"image": lambda rng: {"planes": rows(3)(rng), "weights": rows(3)(rng), "count": 3}},
    ),
    C("pointers to pointers, moved", "rows_swapped", refused="stores pointers in the table"),
    C("pointers to pointers to pointers", "tables_of_tables", refused="points to pointers"),
    C("bits of a float (`__float_as_int`, `memcpy`)", "bits_of_floats"),
    C("bits of floats chosen by masks, swapped by exclusive or", "bits_chosen_by_masks"),
    C("bits of a float that stay integers (16 bits of it, a hash)", "bits_that_stay_integers"),
    C("bits of a float that say where its sum goes", "summed_by_exponent"),
    C("bits of floats compared and moved in shared memory", "sorted_bits"),
    C("bits of floats sorted by their digits", "sorted_by_digits"),
    C(
        "bits of floats computed as integers, or changed and kept as such",
        "exponential_by_bits",
        refused="integer",
        also=("sorted_flipped_bits", "sorted_by_ordered_digits"),
    ),
    C("floats moved as integers", "moved_as_words"),
    C("`memcpy` between local and global memory", "copied_by_memcpy"),
    C("local arrays, index known at run time", "local_arrays", {"which": 2}),
    C("local matrix", "local_matrix"),
    C("`malloc` and `free` in a kernel", "from_the_heap"),
    C("array read and written in place", "in_place"),
    C("output accumulated into", "accumulated"),
    C("output partly written", "partly_written"),
    C("output written twice", "written_twice"),
    C("the same array passed twice", "both_read", {"b": "a"}),
    C(
        "array without elements",
        "empty_array",
        {"none": lambda _: np.zeros(0, np.float32), "count": 0},
        flat=frozenset({"none"}),
    ),
    C("`n` smaller than the grid", "restricted", {"n": 3}, 8, 64),
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


def _pairs_of_triangles(rng: Rng) -> Any:  # noqa: ANN401
    corners = [1, 0.2, 0.3, 1, -0.2, -0.3, 1.1, 0.4, 0.1, 0.9, -0.4, -0.2]
    return (np.array([corners] * 5) + rng.normal(0, 0.05, (5, 12))).astype(np.float32).ravel()


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
    C("`switch` with fall-through", "switch_statement", {"kind": integers(0, 4)}),
    C("`while` with an end that depends on data", "while_with_data_dependent_end"),
    C("insertion into a sorted list, in a loop of unknown length", "inserted_into_a_sorted_list"),
    C("`do` ... `while`", "do_while"),
    C("`break` and `continue`", "break_and_continue"),
    C("`return` from inner loops", "left_from_inside"),
    C("`goto` out of loops", "goto_out"),
    C("`goto` backwards", "goto_back"),
    C("loops whose bounds depend on outer loops", "triangular_nest"),
    C("loop that counts in floating point", "float_counter"),
    C("`#pragma unroll`", "unrolled"),
    C("polygons cut by lines, in local arrays", "cut_polygons", {"x": _pairs_of_triangles, "n": 5}),
    C("conditional operators, short circuits", "conditional_operators"),
    C("`[[likely]]`, `__builtin_expect`, `__builtin_assume`", "hints"),
    C("structured bindings, range-based `for`", "structured_bindings"),
    C("`assert`", "asserted"),
    C("`printf`", "printed"),
    C("`__trap`", "trapped"),
    C("`clock64`", "clocks"),
    C("special register read in assembly", "read_register"),
    C("arithmetic in assembly", "arithmetic_in_assembly"),
    C("loads and stores in assembly, with a condition", "guarded_in_assembly"),
    C("shared memory in assembly", "shared_in_assembly"),
    C("addresses of several arrays asked at once whether they are aligned", "wide_where_aligned"),
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
    C("functions of functions that only conditions ask for", "nested_in_conditions"),
    C("half storage, float arithmetic", "half_storage"),
    C("half arithmetic", "half_arithmetic"),
    C("`__half2`", "half_pairs"),
    C("eight halves copied as a `float4`", "halves_copied_as_floats"),
    C("bfloat16 storage", "bfloat16_storage", {"packed": lambda _: np.full(64, 0x3F80, np.uint16)}),
    C("`atomicAdd` on half", "half_atomics"),
)


def _of_64(rng: Rng) -> np.ndarray[Any, np.dtype[np.float32]]:
    return rng.uniform(0.5, 1.5, 64).astype(np.float32)


_COOPERATION = (
    C("`__shared__` array", "static_shared"),
    C("`extern __shared__` array", "dynamic_shared", shared_bytes=128),
    C("several arrays carved out of one", "carved_shared", shared_bytes=32 * 16),
    C("`__shared__` array with a border that a few threads fill", "bordered_shared"),
    C("`__shared__` matrix with padding", "shared_matrix", {"n": 64}, 1, (8, 8)),
    C("`__shared__` array of structs", "shared_structs"),
    C("`__shared__` number", "shared_scalar"),
    C("atomics on `__shared__` memory", "shared_atomics"),
    C("`__syncthreads` in a loop", "barriers_in_a_loop", {"steps": 3}),
    C("`__syncthreads_count`, `_and`, `_or`", "counting_barriers"),
    C("the same where threads have returned", "counting_after_return"),
    C("`return` before a barrier", "return_before_barrier"),
    C("`__syncwarp`", "warp_barriers"),
    C("`__threadfence` and its kin", "fences"),
    C("shuffles of float", "float_shuffles"),
    C("shuffles from one lane to its segment", "sent_by_one"),
    C("shuffles from one lane to those of a mask", "sent_within_a_mask", {"lanes": 11}),
    C("shuffles of double", "double_shuffles"),
    C("shuffles of a double's halves", "halves_of_doubles"),
    C("shuffles of integers", "integer_shuffles"),
    C("shuffle of a float's bits", "shuffled_bits"),
    C("shuffle of words that memory holds as floats", "shuffled_words_of_memory"),
    C("struct shuffled word by word", "shuffled_struct"),
    C("shuffles of `__half2`", "half_shuffles"),
    C("votes (`__ballot_sync`, `__any_sync`, `__all_sync`)", "votes"),
    C("matches (`__match_any_sync`)", "matches", {"k": integers(0, 4)}),
    C("warp reductions of integers (`__reduce_add_sync`)", "integer_warp_reductions"),
    C("warp reduction by shuffles", "warp_reduction"),
    C("warp reduction in `volatile` shared memory without barriers", "volatile_reduction"),
    C("warp scan in `volatile` shared memory without barriers", "volatile_scan"),
    C("shuffles and votes without a mask (`__shfl_down`, `__any`)", "shuffles_without_mask"),
    C("block reduction by shuffles and shared memory", "block_reduction"),
    C("block maximum in a tree", "block_maximum"),
    C("block scan in two buffers", "block_scan"),
    C("cooperative groups: `thread_block`", "thread_block_group"),
    C("cooperative groups: `tiled_partition`", "tiled_partition"),
    C("cooperative groups: `reduce`", "group_reduce"),
    C("cooperative groups: `inclusive_scan`", "group_scan"),
    C("cooperative groups: `coalesced_threads`", "coalesced_group"),
    C("`cub::BlockReduce`", "cub_block_reduce", {"n": 64}, 1, 64),
    C("`cub::WarpReduce`", "cub_warp_reduce", {"n": 64}),
    C("`cub::WarpReduce`, sums of segments", "cub_segmented_sum", {"n": 64}),
    C("`cub::BlockScan`", "cub_block_scan"),
    C(
        "one of two ways by a neighbour's key in `__shared__` memory",
        "beginnings_of_runs",
        {"key": lambda rng: rng.integers(0, 2, 64).astype(np.int32), **dict.fromkeys(("x", "y"), _of_64)},
        1,
        64,
    ),
)

_GRID = (
    C("cooperative groups: `this_grid()`, ranks and sizes", "grid_ranks"),
    C("cooperative groups: `this_grid().sync()`", "grid_group"),
    C("barriers of the grid in a loop, buffers swapped", "grid_relaxation", {"steps": 3}),
    C("barriers of the grid around sums of blocks", "grid_normalised"),
    C("barriers of the grid around sums by atomics", "grid_with_atomics"),
    C("barrier of the grid to which not all threads come", "returns_before_the_grid", refused="of the whole grid"),
)

_ASYNCHRONOUS = (
    C("`__pipeline_memcpy_async`", "pipeline_primitives"),
    C("two copies of `float4` under way", "pipeline_of_vectors", {"n": 32}, 1),
    C("cooperative groups: `memcpy_async`", "group_copies"),
    C("`cuda::memcpy_async`, `cuda::pipeline`", "cuda_pipeline"),
    C("copy in inline PTX (`cp.async`), with zeros behind it", "copied_in_assembly"),
    C("`cuda::barrier`: `arrive`, `wait`", "arrives_and_waits", {"x": _of_64, "n": 64}, 2, 32),
    C("`cuda::pipeline` of a block, in a loop", "pipeline_of_the_block", {"x": _of_64, "n": 64}, 2, 32),
    C("copy in bulk (`cp.async.bulk`), waited for by a barrier", "brought_in_bulk", {"x": _of_64, "n": 64}, 2, 32),
    C("producers and consumers at a `cuda::barrier`", "producer_and_consumer", refused="only some threads of a block"),
)

_MODES = (
    C("`jvp`", "carried_forward"),
    C("`jvp` with shared memory and barriers", "forward_with_shared"),
    C("`jvp` of a sum over `coalesced_threads`", "forward_by_a_group"),
    C("`jvp` of a tile that is filled by a list of indices", "forward_over_lists", {"boxes": integers(0, 2)}),
    C("`jvp` and `hvp` of a shuffle whose mask follows from `%laneid`", "forward_by_lanes", second=True),
    C("`hvp`", "second_derivatives", second=True),
    C("`hvp` of a loop", "second_of_a_loop", second=True),
    C("`hvp` of a sum by atomics", "second_of_a_sum", second=True),
    C("function without derivative (`ADGEN_INACTIVE`)", "inactive_function"),
    C("function with a gradient of its own (`ADGEN_GRADIENT`)", "own_gradient"),
)

_ATOMICS = (
    C("`atomicAdd` on float", "add_floats"),
    C("`atomicAdd` on double", "add_doubles"),
    C("`atomicAdd` on `float2`, `float4`", "add_vectors"),
    C("subtraction", "subtract"),
    C("`atomicAdd_block`, `atomicAdd_system`", "add_in_a_scope"),
    C("the other atomics of integers in a scope", "integers_in_a_scope", {"found": integers(0, 9)}),
    C("`atomicAdd` on int and 64 bits", "integer_sums"),
    C("stream compaction by a counter", "compaction", {"count": lambda _: np.zeros(1, np.int32)}, 1),
    C("`atomicMax`, `atomicMin` on int", "integer_extremes"),
    C("`atomicOr`, `And`, `Xor`, `Inc`", "integer_bits", {"k": integers(0, 30)}),
    C("`atomicExch` on int", "integer_exchange"),
    C(
        "`atomicCAS` on int: hash insertion",
        "hash_insertion",
        {"table": lambda _: np.full(64, -1, np.int32), "keys": integers(0, 20), "slots": 32},
    ),
    C("`atomicCAS` on int: a flag", "flag_once", {"flag": lambda _: np.zeros(1, np.int32)}),
    C("sum of doubles by `atomicCAS`", "cas_add_double"),
    C("sum of floats by `atomicCAS`", "cas_add_float"),
    C("`cuda::atomic_ref`", "atomic_reference"),
    C(
        "products by `atomicCAS`; floats exchanged; the value before a sum",
        "cas_multiply",
        refused="by atomics",
        also=("value_before_the_sum", "exchanged_floats", "cas_add_by_exchange"),
    ),
    C(
        "sum of all blocks' sums by the last block to finish",
        "last_block_sums",
        {"partial": lambda _: np.zeros(2, np.float32)},
        flat=frozenset({"partial"}),
    ),
    C(
        "threads in an order that atomics decide: a lock, a last thread that waits for none",
        "spin_lock",
        refused="order that atomics decide",
        also=("last_thread_sums",),
    ),
    C("threads that wait for what others write", "waits_for_others", refused="waiting for what another thread writes"),
)

_HOST_CODE = (
    C("Thrust, CUB, cuBLAS, streams, events, graphs, managed memory, the samples' helpers", "beside_host_code"),
    C("`helper_math.h` of NVIDIA's samples", "with_helper_math"),
)

_HARDWARE = (
    C("`__nanosleep`", "sleeping"),
    C("texture object", "texture", {"image": _texture}),
    C("surface object", "surface", {"image": _surface}),
    C("texture object with mipmaps", "mipmap", refused="no mipmaps"),
    C("named barriers in assembly", "named_barrier"),
)


def _factor(count: int, dtype: type) -> Any:  # noqa: ANN401
    return lambda rng: rng.uniform(-1, 1, count).astype(dtype)


def _factors(shape: tuple[int, int, int], dtype: type, sums: type) -> dict[str, Any]:
    m, n, k = shape
    return {"a": _factor(m * k, dtype), "b": _factor(k * n, dtype), "c": _factor(m * n, sums)}


def _tile(text: str, entry: str, given: dict[str, Any], tolerance: float | None = None) -> Construct:
    return C(text, entry, given, grid=1, block=32, tolerance=tolerance)


_F16, _F32, _F64, _BF16 = np.float16, np.float32, np.float64, ml_dtypes.bfloat16
_TENSOR_CORES = (
    _tile("`nvcuda::wmma` of half", "wmma_half", _factors((16, 16, 16), _F16, _F32)),
    _tile("`nvcuda::wmma` of half with sums in half, 32 by 8", "wmma_half_sums", _factors((32, 8, 16), _F16, _F16)),
    _tile("`nvcuda::wmma` of bfloat16, 8 by 32", "wmma_bfloat16", _factors((8, 32, 16), _BF16, _F32)),
    # Differences of numbers that are rounded to eleven bits; tests/openmp/test_tensor_cores.py has the closed form.
    _tile("`nvcuda::wmma` of tf32", "wmma_tf32", _factors((16, 16, 8), _F32, _F32), tolerance=0.2),
    _tile("`nvcuda::wmma` of double", "wmma_double", _factors((8, 8, 4), _F64, _F64)),
    _tile("`mma.sync` and `ldmatrix` in assembly", "mma_in_assembly", _factors((16, 8, 16), _F16, _F32)),
    C("`mma.sync` of integers", "mma_of_integers", refused="mma"),
)

FILES = (
    SourceFile("Functions", "functions.cu", _FUNCTIONS, flags=("-DSCALE=2.5f",)),
    SourceFile(
        "Structs, vector types, arguments",
        "structs.cu",
        _STRUCTS,
        activity=dict.fromkeys(("material", "partial", "alpha", "beta", "by"), "active"),
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
    SourceFile("Shared memory used for several purposes", "shared.cu", SHARED),
    SourceFile("Cooperation of a whole grid", "grid.cu", _GRID),
    SourceFile("Asynchronous copies", "asynchronous.cu", _ASYNCHRONOUS),
    SourceFile("Atomics", "atomics.cu", _ATOMICS),
    SourceFile("Maxima and minima by atomics", "extremes.cu", EXTREMES),
    SourceFile("Host code", "host_code.cu", _HOST_CODE),
    SourceFile("nvcc's dialect", "dialect.cu", DIALECT),
    SourceFile("Host code that is not there", "missing.cu", MISSING),
    SourceFile("Tensor Cores", "tensor_cores.cu", _TENSOR_CORES),
    SourceFile("Special hardware", "hardware.cu", _HARDWARE),
    SourceFile("Modes, and what a file says of its functions", "modes.cu", _MODES, modes=("forward", "second")),
    SourceFile("C++", "language.cpp", LANGUAGE),
    SourceFile("C++: containers of containers, memory of their own", "containers.cpp", CONTAINERS),
    SourceFile("C++ with OpenMP", "openmp.cpp", OPENMP),
)
