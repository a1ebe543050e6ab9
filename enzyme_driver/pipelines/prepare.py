"""What a file goes through before Enzyme."""

from __future__ import annotations

from enzyme_driver.pipelines.form import COMBINE, CSE, Pass, Pipeline, function, loop

DESCRIBE = Pipeline("describe", (Pass("adgen-name-halves"), Pass("adgen-describe")))
"""Signatures of what clang has made."""

_INLINE = Pipeline(
    "inline",
    (
        Pass("always-inline"),
        Pass("globaldce"),
        function("sroa"),
        Pass("adgen-split-allocas"),
        function("early-cse", "simplifycfg"),
    ),
)
"""One function an entry, in which what pointers lead to shows."""

_ASK = Pipeline(
    "ask",
    (
        Pass("adgen-make-gradients", "{gradients}"),
        Pass("adgen-make-tangents", "{tangents}", when="tangents"),
    ),
)
"""The calls by which derivatives are asked of Enzyme."""

_SELECTIONS = Pipeline(
    "selections",
    (
        Pass("adgen-rematerialize-selections"),
        function("adce", "instsimplify", "simplifycfg", switch="rematerialize-selections"),
    ),
)
"""Of what a loop chooses among, the winner alone has a derivative."""

_EXITS = Pipeline(
    "exits",
    (
        function("lower-switch"),
        Pass("adgen-split-entry-edges"),
        function("fix-irreducible"),
        Pass("adgen-clamp-trip-counts"),
        Pass("adgen-unify-exits"),
        Pass("adgen-split-multiway-merges", after=("adgen-unify-exits",)),
        Pass("adgen-hold-left-values", after=("adgen-unify-exits", "adgen-split-multiway-merges")),
        Pass("adgen-merge-branch-conditions"),
    ),
)
"""Control flow that Enzyme reverses rightly."""

_UNROLL = Pipeline(
    "unroll",
    (
        function("loop-simplify", "lcssa", switch="unroll-local-arrays"),
        Pass("adgen-unroll-local-arrays"),
        function(
            loop("loop-rotate", "loop-unroll-full"),
            "sroa",
            CSE,
            COMBINE,
            "simplifycfg",
            "sroa",
            "gvn",
            COMBINE,
            "simplifycfg",
            switch="unroll-local-arrays",
        ),
    ),
)
"""Local arrays become values once their loops are straight code."""

PREPARE_CUDA = Pipeline(
    "prepare CUDA",
    (
        Pass("adgen-name-halves"),  # while conversions are functions
        Pass("adgen-user-rules", "{user_rules}"),  # first: what the user says of a function counts, not its body
        Pass("adgen-select-kernels", "{symbols}"),
        Pass("adgen-leave-members"),  # before anything relies on which accesses are distinct
        Pass("adgen-raise-inline-asm"),
        Pass("adgen-lower-math-to-rules"),
        Pass("adgen-link-libraries", "{libdevice}", after=("adgen-lower-math-to-rules",)),
        Pass("adgen-mark-math", after=("adgen-link-libraries",)),
        Pass("nvvm-reflect"),
        Pass("adgen-canonicalize-nvvm"),
        function("sroa"),
        Pass("adgen-expose-exchanges"),  # of what waits itself and is called: inlining would say it of the barrier
        _INLINE,
        Pass("adgen-devirtualize-calls"),
        _INLINE,
        Pass("adgen-devirtualize-calls"),  # again: what one pointer holds may show once another is resolved
        _INLINE,
        Pass("adgen-expose-exchanges"),
        Pass("adgen-raise-atomic-adds"),
        Pass("adgen-shadow-variables", "{variables}", when="variables"),
        Pass("adgen-make-bodies", "{symbols}"),
        Pass("adgen-name-addresses", after=("adgen-make-bodies",)),
        Pass("adgen-unroll-shuffles", after=("adgen-make-bodies",)),  # before anything joins the halves of a number
        Pass("adgen-raise-atomic-choices", after=("adgen-make-bodies",)),
        # While shuffles are the user's. Of choices the order does not matter.
        Pass("adgen-find-arrivals", after=("adgen-raise-atomic-choices",)),
        Pass("adgen-raise-permutations", after=("adgen-make-bodies",)),
        Pass("adgen-lower-async-copies", "adgen_body_", after=("adgen-make-bodies",)),
        Pass("adgen-join-split-barriers", after=("adgen-make-bodies", "adgen-lower-async-copies")),
        Pass("adgen-lower-tensor-cores", "rules", after=("adgen-make-bodies",)),
        Pass("adgen-meet-at-tickets", after=("adgen-make-bodies",)),
        Pass("adgen-drop-votes", after=("adgen-make-bodies",)),
        Pass("adgen-return-together", after=("adgen-make-bodies",)),  # before anything asks who has returned
        Pass("adgen-find-shared-constants", "{plan}"),
        function("loop-simplify"),
        Pass("adgen-name-participants", after=("adgen-make-bodies", "adgen-lower-tensor-cores")),
        Pass("adgen-count-strides"),  # while sums are the user's: whether all threads come to a barrier depends on it
        Pass("adgen-settle-ties", after=("adgen-make-bodies", "adgen-unroll-shuffles")),
        Pass(
            "adgen-lower-collectives-to-rules",
            "{plan}",
            after=("adgen-find-shared-constants", "adgen-lower-async-copies", "adgen-name-participants"),
        ),
        Pass(
            "adgen-refuse-unsupported",
            after=("adgen-raise-inline-asm", "adgen-devirtualize-calls", "adgen-lower-collectives-to-rules"),
        ),
        _ASK,
        Pass("strip-nonlinetable-debuginfo"),
        Pass("adgen-strip-unroll-hints"),
        Pass("adgen-strip-inline-demands"),  # once nothing else has to be inlined
        Pass("adgen-thread-dispatches", after=("adgen-make-bodies",)),
        Pass("adgen-widen-steps", after=("adgen-make-bodies",)),  # while sums are the user's
        Pass("default", "O2"),
        Pass("adgen-read-parameters", after=("adgen-make-bodies", "default")),  # of what was handed on by value
        Pass("adgen-drop-choice-guards", after=("adgen-raise-atomic-choices", "default")),
        function("loop-simplify", switch="drop-repetitions"),
        Pass("adgen-drop-repetitions", after=("default",)),
        function("adce", "simplifycfg", switch="drop-repetitions"),
        _UNROLL,
        Pass("adgen-raise-masks", after=("adgen-make-bodies", "default")),
        Pass("adgen-raise-halves", after=("adgen-make-bodies", "default")),
        Pass("adgen-sink-shared-loads", after=("default",)),
        Pass("adgen-lower-pointer-phis", after=("default",)),  # of variables that unrolling has made of an array
        Pass("adgen-find-winners", after=("adgen-lower-collectives-to-rules", "default")),
        Pass("adgen-settle-pairs", after=("default",)),
        function("loop-simplify", switch="split-moments"),
        # Only its gradient has a mean's derivative: what carries tangents takes the recurrence as it is.
        Pass("adgen-split-moments", when="once", after=("adgen-lower-collectives-to-rules", "default")),
        function("adce", "instsimplify", switch="split-moments"),
        Pass("adgen-split-online-sums"),  # whose maxima are selections once no sum needs them
        function("adce", switch="split-online-sums"),
        _SELECTIONS,  # before other passes give loops another form
        function("loop-simplify", switch="canonicalize-geometric-loops"),
        Pass("adgen-canonicalize-geometric-loops"),
        function("adce", switch="canonicalize-geometric-loops"),  # the old condition of the loop
        function("loop-simplify", switch="expose-inductions"),
        Pass("adgen-pointers-to-indices"),
        Pass("adgen-expose-inductions"),
        function("loop-simplify", switch="expose-inductions"),
        Pass("adgen-expose-inductions"),
        Pass("adgen-settle-carried-values"),  # behind what sees a step in a number that is carried on one way alone
        Pass("adgen-mark-row-owners"),  # while loops and their conditions are the user's
        function("loop-simplify", switch="count-strides"),
        Pass("adgen-count-strides"),
        Pass("adgen-expose-inductions"),  # again: of what a counted variable moves on
        function("loop-simplify", switch="name-stops"),
        Pass("adgen-name-stops", after=("adgen-lower-collectives-to-rules",)),
        Pass("adgen-strip-mine-recurrences", after=("adgen-mark-row-owners",)),
        Pass("adgen-sink-singularities", after=("default",)),
        _EXITS,
        Pass("adgen-hide-reused-integers", after=("adgen-lower-collectives-to-rules", "default")),
        Pass("adgen-type-copies", after=("adgen-hide-reused-integers",)),
        Pass("adgen-hide-float-bits", after=("adgen-type-copies",)),
        Pass("adgen-rotate-barriers", after=("adgen-lower-collectives-to-rules",)),
        Pass("adgen-expose-refills", after=("adgen-type-copies", "adgen-lower-tensor-cores")),
        Pass("adgen-rematerialize-shared-loads", after=("adgen-expose-refills",)),
        Pass("adgen-expose-overwrites", after=("adgen-annotate-types",)),  # which needs the addresses that this hides
        Pass("adgen-separate-loads"),
        Pass("adgen-cache-phis"),
        function("sroa"),
        Pass("adgen-lower-pointer-phis", after=("default",)),  # again: of what is indexed by constants only now
        function("loop-simplify", switch="invert-products"),
        Pass("adgen-count-stops", after=("adgen-rematerialize-shared-loads",)),
        function("loop-simplify", switch="count-stops"),
        Pass("adgen-split-multiway-merges"),  # again: of a loop that does not break any more
        Pass("adgen-invert-products", after=("adgen-rematerialize-shared-loads",)),
        Pass("adgen-split-multiway-merges"),  # likewise
        Pass("adgen-zero-undef-values"),  # behind sroa, which makes undefined values of variables
        Pass("adgen-freeze-carried-values"),
        Pass("adgen-hold-carried-values"),
        # Behind what asks which instructions use a number that is carried.
        Pass("adgen-keep-states-once", after=("adgen-rematerialize-shared-loads", "adgen-freeze-carried-values")),
        Pass("adgen-use-results", after=("default",)),
        Pass("adgen-pin-rules", after=("default",)),  # the optimiser would take the use for work
        Pass("adgen-expand-constant-exprs"),
        Pass("adgen-declare-copy-adjoints"),
        Pass("adgen-discard-outputs"),
        Pass("adgen-mark-invariant-loads", "adgen_body_"),
        Pass("adgen-join-stores", after=("adgen-mark-invariant-loads",)),
        Pass("adgen-settle-shared-choices", after=("adgen-drop-choice-guards", "adgen-lower-collectives-to-rules")),
        # Once what recognised loops have read before is gone.
        Pass("adgen-verify-atomic-choices", after=("adgen-raise-atomic-choices", "default")),
        Pass("adgen-mark-inactive-loads", after=("default",)),  # which drops marks where it joins loads
        Pass("adgen-mark-const-members", after=("default",)),  # likewise
        Pass("adgen-print-usage", after=("adgen-declare-copy-adjoints", "adgen-discard-outputs")),
        Pass("adgen-guard-choices", after=("adgen-print-usage",)),  # guards are no use that the user wrote
        Pass("adgen-forward-rules", when="tangents"),
    ),
)
"""A CUDA file becomes the module that Enzyme gets."""

PREPARE_CPP = Pipeline(
    "prepare C++",
    (
        Pass("adgen-name-halves"),  # while conversions are functions
        Pass("adgen-user-rules", "{user_rules}"),
        Pass("adgen-leave-members"),
        Pass("adgen-raise-inline-asm"),  # an empty text, in front of what asks where values come from
        Pass("adgen-mark-io-inactive"),
        Pass("adgen-lower-math-to-rules"),
        Pass("adgen-raise-atomic-adds"),
        Pass("adgen-run-tasks-at-once"),
        Pass("adgen-join-teams"),
        Pass("adgen-fix-arguments"),
        Pass("adgen-make-bodies", "{symbols}"),
        Pass("adgen-outline-parallel-regions", after=("adgen-make-bodies",)),
        Pass("adgen-lower-worksharing-loops", after=("adgen-outline-parallel-regions",)),
        Pass("adgen-number-thread-locals", after=("adgen-outline-parallel-regions",)),
        Pass("adgen-rewrite-openmp", after=("adgen-lower-worksharing-loops",)),
        Pass(
            "adgen-refuse-unsupported",
            after=("adgen-raise-inline-asm", "adgen-mark-io-inactive", "adgen-rewrite-openmp"),
        ),
        Pass("adgen-demote-to-sret"),
        _ASK,
        Pass("internalize", "{exported}"),
        Pass("strip-nonlinetable-debuginfo"),
        Pass("adgen-strip-unroll-hints"),
        Pass("adgen-strip-inline-demands"),  # once nothing else has to be inlined
        Pass("default", "O2"),
        _UNROLL,
        Pass("adgen-raise-masks", after=("adgen-make-bodies", "default")),
        Pass("adgen-raise-halves", after=("adgen-make-bodies", "default")),
        Pass("adgen-lower-pointer-phis", after=("default",)),
        Pass("adgen-settle-pairs", after=("default",)),
        Pass("adgen-prune-vtables"),
        Pass("globaldce"),  # methods that no table names any more
        Pass("adgen-shadow-statics"),
        function("loop-simplify", switch="expose-inductions"),
        Pass("adgen-expose-inductions"),
        function("loop-simplify", switch="expose-inductions"),
        Pass("adgen-expose-inductions"),
        function("loop-simplify", switch="pointers-to-indices"),
        Pass("adgen-pointers-to-indices"),
        Pass("adgen-promote-captures"),
        function("sroa"),
        Pass("adgen-promote-captures"),  # again: members of members show once the outer ones are values
        _SELECTIONS,  # once what regions read shows
        Pass("adgen-mark-inactive-loads"),
        function("loop-simplify", "lcssa", switch="rematerialize-iterations"),
        Pass("adgen-outline-iterations", switch="rematerialize-iterations", after=("adgen-promote-captures",)),
        Pass("adgen-undo-log"),
        Pass("adgen-mark-private-memory"),
        function(
            loop("licm", adaptor="loop-mssa"), switch="mark-private-memory"
        ),  # what no other memory overlaps leaves loops
        Pass("adgen-sink-singularities", after=("default",)),
        _EXITS,
        Pass("adgen-type-copies"),
        Pass("adgen-hide-counts"),
        Pass("adgen-hide-float-bits", after=("adgen-type-copies",)),
        Pass("adgen-annotate-types"),
        Pass("adgen-expose-overwrites", after=("adgen-annotate-types",)),  # which needs the addresses that this hides
        Pass("adgen-separate-loads"),
        Pass("adgen-cache-phis"),  # above all what selections have left
        function("sroa"),
        Pass("adgen-lower-pointer-phis", after=("default",)),  # again: of what is indexed by constants only now
        Pass("adgen-zero-undef-values"),
        Pass("adgen-freeze-carried-values"),
        Pass("adgen-hold-carried-values"),
        Pass("adgen-use-results"),
        Pass("adgen-pin-rules", after=("default",)),
        Pass("adgen-declare-copy-adjoints"),
        Pass("adgen-discard-outputs"),
        Pass("adgen-mark-invariant-loads", "adgen_body_"),
        Pass("adgen-cache-reductions"),
        Pass("adgen-mark-const-members", after=("default",)),  # which drops marks where it joins loads
        Pass("adgen-print-usage", after=("adgen-declare-copy-adjoints", "adgen-discard-outputs")),
        Pass("adgen-guard-choices", after=("adgen-print-usage",)),
        Pass("adgen-call-regions", when="tangents"),
        Pass("adgen-forward-rules", when="tangents"),
    ),
)
"""The same of a C++ file."""

BETWEEN_STEPS = Pipeline("between steps of Enzyme", (Pass("adgen-expand-constant-exprs"),))
"""Where derivatives are made one by one: Enzyme stops at constant expressions that two functions share."""
