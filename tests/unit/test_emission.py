"""What llc is asked for; the version of PTX follows from how many bytes of parameters a kernel has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FakeProcess
from stage_support import workspace_in

from enzyme_driver import processor
from enzyme_driver.settings import Settings
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.targets.emission import to_host, to_ptx, with_room_for_parameters

PTX = """.version 7.8
.target sm_90
.visible .entry first(
	.param .align 8 .b8 first_param_0[{size}],
	.param .u64 .ptr .align 1 first_param_1,
	.param .f32 first_param_2
)
{{
	ld.param.b64 	%rd1, [first_param_1];
}}
"""


@pytest.mark.parametrize(("size", "version"), [(8, "7.8"), (4340, "7.8"), (4341, "8.1"), (6344, "8.1")])
def test_many_parameters_need_a_later_version(size: int, version: str) -> None:
    ptx = PTX.format(size=size)
    assert with_room_for_parameters(ptx) == ptx.replace("7.8", version)


def test_a_later_version_stays() -> None:
    ptx = PTX.format(size=9000).replace("7.8", "8.6")
    assert with_room_for_parameters(ptx) == ptx


@pytest.fixture
def workspace(tmp_path: Path, settings: Settings, fake_process: FakeProcess) -> Workspace:
    """Of an LLVM that has llc beside opt."""
    found = workspace_in(tmp_path, settings, fake_process)
    (tmp_path / "llc-22").touch()
    opt = replace(found.toolchain.opt, path=tmp_path / "opt-22")
    return replace(found, toolchain=replace(found.toolchain, opt=opt))


@pytest.mark.parametrize(("arch", "features"), [("sm_80", ""), ("sm_90", "+ptx81"), ("sm_100", "")])
def test_llc_writes_ptx(
    arch: str, features: str, workspace: Workspace, tmp_path: Path, fake_process: FakeProcess
) -> None:
    source, ptx = tmp_path / "k.ll", tmp_path / "k.ptx"
    fake_process.reply("llc-22", effect=lambda argv: Path(argv[-1]).write_text(PTX.format(size=9000)))
    to_ptx(source, ptx, arch, workspace)
    assert ptx.read_text().startswith(".version 8.1")
    asked = ("-O2", f"-mcpu={arch}", f"-mattr={features}", "-relocation-model=pic", "-asm-verbose=false")
    assert fake_process.argvs == [
        (str(tmp_path / "llc-22"), *asked, "-disable-machine-sink", "-lsr-drop-solution", str(source), "-o", str(ptx))
    ]


def test_clang_writes_code_of_the_host(workspace: Workspace, tmp_path: Path, fake_process: FakeProcess) -> None:
    source, compiled = tmp_path / "k.ll", tmp_path / "k.o"
    fake_process.reply("clang")
    to_host(source, compiled, "x86-64-v3", workspace)
    chosen = ("-Xclang", "-target-cpu", "-Xclang", "x86-64-v3", "-O3", "-Xclang", "-disable-llvm-passes")
    target = f"--target={processor.machine().triple}"
    assert fake_process.argvs == [
        ("/llvm/bin/clang", target, *chosen, "-fPIC", "-w", "-c", str(source), "-o", str(compiled))
    ]
