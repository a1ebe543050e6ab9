"""The constructs of what a kernel keeps in memory of its own: shared memory for several purposes, objects."""

from __future__ import annotations

from constructs.construct import Construct

C = Construct
WORDS = 32 * 4
"""Bytes of a block's numbers."""

SHARED = (
    C("integers, then floats, in one array", "integers_then_numbers"),
    C("doubles, then integers, in one array", "numbers_then_integers"),
    C("a union of integers and floats in a loop", "in_turns"),
    C("`char` array carved by offsets into several types", "carved_by_offsets"),
    C("floats copied through a `char` array by `memcpy`", "copied_through_bytes"),
    C("bytes, then floats, in dynamic shared memory", "bytes_then_numbers", shared_bytes=WORDS),
    C("a histogram's counts, then sums, in one array", "counted_then_summed"),
    C("a scan of integers, then sums, in one array", "scanned_then_summed", shared_bytes=WORDS),
    C("sorted keys, then what they order, in one array", "sorted_then_gathered"),
    C("bits of constants stored over floats", "cleared_as_integers"),
    C("`int4` stored over floats", "cleared_as_vectors"),
    C("integers, then bits of floats, in one array", "bits_where_integers_were"),
    C("doubles, then floats, in one array", "two_kinds_of_numbers"),
    C("a union of structs and doubles", "union_of_structs"),
    C("bits of floats with their places beside them, sorted in a `__shared__` array", "sorted_with_their_places"),
    C("the same in a local array", "ordered_in_local_memory"),
    C(
        "counts of integers in a `__shared__` array that held floats",
        "counts_where_floats_were",
        {"each": 2},
        1,
        shared_bytes=32 * 12,
    ),
)

VIRTUAL_CALLS = (
    C("virtual calls through an array of pointers to the base", "virtual_calls_of_a_list"),
    C("the same of objects that the kernel makes by `new`", "virtual_calls_on_the_heap"),
    C("the same of objects in shared memory", "virtual_calls_in_shared_memory"),
)
