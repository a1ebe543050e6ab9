"""The constructs of C++ files."""

from __future__ import annotations

from typing import Any

import numpy as np
from constructs.arguments import apart
from constructs.construct import Construct

C = Construct


def integers(low: int, high: int, length: int = 64, dtype: type = np.int32) -> Any:  # noqa: ANN401
    return lambda rng: rng.integers(low, high, length).astype(dtype)


def rows(count: int, dtype: type = np.float32) -> Any:  # noqa: ANN401
    """A table of so many arrays."""
    if np.issubdtype(dtype, np.integer):
        return lambda rng: [rng.integers(0, 40, 64).astype(dtype) for _ in range(count)]
    return lambda rng: list(apart(rng, (count, 64)).astype(dtype))


OPENMP = (
    C("`parallel for`", "parallel_for"),
    C(
        "`parallel for` over pointers to pointers",
        "rows_in_parallel",
        {"in": rows(40, np.float64), "out": rows(40, np.float64)},
    ),
    C("`schedule(static, 3)`", "static_schedule"),
    C("`schedule(dynamic)`", "dynamic_schedule"),
    C("`schedule(guided)`, counting down", "guided_schedule"),
    C("`schedule(runtime)`, every second iteration", "runtime_schedule"),
    C("`reduction(+)`", "sum_reduction"),
    C("`reduction(*)`", "product_reduction"),
    C("`reduction(max)`", "maximum_reduction"),
    C("reduction of an array", "array_reduction"),
    C("`declare reduction`", "declared_reduction"),
    C("`declare reduction` of a number with its place", "largest_and_place"),
    C("`critical`", "critical_section"),
    C("locks", "named_lock"),
    C("`atomic`", "atomic_update"),
    C("`sections`", "section_blocks"),
    C("`simd`", "simd_loop"),
    C("`parallel for simd`", "parallel_simd"),
    C("`collapse(2)`", "collapsed"),
    C("region with two loops, `nowait`", "region_with_two_loops"),
    C("`single`, `master`, `barrier`", "single_and_barrier"),
    C("`num_threads`, work by the thread's number", "by_thread_number"),
    C("`firstprivate`, `lastprivate`", "private_copies"),
    C("`ordered`", "ordered_part"),
    C("`if`", "conditional_region"),
    C("`threadprivate` and `thread_local` scratch memory", "scratch_of_threads"),
    C("sums in `threadprivate` memory over two constructs", "sums_of_threads"),
    C("`target teams distribute parallel for`", "offloaded"),
    C("`teams distribute` around `parallel for`", "distributed_rows"),
    C("structs of which one loop reads the numbers alone", "structs_in_two_loops"),
    C(
        "class with vectors of indices",
        "class_with_index_vectors",
        {
            "n": 8,
            "begins": lambda _: 2 * np.arange(9, dtype=np.int32),
            "columns": lambda rng: rng.integers(0, 8, 16).astype(np.int32),
        },
    ),
    C("method by its address, beside an array of integers", "methods_by_address", {"idx": integers(0, 64)}),
)

LANGUAGE = (
    C("`std::vector`, range-based `for`", "vectors"),
    C("vector of vectors", "vector_of_vectors"),
    C("pointers to pointers, in C++", "rows_behind_pointers", {"matrix": rows(40, np.float64), "n": 40}),
    C("lambdas, generic ones too", "lambdas"),
    C("`std::transform`, `std::inner_product`", "algorithms"),
    C("`std::array`, `pair`, `tuple`", "arrays_and_tuples"),
    C("`std::complex`", "complex_numbers"),
    C("functions of `std::complex`", "complex_functions"),
    C("exceptions that leave the function", "exceptions"),
    C("virtual call of a known object", "devirtualised"),
    C("virtual calls whose result is used in a condition, or is complex", "virtual_calls"),
    C("`std::function`, a root by bisection", "root_of_function"),
    C("text written to streams", "prints"),
    C("union of a float and its bits as a bucket", "buckets_by_bits"),
    C("`std::unique_ptr`, `new` and `delete`", "owned_memory"),
    C("`malloc`, `realloc` and `free`", "enlarged_memory"),
    C("templates", "templates"),
    C("recursion", "recursive"),
    C("`std::sort`", "sorted"),
    C("`std::stable_sort` of indices", "sorted_indices"),
    C("references to arrays", "references_to_arrays"),
    C("linked list", "linked_list"),
    C("array read ahead of what is written in place", "shifted_in_place"),
    C("`__restrict` function called with swapped pointers", "restricted_and_swapped", {"steps": 3}),
    C("function of pointers to rows, called with rows of one array", "rows_of_one_array"),
    C("jump into a loop", "jump_into_a_loop"),
    C("references", "by_reference"),
    C("array of structs", "array_of_structs"),
    C("array without elements", "empty_array", {"none": lambda _: np.zeros(0), "count": 0}, flat=frozenset({"none"})),
    C("function without derivative (`ADGEN_INACTIVE`)", "inactive_function"),
    C("function with a gradient of its own (`ADGEN_GRADIENT`)", "own_gradient"),
)

CONTAINERS = (
    C("vector of structs that hold vectors and a number", "layers"),
    C("vector of vectors of structs of doubles, floats and integers", "vector_of_samples"),
    C("copies of rows of such structs", "rows_of_samples"),
    C("struct of vectors handed on by value", "handed_on_by_value"),
    C("vectors appended by a function that moves a pointer on", "appended_by_a_function"),
    C("class of a vector and a number", "vector_beside_a_number"),
    C("tree of `std::unique_ptr`, made and walked by recursion", "tree_of_pointers"),
    C("vectors of indices in a vector", "neighbour_lists"),
    C("`std::unordered_map`", "sums_by_key"),
    C("`std::map`", "sums_in_order"),
    C("`std::set` of numbers", "numbers_in_order"),
    C("`std::multiset` of the last numbers, whose middle counts", "middle_of_the_last"),
    C("`std::list`, spliced, sorted, merged, reversed and swapped", "spliced_lists"),
    C("`std::vector` of structs of an integer and doubles, copied, inserted into and rotated", "readings_moved"),
    C("`std::map` of `std::list`, both emptied by and by", "orders_taken"),
    C("a search tree of `std::unique_ptr`", "search_tree"),
    C(
        "objects with virtual functions, of which one has an integer where others have vectors",
        "layers_with_other_members",
    ),
    C("`std::sort` of structs of an integer and a float", "sorted_with_places", tolerance=1e-2),
    C("array that a loop allocates and hands on", "arrays_in_turn"),
    C("vectors that a loop swaps and moves", "vectors_moved"),
)
