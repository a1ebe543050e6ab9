"""The pipelines of passes that opt runs, one for each time it is started: what runs, in which order, and why there.

What each of adgen's own passes does is said in passes/Passes.def and docs/passes.md. A pass that is optional there has
a switch of its name, by which `--disable` leaves it out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from enzyme_driver import registry


@dataclass(frozen=True)
class Pass:
    """One pass, or one of LLVM's adaptors (`function`, `loop`, ...) with the passes that it runs, `inner`.

    `option` is what follows between < and >; words in braces are given by whoever renders. `switch` is the optimisation
    that the pass is part of, `when` a fact about the compilation without which it does not run. `after` names passes
    that must have run before, wherever both do.
    """

    name: str
    option: str = ""
    switch: str | None = None
    when: str | None = None
    after: tuple[str, ...] = ()
    inner: tuple[Pass, ...] = ()

    @property
    def turned_off_by(self) -> str | None:
        """The switch that leaves it out: that of an optional pass of adgen is called like the pass."""
        row = registry.by_name().get(self.name)
        return self.switch or (self.name.removeprefix(registry.PREFIX) if row and row.optional else None)


@dataclass(frozen=True)
class Pipeline:
    """Passes in the order in which they run; a pipeline among them stands for its passes."""

    name: str
    parts: tuple[Pass | Pipeline, ...]

    @property
    def passes(self) -> Iterator[Pass]:
        for part in self.parts:
            yield from part.passes if isinstance(part, Pipeline) else (part,)


def render(
    pipeline: Pipeline,
    words: Mapping[str, str] | None = None,
    *,
    facts: Collection[str] = (),
    disabled: Collection[str] = (),
) -> str:
    """The text of `-passes=`. `words` stand in options, for the others see `selected`."""
    return ",".join(
        rendered(each, {} if words is None else words) for each in selected(pipeline, facts=facts, disabled=disabled)
    )


def selected(pipeline: Pipeline, *, facts: Collection[str] = (), disabled: Collection[str] = ()) -> tuple[Pass, ...]:
    """The passes that run: `facts` decide about `Pass.when`, `disabled` holds switches."""
    return tuple(
        each
        for each in pipeline.passes
        if each.turned_off_by not in disabled and (each.when is None or each.when in facts)
    )


def rendered(each: Pass, words: Mapping[str, str]) -> str:
    """One pass as opt reads it."""
    option = f"<{each.option.format_map(words)}>" if each.option else ""
    inner = f"({','.join(rendered(one, words) for one in each.inner)})" if each.inner else ""
    return f"{each.name}{option}{inner}"


def _function(
    *passes: str | Pass, switch: str | None = None, when: str | None = None, after: tuple[str, ...] = ()
) -> Pass:
    """LLVM's passes that run on one function after another."""
    return Pass("function", switch=switch, when=when, after=after, inner=tuple(map(_one, passes)))


def _loop(*passes: str | Pass, adaptor: str = "loop") -> Pass:
    return Pass(adaptor, inner=tuple(map(_one, passes)))


def _one(each: str | Pass) -> Pass:
    return Pass(each) if isinstance(each, str) else each


_CSE = Pass("early-cse", "memssa")
_COMBINE = Pass("instcombine", "no-verify-fixpoint")

DESCRIBE = Pipeline("describe", (Pass("adgen-describe"),))
"""Signatures of what clang has made."""

_INLINE = Pipeline(
    "inline",
    (
        Pass("always-inline"),
        Pass("globaldce"),
        _function("sroa"),
        Pass("adgen-split-allocas"),
        _function("early-cse", "simplifycfg"),
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
        _function("loop-simplify", switch="keep-last-iteration"),
        Pass("adgen-keep-last-iteration"),
        _function("simplifycfg", switch="keep-last-iteration"),
        Pass("adgen-rematerialize-selections"),
        _function("adce", "instsimplify", "simplifycfg", switch="rematerialize-selections"),
    ),
)
"""Of what a loop chooses among, the winner alone has a derivative, and of repetitions the last one."""

_EXITS = Pipeline(
    "exits",
    (
        _function("lower-switch", "fix-irreducible"),
        Pass("adgen-clamp-trip-counts"),
        Pass("adgen-unify-exits"),
        Pass("adgen-split-multiway-merges", after=("adgen-unify-exits",)),
        Pass("adgen-hold-left-values", after=("adgen-unify-exits", "adgen-split-multiway-merges")),
    ),
)
"""Control flow that Enzyme reverses rightly."""

PREPARE_CUDA = Pipeline(
    "prepare CUDA",
    (
        Pass("adgen-user-rules", "{user_rules}"),  # first: what the user says of a function counts, not its body
        Pass("adgen-select-kernels", "{symbols}"),
        Pass("adgen-raise-inline-asm"),
        Pass("adgen-lower-math-to-rules"),
        Pass("adgen-link-libraries", "{libdevice}", after=("adgen-lower-math-to-rules",)),
        Pass("adgen-mark-math", after=("adgen-link-libraries",)),
        Pass("nvvm-reflect"),
        Pass("adgen-canonicalize-nvvm"),
        _INLINE,
        Pass("adgen-devirtualize-calls"),
        _INLINE,
        Pass("adgen-devirtualize-calls"),  # again: what one pointer holds may show once another is resolved
        _INLINE,
        Pass("adgen-raise-atomic-adds"),
        Pass("adgen-shadow-variables", "{variables}", when="variables"),
        Pass("adgen-make-bodies", "{symbols}"),
        Pass("adgen-lower-async-copies", "adgen_body_", after=("adgen-make-bodies",)),
        Pass("adgen-lower-tensor-cores", "rules", after=("adgen-make-bodies",)),
        Pass("adgen-find-shared-constants", "{plan}"),
        Pass(
            "adgen-lower-collectives-to-rules",
            "{plan}",
            after=("adgen-find-shared-constants", "adgen-lower-async-copies", "adgen-lower-tensor-cores"),
        ),
        Pass(
            "adgen-refuse-unsupported",
            after=("adgen-raise-inline-asm", "adgen-devirtualize-calls", "adgen-lower-collectives-to-rules"),
        ),
        _ASK,
        Pass("strip-nonlinetable-debuginfo"),
        Pass("adgen-strip-unroll-hints"),
        Pass("default", "O2"),
        Pass("adgen-lower-pointer-phis", after=("default",)),  # of variables that unrolling has made of an array
        _SELECTIONS,  # before other passes give loops another form
        _function("loop-simplify", switch="canonicalize-geometric-loops"),
        Pass("adgen-canonicalize-geometric-loops"),
        _function("adce", switch="canonicalize-geometric-loops"),  # the old condition of the loop
        Pass("adgen-mark-row-owners"),  # while loops and their conditions are the user's
        Pass("adgen-strip-mine-recurrences", after=("adgen-mark-row-owners",)),
        _EXITS,
        Pass("adgen-type-copies"),
        Pass("adgen-hide-float-bits", after=("adgen-type-copies",)),
        Pass("adgen-rematerialize-shared-loads"),
        Pass("adgen-expose-overwrites", after=("adgen-annotate-types",)),  # which needs the addresses that this hides
        Pass("adgen-separate-loads"),
        Pass("adgen-cache-phis"),
        _function("sroa"),
        Pass("adgen-zero-undef-values"),  # behind sroa, which makes undefined values of variables
        Pass("adgen-freeze-carried-values"),
        Pass("adgen-use-results", after=("default",)),
        Pass("adgen-pin-rules", after=("default",)),  # the optimiser would take the use for work
        Pass("adgen-expand-constant-exprs"),
        Pass("adgen-declare-copy-adjoints"),
        Pass("adgen-discard-outputs"),
        Pass("adgen-mark-invariant-loads", "adgen_body_"),
        Pass("adgen-print-usage", after=("adgen-declare-copy-adjoints", "adgen-discard-outputs")),
        Pass("adgen-guard-choices", after=("adgen-print-usage",)),  # guards are no use that the user wrote
        Pass("adgen-forward-rules", when="tangents"),
    ),
)
"""A CUDA file becomes the module that Enzyme gets."""

_UNROLL = Pipeline(
    "unroll",
    (
        _function("loop-simplify", "lcssa", switch="unroll-local-arrays"),
        Pass("adgen-unroll-local-arrays"),
        _function(
            _loop("loop-rotate", "loop-unroll-full"),
            "sroa",
            _CSE,
            _COMBINE,
            "simplifycfg",
            "sroa",
            "gvn",
            _COMBINE,
            "simplifycfg",
            switch="unroll-local-arrays",
        ),
    ),
)
"""Local arrays become values once their loops are straight code."""

PREPARE_CPP = Pipeline(
    "prepare C++",
    (
        Pass("adgen-user-rules", "{user_rules}"),
        Pass("adgen-mark-io-inactive"),
        Pass("adgen-lower-math-to-rules"),
        Pass("adgen-raise-atomic-adds"),
        Pass("adgen-make-bodies", "{symbols}"),
        Pass("adgen-outline-parallel-regions", after=("adgen-make-bodies",)),
        Pass("adgen-lower-worksharing-loops", after=("adgen-outline-parallel-regions",)),
        Pass("adgen-rewrite-openmp", after=("adgen-lower-worksharing-loops",)),
        Pass("adgen-refuse-unsupported", after=("adgen-mark-io-inactive", "adgen-rewrite-openmp")),
        Pass("adgen-demote-to-sret"),
        _ASK,
        Pass("internalize", "{exported}"),
        Pass("strip-nonlinetable-debuginfo"),
        Pass("adgen-strip-unroll-hints"),
        Pass("default", "O2"),
        _UNROLL,
        Pass("adgen-lower-pointer-phis", after=("default",)),
        Pass("adgen-prune-vtables"),
        Pass("globaldce"),  # methods that no table names any more
        Pass("adgen-shadow-statics"),
        _function("loop-simplify", switch="pointers-to-indices"),
        Pass("adgen-pointers-to-indices"),
        Pass("adgen-promote-captures"),
        Pass("adgen-promote-captured-structs", after=("adgen-promote-captures",)),
        _function("sroa"),
        Pass("adgen-promote-captured-structs"),  # again: members of members show once the outer ones are values
        _SELECTIONS,  # once what regions read shows
        Pass("adgen-mark-inactive-loads"),
        _function("loop-simplify", "lcssa", switch="rematerialize-iterations"),
        Pass("adgen-outline-iterations", switch="rematerialize-iterations", after=("adgen-promote-captures",)),
        Pass("adgen-undo-log"),
        Pass("adgen-mark-private-memory"),
        _function(
            _loop("licm", adaptor="loop-mssa"), switch="mark-private-memory"
        ),  # what no other memory overlaps leaves loops
        _EXITS,
        Pass("adgen-merge-branch-conditions"),
        Pass("adgen-type-copies"),
        Pass("adgen-hide-float-bits", after=("adgen-type-copies",)),
        Pass("adgen-annotate-types"),
        Pass("adgen-expose-overwrites", after=("adgen-annotate-types",)),  # which needs the addresses that this hides
        Pass("adgen-separate-loads"),
        Pass("adgen-cache-comparisons"),
        _function("sroa"),
        Pass("adgen-zero-undef-values"),
        Pass("adgen-freeze-carried-values"),
        Pass("adgen-use-results"),
        Pass("adgen-pin-rules", after=("default",)),
        Pass("adgen-declare-copy-adjoints"),
        Pass("adgen-discard-outputs"),
        Pass("adgen-mark-invariant-loads", "adgen_body_"),
        Pass("adgen-cache-reductions"),
        Pass("adgen-print-usage", after=("adgen-declare-copy-adjoints", "adgen-discard-outputs")),
        Pass("adgen-guard-choices", after=("adgen-print-usage",)),
        Pass("adgen-call-regions", when="tangents"),
        Pass("adgen-forward-rules", when="tangents"),
    ),
)
"""The same of a C++ file."""

BETWEEN_STEPS = Pipeline("between steps of Enzyme", (Pass("adgen-expand-constant-exprs"),))
"""Where derivatives are made one by one: Enzyme stops at constant expressions that two functions share."""

VERIFY = Pipeline("verify", (Pass("adgen-verify-gradients"),))
"""What Enzyme has made is looked at before anything changes it."""

CLEANUP = Pipeline(
    "clean up",
    (
        Pass("adgen-expand-copy-adjoints"),
        Pass("adgen-add-atomically"),
        Pass("adgen-hoist-invariant-caches"),
        Pass("adgen-strip-guards"),
        Pass("adgen-relax-alignments"),
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
        _function("sroa", "early-cse", "simplifycfg"),
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
        # Before anything may move the zeroing of a cotangent away from where it is read.
        Pass("adgen-consume-once", "host", when="host", after=("always-inline",)),
        Pass("adgen-consume-once", "gpu", when="gpu", after=("always-inline",)),
        # Once it is one function: before, nothing shows which pointers of structs it adds to.
        Pass("adgen-mark-invariant-loads", "adgen_gradient_", after=("always-inline",)),
        Pass("adgen-assume-distinct-arrays", after=("always-inline",)),
        Pass("adgen-fuse-sweeps", after=("adgen-assume-distinct-arrays",)),
    ),
)
"""Names become libdevice's again, and one function holds each gradient."""

_ACCUMULATIONS = Pipeline(
    "accumulations",
    (
        _function("simplifycfg", _CSE, "loop-simplify"),
        Pass("adgen-sink-zero-stores"),
        Pass("adgen-merge-accumulations"),
        Pass("adgen-relax-private-atomics"),
    ),
)
"""What every target does with additions into shadows."""

CUDA = Pipeline(
    "kernels",
    (
        CLEANUP,
        _RULES,
        _function("simplifycfg", "early-cse", "loop-simplify", switch="merge-cache-blocks"),
        Pass("adgen-merge-cache-blocks"),
        Pass("adgen-lower-caches", after=("adgen-fuse-sweeps", "adgen-merge-cache-blocks")),
        Pass("adgen-link-libraries", "{rules}", switch="lower-caches"),
        _ACCUMULATIONS,
        # Enzyme chooses anew in every iteration what stays the same: it is known by the way that the loop goes on.
        _function("correlated-propagation", "instsimplify"),
        Pass("adgen-share-reciprocals"),
        Pass("adgen-gather-accumulations", after=("adgen-relax-private-atomics",)),
        Pass("adgen-rotate-accumulations", after=("adgen-relax-private-atomics",)),
        Pass("adgen-match-lanes", after=("adgen-gather-accumulations", "adgen-rotate-accumulations")),
        Pass("adgen-link-libraries", "{rules}", switch="match-lanes"),
        Pass("adgen-warp-aggregate-atomics", after=("adgen-gather-accumulations", "adgen-rotate-accumulations")),
        Pass("adgen-link-libraries", "{rules}", switch="warp-aggregate-atomics"),
        Pass("adgen-bulk-reduce-atomics", when="bulk reductions", after=("adgen-warp-aggregate-atomics",)),
        Pass("adgen-link-libraries", "{rules}", switch="bulk-reduce-atomics", when="bulk reductions"),
        Pass("adgen-merge-sin-cos"),
        Pass("adgen-link-libraries", "{libdevice}", switch="merge-sin-cos"),
        Pass("nvvm-reflect", switch="merge-sin-cos"),
        Pass("adgen-specialize-pow"),
        Pass(
            "adgen-inline-math",
            after=("adgen-defer-math-inlining", "adgen-lower-caches", "adgen-merge-sin-cos", "adgen-specialize-pow"),
        ),
        Pass("adgen-exchange-cotangents", after=("adgen-sink-zero-stores",)),
        Pass("adgen-guard-heap", after=("adgen-lower-caches",)),
        Pass("adgen-make-kernels", after=("adgen-guard-heap",)),
        Pass("always-inline"),
        Pass("globaldce"),
        Pass("adgen-batch-kernels", when="batched", after=("adgen-make-kernels", "always-inline")),
        Pass("adgen-expand-constant-exprs"),
        Pass("adgen-verify-device", after=("adgen-make-kernels", "globaldce")),
        Pass("adgen-strip-debug", after=("adgen-verify-device",)),  # a refusal says where
        Pass("default", "O3"),
        Pass("adgen-hoist-loads", after=("default",)),  # the optimiser would undo it
        Pass("adgen-rematerialize-loads", after=("default",)),
        # The back end does the same too late: it has made pointers of which nothing is known out of the loops' indices.
        _function("infer-address-spaces", "infer-alignment", "load-store-vectorizer", switch="widen-accesses"),
        Pass("adgen-skip-zero-atomics", after=("adgen-rematerialize-loads",)),  # last: it takes blocks apart
    ),
)
"""What Enzyme has made becomes the module of a GPU."""

_RETARGET = Pipeline(
    "retarget",
    (
        Pass("adgen-canonicalize-nvvm"),
        Pass("adgen-retarget-host", "{triple};{layout}", after=("adgen-canonicalize-nvvm",)),
    ),
)
_HOST_ENTRIES = Pipeline(
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
        _ACCUMULATIONS,
        Pass("adgen-inline-math", after=("adgen-defer-math-inlining",)),
        _RETARGET,
        _HOST_ENTRIES,
    ),
)
"""What Enzyme has made of kernels becomes functions of the host."""

HOST_FROM_CPP = Pipeline(
    "host from C++",
    (
        Pass("adgen-lower-undo-log"),
        Pass("adgen-restore-float-bits"),
        Pass("adgen-fork-regions"),
        CLEANUP,
        Pass("globaldce", switch="drop-primal-results"),
        Pass("adgen-drop-primal-results"),
        _function("adce", switch="drop-primal-results"),
        # Both sweeps of an iteration in one function: what is kept between them is values. Behind the cleanup, because
        # the optimiser would believe what Enzyme wrongly says of memory.
        Pass("adgen-rematerialize-iterations", after=("adgen-strip-guards",)),
        Pass("always-inline", switch="rematerialize-iterations"),
        _function("sroa", "early-cse", "instsimplify", "simplifycfg", switch="rematerialize-iterations"),
        Pass("adgen-mark-private-memory"),
        Pass("adgen-sum-captured", after=("adgen-mark-private-memory",)),
        Pass("adgen-size-teams"),
        Pass("adgen-link-libraries", "{rules};{libdevice}"),  # the derivatives of mathematics are device code
        _RETARGET,
        _HOST_ENTRIES,
    ),
)
"""The same of C++ functions."""

_PARTS = Pipeline(
    "part additions",
    (
        # What was a condition at the beginning of a row's loop is no block of its own any more.
        _function("simplifycfg", "loop-simplify", "lcssa", switch="distribute-additions"),
        Pass("adgen-distribute-additions"),
    ),
)

THREADS = Pipeline(
    "threads of blocks",
    (
        # What regions have in common shows once the function of a thread is in its simplest form.
        Pass("always-inline", switch="barrier-loop-fission"),
        _function(
            *("sroa", _CSE, _COMBINE, "simplifycfg", "gvn", "simplifycfg", "loop-simplify", "lcssa"),
            switch="barrier-loop-fission",
        ),
        Pass("adgen-barrier-loop-fission"),
        _function("sroa", _CSE, _COMBINE, "simplifycfg", "loop-simplify", "lcssa"),
        Pass("adgen-narrow-iteration-space", after=("adgen-barrier-loop-fission",)),
        # Indices get 64 bits before anything moves what says that they do not wrap around.
        _function(_loop("indvars"), "loop-simplify", "lcssa", switch="narrow-iteration-space"),
        Pass("adgen-sum-threads", after=("adgen-barrier-loop-fission",)),
        _PARTS,
        Pass("adgen-vector-math", "{vector_bits}", when="vector math", after=("adgen-barrier-loop-fission",)),
        Pass("default", "O3"),
    ),
)
"""Blocks of threads become loops, in a process of its own: opt asks the processor that a module is for when it begins
what is cheap there, and a kernel's module begins as the GPU's."""

SWEEPS = Pipeline(
    "sweeps",
    (
        # Which cotangents are zero on which way, and what is computed twice, shows once what is in memory is values.
        _function("sccp", _COMBINE, "correlated-propagation", "simplifycfg", "gvn", _COMBINE),
        Pass("adgen-rematerialize-caches"),
        Pass("adgen-skip-zeros"),
        _function("loop-simplify", switch="cache-math-calls"),
        Pass("adgen-cache-math-calls", after=("adgen-rematerialize-caches",)),
        # What an entry is given, whose shadows overlap nothing, is told apart in the sweeps too; a loop is one block,
        # and does not compute what is the same in all iterations, nor write what it has just read.
        Pass("cgscc", inner=(Pass("inline"),), switch="distribute-additions"),
        _function(
            *("sroa", _CSE, _COMBINE, "simplifycfg", _loop("loop-rotate", "licm", adaptor="loop-mssa"), "dse"),
            switch="distribute-additions",
        ),
        _PARTS,
        Pass("default", "O3"),
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

_PLAIN = _function("sroa", "early-cse", "simplifycfg", "adce")

_CARRY = (
    Pass("adgen-carry-duals", when="duals", after=("adgen-make-tangents",)),
    Pass("adgen-carry-sets", "{sets}", when="sets", after=("adgen-make-tangents",)),
)

WITNESS_CUDA = Pipeline(
    "dual numbers through kernels",
    (
        Pass("adgen-select-kernels", "{symbols}"),
        Pass("adgen-raise-inline-asm"),
        Pass("adgen-link-libraries", "{libdevice}"),
        Pass("adgen-keep-formulas", after=("adgen-link-libraries",)),
        Pass("nvvm-reflect"),
        Pass("adgen-canonicalize-nvvm"),
        Pass("always-inline", after=("adgen-keep-formulas",)),
        Pass("globaldce"),
        _PLAIN,
        Pass("adgen-shadow-variables", "{variables}", when="variables"),
        Pass("adgen-make-bodies", "{symbols}"),
        Pass("adgen-lower-async-copies", "adgen_body_", after=("adgen-make-bodies",)),
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
        Pass("adgen-mark-io-inactive"),
        _PLAIN,
        Pass("adgen-make-bodies", "{symbols}"),
        Pass("adgen-make-tangents", "{tangents}"),
        *_CARRY,
        Pass("internalize", "{exported}"),
        Pass("always-inline"),
        Pass("globaldce"),
        Pass("adgen-link-libraries", "{rules};{libdevice}"),  # last: until it is retargeted it is the device's
    ),
)
"""The same of C++ functions."""

WITNESS_HOST = Pipeline("host from witness", (_RETARGET, _HOST_ENTRIES))
"""The witness becomes functions of the host, whose threads have a stack each where they wait for each other."""

WITNESS_KERNELS = Pipeline(
    "kernels from witness",
    (
        Pass("adgen-guard-heap"),
        Pass("adgen-make-kernels", after=("adgen-guard-heap",)),
        Pass("always-inline"),
        Pass("globaldce"),
        Pass("adgen-expand-constant-exprs"),
        Pass("adgen-verify-device", after=("adgen-make-kernels", "globaldce")),
        Pass("adgen-strip-debug", after=("adgen-verify-device",)),
        Pass("default", "O1"),
        _function("infer-address-spaces"),
    ),
)
"""Or kernels."""

WITNESS_CODE = Pipeline("code of a witness", (Pass("default", "O1"),))

OPTIMISE = Pipeline("optimise", (Pass("default", "O3"),))
"""And is optimised for it, in a process of its own."""

ALL = (
    *(DESCRIBE, PREPARE_CUDA, PREPARE_CPP, BETWEEN_STEPS, VERIFY, SECOND, MERGE_SECONDS, CUDA, HOST_FROM_CUDA),
    *(HOST_FROM_CPP, THREADS, SWEEPS, AMDGPU, OPTIMISE),
    *(WITNESS_CUDA, WITNESS_CPP, WITNESS_HOST, WITNESS_KERNELS, WITNESS_CODE),
)
"""In the order of a compilation."""
