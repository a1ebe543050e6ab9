"""The witness of gradients: the same code with dual numbers."""

from __future__ import annotations

from enzyme_driver.pipelines.finish import HOST_ENTRIES, RETARGET
from enzyme_driver.pipelines.form import Pass, Pipeline, function

_PLAIN = function("sroa", "early-cse", "simplifycfg", "adce")
_CARRY = (
    Pass("adgen-carry-duals", when="duals", after=("adgen-make-tangents",)),
    Pass("adgen-carry-sets", "{sets}", when="sets", after=("adgen-make-tangents",)),
)

WITNESS_CUDA = Pipeline(
    "dual numbers through kernels",
    (
        Pass("adgen-name-halves"),
        Pass("adgen-select-kernels", "{symbols}"),
        Pass("adgen-leave-members"),
        Pass("adgen-raise-inline-asm"),
        Pass("adgen-link-libraries", "{libdevice}"),
        Pass("adgen-keep-formulas", after=("adgen-link-libraries",)),
        Pass("nvvm-reflect"),
        Pass("adgen-canonicalize-nvvm"),
        function("sroa"),
        Pass("adgen-expose-exchanges"),
        Pass("always-inline", after=("adgen-keep-formulas",)),
        Pass("globaldce"),
        _PLAIN,
        Pass("adgen-devirtualize-calls"),  # a pointer to a function is no number that has a shadow
        Pass("always-inline"),
        Pass("globaldce"),
        _PLAIN,
        Pass("adgen-expose-exchanges"),
        Pass("adgen-shadow-variables", "{variables}", when="variables"),
        Pass("adgen-make-bodies", "{symbols}"),
        Pass("adgen-name-addresses", after=("adgen-make-bodies",)),
        Pass("adgen-raise-masks", after=("adgen-make-bodies",)),  # of swaps no dual number would see whose bits remain
        Pass("adgen-raise-halves", after=("adgen-make-bodies",)),
        Pass("adgen-lower-async-copies", "adgen_body_", after=("adgen-make-bodies",)),
        Pass("adgen-join-split-barriers", after=("adgen-make-bodies", "adgen-lower-async-copies")),
        Pass("adgen-lower-tensor-cores", "shuffles", after=("adgen-make-bodies",)),
        Pass("adgen-keep-lockstep", after=("adgen-make-bodies",)),
        Pass("adgen-make-tangents", "{tangents}", after=("adgen-keep-lockstep",)),
        *_CARRY,
        Pass("adgen-restore-math"),
        Pass("adgen-link-libraries", "{rules};{libdevice}", after=("adgen-restore-math",)),
        Pass("nvvm-reflect"),
        Pass("adgen-defer-math-inlining"),
        Pass("adgen-lower-rules-to-collectives"),
        Pass("always-inline", after=("adgen-defer-math-inlining",)),
        Pass("globaldce"),
        _PLAIN,
        # Behind the meetings of lanes that volatile accesses make, and what the optimiser leaves out.
        Pass("adgen-record-accesses", when="host", after=("adgen-carry-duals", "adgen-keep-lockstep")),
        Pass("adgen-inline-math", after=("adgen-defer-math-inlining",)),
    ),
)
"""The witness of gradients: dual numbers carried through kernels as clang wrote them, in one function each."""

WITNESS_CPP = Pipeline(
    "dual numbers through C++",
    (
        Pass("adgen-name-halves"),
        Pass("adgen-leave-members"),
        Pass("adgen-raise-inline-asm"),
        Pass("adgen-mark-io-inactive"),
        Pass("adgen-run-tasks-at-once"),
        Pass("adgen-join-teams"),
        Pass("adgen-number-thread-locals"),
        _PLAIN,
        Pass("adgen-make-bodies", "{symbols}"),
        Pass("adgen-raise-masks", after=("adgen-make-bodies",)),
        Pass("adgen-raise-halves", after=("adgen-make-bodies",)),
        Pass("adgen-make-tangents", "{tangents}"),
        *_CARRY,
        Pass("internalize", "{exported}"),
        Pass("always-inline"),
        Pass("globaldce"),
        Pass("adgen-link-libraries", "{rules};{libdevice}"),  # last: until it is retargeted it is the device's
    ),
)
"""The same of C++ functions."""

WITNESS_HOST = Pipeline("host from witness", (Pass("adgen-relax-alignments"), RETARGET, HOST_ENTRIES))
"""The witness becomes functions of the host, whose threads have a stack each where they wait for each other. Arrays of
the host, and those of tangents, lie at multiples of 16 bytes."""

WITNESS_KERNELS = Pipeline(
    "kernels from witness",
    (
        Pass("adgen-lower-grid-barriers"),
        Pass("adgen-link-libraries", "{rules}", after=("adgen-lower-grid-barriers",)),
        Pass("adgen-guard-heap"),
        Pass("adgen-make-kernels", after=("adgen-guard-heap",)),
        Pass("always-inline"),
        Pass("globaldce"),
        Pass("adgen-expand-constant-exprs"),
        Pass("adgen-verify-device", after=("adgen-make-kernels", "globaldce")),
        Pass("adgen-strip-debug", after=("adgen-verify-device",)),
        Pass("default", "O1"),
        function("infer-address-spaces"),
        Pass("adgen-make-loops-reducible", after=("default",)),
        Pass("adgen-rejoin-lanes", after=("default", "adgen-make-kernels")),
    ),
)
"""Or kernels."""

WITNESS_CODE = Pipeline("code of a witness", (Pass("default", "O1"),))
