"""The optimisations that can be left out by name, to see what each is worth."""

from __future__ import annotations

OPTIMISATIONS: dict[str, str] = {
    "shared-constants": "shared arrays that hold nothing but constants have no shadow and are not kept",
    "keep-branches": "choices between computations stay branches in C++, so that what was not done is not reversed",
    "ask-together": "conditions in C++ that lead past the same code are asked together, and not kept",
    "hold-extremes": "parallel loops in C++ that look for a minimum keep flags, and do not run again for them",
    "hold-sums": "loops in C++ keep sums of what they read, and not what was read for them alone",
    "unroll-locals": "short loops over local arrays become straight code in C++, whose values need not be kept",
    "recompute-iterations": "iterations of parallel loops in C++ are computed again instead of kept",
    "restore-overwritten": "parallel regions in C++ keep what they overwrite of an array, not what others read of it",
    "index-pointers": "pointers that walk over an array in unequal steps become offsets, in C++",
    "mark-constants": "what regions in C++ read of variables that hold constants has no derivative",
    "own-memory": "what a thread has allocated itself, and shadows, are told apart from other memory",
    "forget-results": "what only the function's result needs is not computed in its gradient, in C++",
    "skip-zeros": "what is added for a cotangent of zero, because the primal took another branch, is skipped in C++",
    "recompute-kept": "numbers that follow from others that are kept are computed again in C++, not kept as well",
    "keep-results": "exponentials that the reverse sweep of C++ needs again are kept in loops, not computed again",
    "sum-captured": "what a thread adds to a variable that all threads of a region share is added once, in C++",
    "count-halvings": "loops that halve or double count their iterations, so that nothing of them has to be kept",
    "segment-recurrences": "loops that carry values take several steps at once, and keep what is carried once for them",
    "hold-joins": "numbers that depend on the way taken are kept, not found again in the reverse sweep",
    "reload-shared": "values read from shared memory are read again in the reverse sweep instead of kept",
    "mark-unchanged": "what a kernel or function only reads is read again in the reverse sweep instead of kept",
    "fewest-kept": "Enzyme's choice of the fewest values to keep, in counted loops that overwrite nothing",
    "fuse-sweeps": "iterations that need nothing of later ones are reversed right after they were computed",
    "join-blocks": "blocks of one size that a loop keeps are one, and no pointers to them are kept",
    "tape": "values kept for the reverse sweep on a tape that the runtime allocates, not on the GPU's malloc heap",
    "keep-once": "what stays the same is kept once for the reverse sweep, not once an iteration",
    "zero-last": "consumed cotangents are zeroed after the loads and accumulations of their block",
    "exchange-cotangents": "consumed cotangents that cannot be zeroed last are read and zeroed in one exchange",
    "bound-registers": "gradients get 128 registers a thread, or fewer, unless too many values would spill",
    "widen-accesses": "neighbouring elements are read and written at once, up to 16 bytes",
    "pair-sines": "the sine and the cosine of one angle are computed together on the GPU",
    "quick-powers": "powers of ordinary numbers skip the questions for special ones on the GPU",
    "host-rules": "what lanes of a warp send each other comes back in one step on the host, not lane by lane",
    "split-threads": "blocks with barriers on the host as loops over their threads, not with a stack for each",
    "clamp-loops": "loops over the threads of a row on the host leave out threads that have nothing to do",
    "sum-threads": "what all threads of a row of a block add to one element is summed up in a register, on the host",
    "part-additions": "what a loop adds to several places of an array is added place after place, on the host",
    "vector-math": "loops over threads on the host call the C library's vector mathematics",
    "merge-accumulations": "several accumulations of a thread into one element become one",
    "own-accumulations": "elements into which only one thread accumulates get no atomics",
    "share-reciprocals": "several divisions of a derivative by one square root become one division",
    "gather-accumulations": "in square blocks, one thread adds up what others would add to an element of shared memory",
    "rotate-accumulations": "lanes of a warp that accumulate into one element after the other begin at different ones",
    "load-early": "a gradient's loads come before the divisions of their block, which become branches",
    "reload-inputs": "a gradient with too many values reads inputs again in its reverse sweep instead of keeping them",
    "record-accumulations": "many neighbouring elements are added to by one bulk reduction (sm_90 and later)",
    "reduce-accumulations": "the lanes of a warp that accumulate into one element add up first",
}
"""What each does, by name. A gradient is right without any of them."""


def listing() -> str:
    """One line for each."""
    width = max(map(len, OPTIMISATIONS))
    return "\n".join(f"{name:{width}}  {text}" for name, text in OPTIMISATIONS.items())


def parsed(text: str) -> frozenset[str]:
    """Names between commas. Raises ValueError for one that is not known."""
    names = frozenset(part.strip() for part in text.split(",") if part.strip())
    if names - OPTIMISATIONS.keys():
        raise ValueError(", ".join(sorted(names - OPTIMISATIONS.keys())))
    return names
