"""What becomes of Enzyme's derivatives: kernels of a GPU, or functions of the host."""

from __future__ import annotations

from enzyme_driver.pipelines.form import COMBINE, CSE, Pass, Pipeline, function, loop

VERIFY = Pipeline("verify", (Pass("adgen-verify-gradients"),))
"""What Enzyme has made is looked at before anything changes it."""

CLEANUP = Pipeline(
    "clean up",
    (
        Pass("adgen-expand-copy-adjoints"),
        Pass("adgen-add-atomically"),
        Pass("adgen-strip-guards"),
        Pass("adgen-relax-alignments"),
        Pass("adgen-relax-cotangents"),
        Pass("adgen-drop-fast-math-flags", when="exact"),
        Pass("adgen-mark-invariant-loads", "adgen_gradient_"),
    ),
)
"""First after Enzyme: its traces go, and its liberties in arithmetic unless they were asked for."""

SECOND = Pipeline(
    "second derivatives",
    (
        CLEANUP,
        Pass("adgen-adopt-gradients", "{rules}"),
        Pass("always-inline"),
        Pass("globaldce"),
        Pass("adgen-lower-math-to-rules"),
        Pass("adgen-link-libraries", "{libdevice}", when="cuda"),
        Pass("adgen-mark-math"),
        Pass("nvvm-reflect", when="cuda"),
        Pass("adgen-canonicalize-nvvm", when="cuda"),
        Pass("always-inline"),
        Pass("adgen-make-tangents", "{tangents}", after=("adgen-adopt-gradients",)),
        function("sroa", "early-cse", "simplifycfg"),
        Pass("adgen-expand-constant-exprs"),
        Pass("adgen-forward-rules"),
    ),
)
"""Gradients become entries, through which tangents are carried."""

MERGE_SECONDS = Pipeline("merge second derivatives", (Pass("adgen-link-seconds", "{seconds}"),))
"""And the result comes to the gradients."""

_RULES = Pipeline(
    "rules",
    (
        Pass("adgen-restore-math"),
        Pass("adgen-host-rules", when="host"),
        Pass("adgen-link-libraries", "{rules};{libdevice}", after=("adgen-restore-math", "adgen-host-rules")),
        Pass("nvvm-reflect"),
        Pass("adgen-defer-math-inlining"),
        Pass("adgen-lower-rules-to-collectives"),
        Pass("always-inline", after=("adgen-defer-math-inlining",)),
        Pass("adgen-guard-zeros", after=("always-inline",)),
        # Before anything may move the zeroing of a cotangent away from where it is read.
        Pass("adgen-consume-once", "host", when="host", after=("always-inline",)),
        Pass("adgen-consume-once", "gpu", when="gpu", after=("always-inline",)),
        # Once it is one function: before, nothing shows which pointers of structs it adds to.
        Pass("adgen-mark-invariant-loads", "adgen_gradient_", after=("always-inline",)),
        Pass("adgen-assume-distinct-arrays", after=("always-inline",)),
        function("sroa", switch="invert-products"),
        Pass("adgen-fuse-sweeps", after=("adgen-assume-distinct-arrays",)),
    ),
)
"""Names become libdevice's again, and one function holds each gradient."""

_ACCUMULATIONS = Pipeline(
    "accumulations",
    (
        Pass("adgen-drop-unread-cotangents"),
        function("adce", switch="drop-unread-cotangents"),
        function("simplifycfg", CSE, "loop-simplify"),
        Pass("adgen-leave-cotangents"),
        Pass("adgen-hoist-consumptions"),
        Pass("adgen-sink-zero-stores"),
        # Before what is added in each iteration becomes a register, and products of two places become sums.
        Pass("adgen-sum-products", when="gpu"),
        Pass("adgen-link-libraries", "{rules}", switch="sum-products", when="gpu"),
        Pass("adgen-merge-accumulations"),
        Pass("adgen-relax-private-atomics"),
        Pass("adgen-sink-zero-stores", after=("adgen-relax-private-atomics",)),  # again: of exchanges that are none now
    ),
)
"""What every target does with additions into shadows."""

CUDA = Pipeline(
    "kernels",
    (
        CLEANUP,
        _RULES,
        Pass("adgen-alternate-sweeps", after=("adgen-fuse-sweeps",)),
        Pass("adgen-version-single-trips", after=("adgen-alternate-sweeps",)),
        function("simplifycfg", "early-cse"),  # versions that are made of a gradient share what they can
        Pass("adgen-merge-growing-caches"),
        Pass("adgen-carry-growing-caches"),
        Pass("adgen-rematerialize-shuffles"),
        Pass("adgen-lower-caches", after=("adgen-alternate-sweeps", "adgen-rematerialize-shuffles")),
        Pass("adgen-link-libraries", "{rules}", switch="lower-caches"),
        Pass("adgen-pass-variables", after=("adgen-lower-caches",)),
        _ACCUMULATIONS,
        # Enzyme chooses anew in every iteration what stays the same: it is known by the way that the loop goes on.
        function("correlated-propagation", "instsimplify"),
        Pass("adgen-separate-decisions", after=("adgen-lower-caches",)),
        Pass("adgen-share-reciprocals"),
        Pass("adgen-gather-accumulations", after=("adgen-relax-private-atomics",)),
        Pass("adgen-add-in-turns", after=("adgen-gather-accumulations",)),
        Pass("adgen-add-at-distances", after=("adgen-add-in-turns",)),
        Pass("adgen-link-libraries", "{rules}", switch="add-at-distances"),
        Pass("adgen-relax-shared-atomics", after=("adgen-add-at-distances",)),
        # Zeros that loops carry around are seen as such before.
        function("sccp", "instsimplify", switch="bypass-zeros"),
        Pass("adgen-bypass-zeros"),
        Pass("adgen-rotate-accumulations", after=("adgen-relax-private-atomics", "adgen-bypass-zeros")),
        # Before lanes that did not come to a branch are lent what an address in it is computed from.
        Pass("adgen-share-divisions"),
        function("instsimplify", switch="share-divisions"),
        Pass("adgen-sum-block-elements", after=("adgen-relax-private-atomics", "adgen-gather-accumulations")),
        Pass("adgen-add-for-neighbours", after=("adgen-relax-private-atomics", "adgen-gather-accumulations")),
        # Of lanes that lose nothing is added then, wherever they meet; what optimisation shows comes behind it.
        Pass("adgen-skip-losers"),
        Pass("adgen-align-lanes", after=("adgen-gather-accumulations", "adgen-rotate-accumulations")),
        Pass("adgen-link-libraries", "{rules}", switch="align-lanes"),
        # Before lanes are compared, which then are those that add to the block's table.
        Pass("adgen-privatize-tables", after=("adgen-merge-accumulations", "adgen-relax-private-atomics")),
        Pass("adgen-match-lanes", after=("adgen-gather-accumulations", "adgen-rotate-accumulations")),
        Pass("adgen-link-libraries", "{rules}", switch="match-lanes"),
        Pass("adgen-sum-in-blocks", after=("adgen-merge-accumulations", "adgen-relax-private-atomics")),
        function("loop-simplify", switch="hold-lane-sums"),
        Pass("adgen-hold-lane-sums", after=("adgen-align-lanes", "adgen-sum-in-blocks")),
        Pass("adgen-link-libraries", "{rules}", switch="hold-lane-sums"),
        Pass("adgen-warp-aggregate-atomics", after=("adgen-gather-accumulations", "adgen-rotate-accumulations")),
        Pass("adgen-link-libraries", "{rules}", switch="warp-aggregate-atomics"),
        Pass("adgen-privatize-lookups", after=("adgen-match-lanes", "adgen-warp-aggregate-atomics")),
        Pass("adgen-compare-lanes", after=("adgen-match-lanes", "adgen-warp-aggregate-atomics")),  # what is left
        Pass("adgen-link-libraries", "{rules}", switch="compare-lanes"),
        Pass("adgen-hold-additions", after=("adgen-relax-private-atomics", "adgen-warp-aggregate-atomics")),
        Pass("adgen-privatize-accumulations", after=("adgen-relax-private-atomics", "adgen-warp-aggregate-atomics")),
        Pass("adgen-bulk-reduce-atomics", when="bulk reductions", after=("adgen-warp-aggregate-atomics",)),
        Pass("adgen-link-libraries", "{rules}", switch="bulk-reduce-atomics", when="bulk reductions"),
        Pass("adgen-merge-sin-cos"),
        Pass("adgen-link-libraries", "{libdevice}", switch="merge-sin-cos"),
        Pass("nvvm-reflect", switch="merge-sin-cos"),
        Pass(
            "adgen-inline-math",
            after=(
                *("adgen-defer-math-inlining", "adgen-lower-caches", "adgen-merge-sin-cos"),
                "adgen-separate-decisions",  # which counts calls of mathematics
            ),
        ),
        Pass("adgen-exchange-cotangents", after=("adgen-sink-zero-stores",)),
        Pass("adgen-lower-grid-barriers"),
        Pass("adgen-link-libraries", "{rules}", after=("adgen-lower-grid-barriers",)),
        Pass("adgen-guard-heap", after=("adgen-lower-caches",)),
        Pass("adgen-make-kernels", after=("adgen-guard-heap",)),
        Pass("always-inline"),
        Pass("globaldce"),
        Pass("adgen-batch-kernels", when="batched", after=("adgen-make-kernels", "always-inline")),
        Pass("adgen-expand-constant-exprs"),
        Pass("adgen-restore-constants", after=("adgen-expand-constant-exprs",)),
        Pass("adgen-verify-device", after=("adgen-make-kernels", "globaldce")),
        Pass("adgen-strip-debug", after=("adgen-verify-device",)),  # a refusal says where
        Pass("default", "O3"),
        Pass("adgen-drop-refilled-stores", after=("default", "adgen-make-kernels")),
        function("adce", "simplifycfg", switch="drop-refilled-stores"),  # what was read for them
        Pass("adgen-sink-shared-loads", after=("default",)),
        Pass("adgen-hoist-divisions", after=("default", "adgen-make-kernels")),  # to which addresses have become
        Pass("adgen-skip-losers", after=("default", "adgen-make-kernels")),
        Pass("adgen-broadcast-sums", after=("default",)),  # of what rules of shuffles have become
        Pass("adgen-load-together", after=("default",)),  # the optimiser would undo it
        Pass("adgen-load-ahead", after=("default",)),  # too
        Pass("adgen-rematerialize-loads", after=("default",)),
        Pass("adgen-split-live-ranges", after=("adgen-rematerialize-loads",)),
        # The back end does the same too late: it has made pointers of which nothing is known out of the loops' indices.
        function("infer-address-spaces", "infer-alignment", "load-store-vectorizer", switch="widen-accesses"),
        Pass("adgen-hoist-tape-loads", after=("default", "adgen-make-kernels")),
        Pass("adgen-pack-half-atomics", after=("default",)),
        Pass("adgen-make-loops-reducible", when="assembly", after=("default",)),
        Pass("adgen-rejoin-lanes", when="assembly", after=("default", "adgen-make-kernels")),
    ),
)
"""What Enzyme has made becomes the module of a GPU."""

RETARGET = Pipeline(
    "retarget",
    (
        Pass("adgen-canonicalize-nvvm"),
        Pass("adgen-retarget-host", "{triple};{layout}", after=("adgen-canonicalize-nvvm",)),
    ),
)

HOST_ENTRIES = Pipeline(
    "host entries",
    (
        Pass("always-inline"),
        Pass("adgen-arena-allocate-caches"),
        Pass("adgen-make-host-entries", after=("adgen-arena-allocate-caches",)),
        Pass("globaldce"),
        Pass("adgen-strip-debug"),
    ),
)

HOST_FROM_CUDA = Pipeline(
    "host from CUDA",
    (
        CLEANUP,
        _RULES,
        function("simplifycfg", "early-cse", switch="merge-growing-caches"),
        Pass("adgen-merge-growing-caches"),
        _ACCUMULATIONS,
        Pass("adgen-separate-decisions"),
        Pass("adgen-inline-math", after=("adgen-defer-math-inlining", "adgen-separate-decisions")),
        RETARGET,
        HOST_ENTRIES,
    ),
)
"""What Enzyme has made of kernels becomes functions of the host."""

HOST_FROM_CPP = Pipeline(
    "host from C++",
    (
        Pass("adgen-interleave-directions", "{directions}"),
        Pass("adgen-lower-undo-log"),
        Pass("adgen-restore-float-bits"),
        Pass("adgen-fork-regions"),
        CLEANUP,
        Pass("adgen-guard-zeros"),
        Pass("globaldce", switch="drop-primal-results"),
        function("adce", switch="drop-primal-results"),  # what a guard's derivative was given, and does not need
        Pass("adgen-drop-primal-results"),
        function("adce", switch="drop-primal-results"),
        Pass("adgen-pass-tapes-by-pointer", after=("adgen-strip-guards",)),  # before records come apart
        # Both sweeps of an iteration in one function: what is kept between them is values. Behind the cleanup, because
        # the optimiser would believe what Enzyme wrongly says of memory.
        Pass("adgen-rematerialize-iterations", after=("adgen-strip-guards",)),
        Pass("always-inline", switch="rematerialize-iterations"),
        function("sroa", "early-cse", "instsimplify", "simplifycfg", switch="rematerialize-iterations"),
        function("loop-simplify", switch="hoist-allocations"),
        Pass("adgen-hoist-allocations"),
        Pass("adgen-mark-private-memory"),
        Pass("adgen-sum-captured", after=("adgen-mark-private-memory",)),
        Pass("adgen-size-teams"),
        Pass("adgen-fuse-sweeps"),
        Pass("adgen-link-libraries", "{rules};{libdevice}"),  # the derivatives of mathematics are device code
        RETARGET,
        HOST_ENTRIES,
    ),
)
"""The same of C++ functions."""

_PARTS = Pipeline(
    "part additions",
    (
        # What was a condition at the beginning of a row's loop is no block of its own any more.
        function("simplifycfg", "loop-simplify", "lcssa", switch="distribute-additions"),
        Pass("adgen-distribute-additions"),
    ),
)

THREADS = Pipeline(
    "threads of blocks",
    (
        # What regions have in common shows once the function of a thread is in its simplest form.
        Pass("always-inline", switch="barrier-loop-fission"),
        function(
            *("sroa", CSE, COMBINE, "simplifycfg", "gvn", "simplifycfg", "loop-simplify", "lcssa"),
            switch="barrier-loop-fission",
        ),
        Pass("adgen-barrier-loop-fission"),
        function("sroa", CSE, COMBINE, "simplifycfg", "loop-simplify", "lcssa"),
        Pass("adgen-narrow-iteration-space", after=("adgen-barrier-loop-fission",)),
        # Indices get 64 bits before anything moves what says that they do not wrap around.
        function(loop("indvars"), "loop-simplify", "lcssa", switch="narrow-iteration-space"),
        _PARTS,
        Pass("adgen-vector-math", "{vector_bits}", when="vector math", after=("adgen-barrier-loop-fission",)),
        Pass("default", "O3"),
        Pass("adgen-round-bfloats", after=("default",)),  # it would take long to vectorise the arithmetic
    ),
)
"""Blocks of threads become loops, in a process of its own: opt asks the processor that a module is for when it begins
what is cheap there, and a kernel's module begins as the GPU's."""

SWEEPS = Pipeline(
    "sweeps",
    (
        # Which cotangents are zero on which way, and what is computed twice, shows once what is in memory is values.
        function("sccp", COMBINE, "correlated-propagation", "simplifycfg", "gvn", COMBINE),
        Pass("adgen-skip-zeros"),
        function("loop-simplify", switch="cache-math-calls"),
        Pass("adgen-cache-math-calls"),
        Pass("adgen-pack-tapes"),
        # What an entry is given, whose shadows overlap nothing, is told apart in the sweeps too; a loop is one block,
        # and does not compute what is the same in all iterations, nor write what it has just read.
        Pass("cgscc", inner=(Pass("inline"),), switch="distribute-additions"),
        function(
            *("sroa", CSE, COMBINE, "simplifycfg", loop("loop-rotate", "licm", adaptor="loop-mssa"), "dse"),
            switch="distribute-additions",
        ),
        function("loop-simplify", "lcssa", switch="nest-collapsed-loops"),
        Pass("adgen-nest-collapsed-loops"),
        function(COMBINE, "simplifycfg", loop("licm", adaptor="loop-mssa"), switch="nest-collapsed-loops"),
        _PARTS,
        Pass("adgen-inline-exponentials", when="fused", after=("adgen-cache-math-calls",)),
        Pass("default", "O3"),
        Pass("adgen-round-bfloats", after=("default",)),
    ),
)
"""The forward and reverse sweeps of C++ functions, in a process of its own too."""

AMDGPU = Pipeline(
    "AMD GPU",
    (
        Pass("adgen-canonicalize-nvvm"),
        Pass("adgen-lower-directed-rounding", after=("adgen-canonicalize-nvvm",)),
        Pass("adgen-retarget-amd", "{triple};{layout}", after=("adgen-lower-directed-rounding",)),
        Pass("globaldce"),
    ),
)
"""The final module of a GPU of NVIDIA becomes one of AMD's."""

OPTIMISE = Pipeline("optimise", (Pass("default", "O3"), Pass("adgen-make-loops-reducible", after=("default",))))
"""And is optimised for it, in a process of its own. LLVM's back end gives loops one entry too, but wrongly."""
