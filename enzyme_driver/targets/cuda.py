"""The GPU: gradient IR becomes kernels, PTX and a cubin."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from enzyme_driver import pipelines
from enzyme_driver.errors import AdgenError, CompilerCrashError, RefusedError
from enzyme_driver.lent import LentTable
from enzyme_driver.model import BlockVariant, Signature, TargetEntry
from enzyme_driver.stages.differentiate import GradientIR
from enzyme_driver.stages.plan import Plan
from enzyme_driver.stages.prepare import exactness, reflection, refusals
from enzyme_driver.stages.refused import as_refusal
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.targets import assembly, emission, registers, spilling, variants
from enzyme_driver.targets.assembly import Failures
from enzyme_driver.toolchain import check_arch


@dataclass(frozen=True)
class CudaCode:
    """The code for one architecture and what the runtime must know of it, by symbol; `forward` is for forward mode,
    `second` for second derivatives, `blocks` for kernels that have variants for other blocks. `failed` says which
    kernels are left out of it.
    """

    arch: str
    ir: Path
    ptx: Path
    cubin: Path
    entries: dict[str, TargetEntry]
    forward: dict[str, TargetEntry]
    second: dict[str, TargetEntry]
    blocks: dict[str, tuple[BlockVariant, ...]] = field(default_factory=dict)
    failed: Failures = field(default_factory=Failures)


def finish(
    gradient: GradientIR, plan: Plan, arch: str, workspace: Workspace, *, fast_math: bool, batched: bool = False
) -> CudaCode:
    """Compile for one architecture, with kernels for many launches at once where `batched`.

    Raises ToolchainError for an architecture that ptxas does not know.
    """
    check_arch(arch, workspace.toolchain)
    stem = gradient.path.with_suffix("").with_suffix("")
    ptx, cubin = (stem.with_suffix(suffix) for suffix in (f".{arch}.ptx", f".{arch}.cubin"))
    ir, report = _kernels(gradient, arch, workspace, fast_math=fast_math, batched=batched)
    emission.to_ptx(ir, ptx, arch, workspace)
    failed, blocks = _assemble(ptx, cubin, arch, workspace)
    lost = failed.primal
    waiting = report["cooperative"]
    refused = {**gradient.refused, **failed.gradient}
    entries = target_entries(plan, "__gradient", report["kernels"], refused, lost, waiting)
    refused = {**gradient.refused_forward, **failed.tangent}
    forward = target_entries(plan.forward, "__tangent", report["tangents"], refused, lost, waiting)
    refused = {**gradient.refused_second, **failed.second}
    second = target_entries(plan.gradient, "__second", report["seconds"], refused, lost, waiting)
    return CudaCode(arch, ir, ptx, cubin, entries, forward, second, blocks, failed)


def module(gradient: GradientIR, arch: str, workspace: Workspace, *, fast_math: bool) -> Path:
    """The optimised IR with the kernels and their gradients, in which nothing is NVIDIA's assembly."""
    return _kernels(gradient, arch, workspace, fast_math=fast_math, assembly=False)[0]


ON_GPU = "-nvvm-reflect-add=ADGEN_GPU=1"
"""What the rules of mathematics ask, see `hasCheapBranches`."""


def _kernels(
    gradient: GradientIR,
    arch: str,
    workspace: Workspace,
    *,
    fast_math: bool,
    assembly: bool = True,
    batched: bool = False,
) -> tuple[Path, dict[str, object]]:
    ir = gradient.path.with_suffix("").with_suffix("").with_suffix(f".{arch}.cuda.ll")
    bulk = assembly and emission.reduces_in_bulk(arch)
    asked = {"assembly": assembly, "bulk reductions": bulk, "batched": batched}
    facts = exactness(fast_math=fast_math) | {"gpu"} | {name for name, wanted in asked.items() if wanted}
    flags = (f"-mcpu={arch}", *reflection(fast_math=fast_math), ON_GPU)
    done = workspace.opt(pipelines.CUDA, gradient.path, ir, *flags, facts=facts)
    for refusal in refusals(done.stderr).values():
        raise refusal
    report: dict[str, object] = json.loads(done.stdout)
    return ir, report


def _assemble(
    ptx: Path, cubin: Path, arch: str, workspace: Workspace
) -> tuple[Failures, dict[str, tuple[BlockVariant, ...]]]:
    """What ptxas does not take, and the kernels that have variants for other blocks."""
    report, failures = assembly.assemble_all(ptx, cubin, arch, workspace)
    first = ptx.read_text("utf-8")
    tried_ptx, tried_cubin = (path.with_stem(f"{path.stem}.tried") for path in (ptx, cubin))
    done, said = "", ""

    def tried(text: str) -> str:
        nonlocal done, said
        if text != done:
            done = ""
            tried_ptx.write_text(text, encoding="utf-8")
            said = assembly.assemble(tried_ptx, tried_cubin, arch, workspace)
            done = text
        return said

    def foreseen(made: registers.Assembled) -> str:
        return variants.with_variants(made)[0]

    made, varies = registers.Assembled(first, report), workspace.does("block-variants")
    if workspace.does("bound-registers"):
        made = registers.bounded(first, report, tried, foreseen if varies else None)
    wanted, blocks = made.ptx, dict[str, tuple[BlockVariant, ...]]()
    if varies:
        with suppress(CompilerCrashError):  # out of time: the kernels themselves are there
            wanted, blocks = variants.for_other_blocks(made, tried)
    code = _spilling_elsewhere(wanted, made.report, tried, workspace)
    if code != first:
        if code != done:
            tried(code)
        tried_cubin.replace(cubin)
    if wanted != first:  # a driver that reads the PTX may not know what ptxas is asked for
        ptx.write_text(wanted, encoding="utf-8")
    return failures, blocks


def _spilling_elsewhere(ptx: str, report: str, tried: Callable[[str], str], workspace: Workspace) -> str:
    """The PTX for ptxas alone, in which kernels ask for shared memory in place of registers."""
    if not workspace.does("spill-to-shared") or workspace.toolchain.ptxas.major < spilling.FIRST:
        return ptx
    asking = spilling.to_shared_memory(ptx, registers.spilled_bytes(report))
    if asking != ptx:
        with suppress(CompilerCrashError, RefusedError):  # out of time, or of shared memory
            tried(asking)
            return asking
    return ptx


def target_entries(
    plan: Plan,
    suffix: str,
    kernels: object,
    refused: Mapping[str, AdgenError],
    lost: Mapping[str, AdgenError] | None = None,
    waiting: object = (),
) -> dict[str, TargetEntry]:
    """`kernels` are the facts that `adgen-verify-device` reports, by symbol; what is `lost` has no primal either.

    What was refused has no facts, unless ptxas refused it. The blocks of the kernels in `waiting` wait for each other.
    """
    if not isinstance(kernels, dict) or not isinstance(waiting, (list, tuple)):
        raise TypeError(kernels)
    made = {}
    for entry in plan.entries:
        without = (lost or {}).get(entry.symbol)
        facts = None if entry.symbol in refused else kernels.get(entry.symbol)
        alone = entry.symbol not in waiting
        together = not alone or f"{entry.symbol}{suffix}" in waiting
        made[entry.symbol] = TargetEntry(
            primal=None if without else entry.symbol,
            primal_refused=as_refusal(without, entry) if without else None,
            gradient=f"{entry.symbol}{suffix}" if facts else None,
            static_shared_bytes=facts["static_shared_bytes"] if facts else 0,
            dynamic_shadow_bytes=facts["dynamic_shadow_bytes"] if facts else 0,
            dynamic_shared=bool(facts and facts["dynamic_shared"]),
            heap=bool(facts and facts["heap"]),
            tape=f"{entry.symbol}__tape" if facts and facts["tape_size_from"] else None,
            tape_size_from=facts["tape_size_from"] if facts else None,
            lent=tuple(LentTable(**table) for table in facts["lent"]) if facts else (),
            batch=f"{entry.symbol}{suffix}__batch" if facts and facts["batch"] and not together else None,
            cooperative=together,
            primal_waits=not alone or not together,
            kept_shadows=_kept_shadows(entry, facts["unwritten"]) if facts else (),
            gradient_refused=None if facts else as_refusal(refused.get(entry.symbol), entry),
        )
    return made


def _kept_shadows(entry: Signature, unwritten: Sequence[int]) -> tuple[str, ...]:
    """The parameters whose shadows the gradient only reads; they come behind the parameters."""
    first = len(entry.parameters)
    return tuple(each.name for number, each in enumerate(entry.shadowed, first) if number in unwritten)
