"""The optimisations that can be left out by name, to see what each is worth."""

from __future__ import annotations

from enzyme_driver import pipelines, registry

_ELSEWHERE = {
    "keep-branches": "choices between computations stay branches in C++, so that what was not done is not reversed",
    "fewest-kept": "Enzyme's choice of the fewest values to keep, in counted loops that overwrite nothing",
    "widen-accesses": "neighbouring elements are read and written at once, up to 16 bytes",
    "bound-registers": "gradients get 128 registers a thread, or fewer, unless too many values would spill",
    "spill-to-shared": "what has no register in a gradient goes to shared memory, where the largest block is known",
    "block-variants": "kernels with so many registers that their blocks have few threads have variants for more",
}
"""Those that no pass of adgen does, but options of LLVM, Enzyme and ptxas, or passes of LLVM."""


def _all() -> dict[str, str]:
    switches = (each.turned_off_by for pipeline in pipelines.ALL for each in pipeline.passes)
    rows = registry.by_name()
    own = (name for name in switches if name and f"{registry.PREFIX}{name}" in rows)
    return {name: rows[f"{registry.PREFIX}{name}"].summary for name in own} | _ELSEWHERE


OPTIMISATIONS: dict[str, str] = _all()
"""What each does, by name. A gradient is right without any of them."""


FORMER = {
    "shared-constants": "find-shared-constants",
    "hold-joins": "cache-phis",
    "hold-sums": "cache-reductions",
    "ask-together": "merge-branch-conditions",
    "count-halvings": "canonicalize-geometric-loops",
    "segment-recurrences": "strip-mine-recurrences",
    "reload-shared": "rematerialize-shared-loads",
    "unroll-locals": "unroll-local-arrays",
    "index-pointers": "pointers-to-indices",
    "mark-constants": "mark-inactive-loads",
    "restore-overwritten": "undo-log",
    "mark-unchanged": "mark-invariant-loads",
    "forget-results": "drop-primal-results",
    "recompute-iterations": "rematerialize-iterations",
    "own-memory": "mark-private-memory",
    "tape": "lower-caches",
    "zero-last": "sink-zero-stores",
    "own-accumulations": "relax-private-atomics",
    "reduce-accumulations": "warp-aggregate-atomics",
    "pair-sines": "merge-sin-cos",
    "reload-inputs": "rematerialize-loads",
    "record-accumulations": "bulk-reduce-atomics",
    "split-threads": "barrier-loop-fission",
    "clamp-loops": "narrow-iteration-space",
    "keep-results": "cache-math-calls",
    "part-additions": "distribute-additions",
}
"""What they were called before; still understood for one release."""


def listing() -> str:
    """One line for each."""
    width = max(map(len, OPTIMISATIONS))
    return "\n".join(f"{name:{width}}  {text}" for name, text in OPTIMISATIONS.items())


def parsed(text: str) -> frozenset[str]:
    """Names between commas, former ones as those of today. Raises ValueError for one that is not known."""
    names = frozenset(FORMER.get(name, name) for part in text.split(",") if (name := part.strip()))
    if names - OPTIMISATIONS.keys():
        raise ValueError(", ".join(sorted(names - OPTIMISATIONS.keys())))
    return names
