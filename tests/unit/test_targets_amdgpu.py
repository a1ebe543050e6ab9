"""From the GPU's final IR to AMD assembly: the processes, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fakes import FakeProcess
from stage_support import OPT, refusal, workspace_in

from enzyme_driver.errors import RefusedError
from enzyme_driver.settings import Settings
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.targets import amdgpu
from enzyme_driver.targets.emission import EMIT


@pytest.fixture
def workspace(tmp_path: Path, settings: Settings, fake_process: FakeProcess) -> Workspace:
    fake_process.reply("opt")
    fake_process.reply("emit.py")
    return workspace_in(tmp_path, settings, fake_process)


def test_the_processes(workspace: Workspace, fake_process: FakeProcess) -> None:
    ir = workspace.file("k.sm_90.cuda.ll")
    made = amdgpu.assembly(ir, "gfx90a", workspace)
    retargeted, optimised = (str(workspace.file(f"k.sm_90.gfx90a{end}")) for end in (".retargeted.ll", ".ll"))
    passes = (
        "adgen-canonicalize-nvvm,adgen-lower-directed-rounding,"
        f"adgen-retarget-amd<{amdgpu.TRIPLE};{amdgpu.DATA_LAYOUT}>,globaldce"
    )
    assert fake_process.argvs == [
        (*OPT, f"-passes={passes}", str(ir), "-S", "-o", retargeted),
        (*OPT, "-mcpu=gfx90a", "-passes=default<O3>,adgen-make-loops-reducible", retargeted, "-S", "-o", optimised),
        (sys.executable, "-P", str(EMIT), optimised, str(made), "gfx90a", "3", ""),
    ]
    assert made.name == "k.sm_90.gfx90a.s"


def test_what_has_no_counterpart_is_refused(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply("opt", stderr=refusal("", reason="an AMD GPU has no counterpart of 'malloc'"))
    with pytest.raises(RefusedError, match="malloc"):
        amdgpu.assembly(workspace.file("k.sm_90.cuda.ll"), "gfx942", workspace)
    assert len(fake_process.argvs) == 1
