"""AMD GPUs: the final IR of the GPU becomes assembly. It is compiled only: nothing here has run on such a GPU."""

from __future__ import annotations

from pathlib import Path

from enzyme_driver import pipelines
from enzyme_driver.stages.prepare import refusals
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.targets import emission

TRIPLE = "amdgcn-amd-amdhsa"
DATA_LAYOUT = (
    "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-"
    "p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-"
    "n32:64-S32-A5-G1-ni:7:8:9"
)
ARCHS = ("gfx90a", "gfx942")
"""Their wavefronts have 64 lanes, which `adgen-retarget-amd` relies on."""


def assembly(ir: Path, arch: str, workspace: Workspace, *, suffix: str = ".s") -> Path:
    """The assembly (or with suffix ".o" the object) of a module that the cuda target has made.

    Raises RefusedError for what an AMD GPU has no counterpart of.
    """
    stem = ir.with_suffix("")
    retargeted, optimised, output = (stem.with_suffix(f".{arch}{end}") for end in (".retargeted.ll", ".ll", suffix))
    done = workspace.opt(pipelines.AMDGPU, ir, retargeted, words={"triple": TRIPLE, "layout": DATA_LAYOUT})
    for refusal in refusals(done.stderr).values():
        raise refusal
    workspace.opt(pipelines.OPTIMISE, retargeted, optimised, f"-mcpu={arch}")
    emission.to_amdgpu(optimised, output, arch, workspace)
    return output
