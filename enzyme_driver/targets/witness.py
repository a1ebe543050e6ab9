"""What the witness of a gradient becomes on both targets: as simple as can be, for it is to be right and not quick."""

from __future__ import annotations

import json

from enzyme_driver import pipelines
from enzyme_driver.errors import AdgenError
from enzyme_driver.stages.differentiate import GradientIR
from enzyme_driver.stages.plan import Plan
from enzyme_driver.stages.prepare import reflection, refusals
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.targets import assembly, cuda, emission, openmp
from enzyme_driver.targets.cuda import CudaCode
from enzyme_driver.targets.openmp import HostCode


def on_host(carried: GradientIR, plan: Plan, library: str, workspace: Workspace, *, fast_math: bool) -> HostCode:
    """A library whose threads run on the host as they are, with a stack each where they wait for each other."""
    entered, ir = (carried.path.with_suffix("").with_suffix(f".{end}.ll") for end in ("entries", "host"))
    flags = reflection(fast_math=fast_math)
    done = workspace.opt(pipelines.WITNESS_HOST, carried.path, entered, *flags, words=openmp.host_words())
    workspace.opt(pipelines.WITNESS_CODE, entered, ir, openmp.mcpu())
    refused: dict[str, AdgenError] = {**refusals(done.stderr), **refusals(done.stderr, mode="forward")}
    nothing = openmp.target_entries(plan, "__gradient", refused, carried.refused)
    forward = openmp.target_entries(plan.forward, "__tangent", refused, carried.refused_forward)
    output = openmp.link(ir, workspace.file(library), plan, workspace)
    return HostCode(ir, output, workspace.toolchain.libomp, nothing, forward, nothing, refused)


def on_gpu(carried: GradientIR, plan: Plan, arch: str, workspace: Workspace, *, fast_math: bool) -> CudaCode:
    """A cubin with a kernel SYMBOL__tangent for each entry."""
    stem = carried.path.with_suffix("").with_suffix("")
    ir, ptx, cubin = (stem.with_suffix(suffix) for suffix in (f".{arch}.cuda.ll", f".{arch}.ptx", f".{arch}.cubin"))
    flags = (f"-mcpu={arch}", *reflection(fast_math=fast_math))
    done = workspace.opt(pipelines.WITNESS_KERNELS, carried.path, ir, *flags)
    for refusal in refusals(done.stderr).values():
        raise refusal
    report = json.loads(done.stdout)
    emission.to_ptx(ir, ptx, arch, workspace)
    assembly.assemble(ptx, cubin, arch, workspace)
    nothing = cuda.target_entries(plan, "__gradient", report["kernels"], carried.refused)
    forward = cuda.target_entries(plan.forward, "__tangent", report["tangents"], carried.refused_forward)
    return CudaCode(arch, ir, ptx, cubin, nothing, forward, nothing)
