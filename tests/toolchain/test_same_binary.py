"""The same file gives the same artifact, although Enzyme orders some of what it writes by address."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from cli_support import Adgen

from enzyme_driver import pipeline, request
from enzyme_driver.command import without_random_addresses
from enzyme_driver.settings import Settings
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.targets.emission import to_ptx
from enzyme_driver.toolchain import Toolchain

KERNEL = Path(__file__).resolve().parents[2] / "cuda_kernels" / "recurrence.cu"

pytestmark = pytest.mark.usefixtures("toolchain")


@pytest.mark.skipif(not without_random_addresses(), reason="the system does not let setarch fix addresses")
def test_compiled_twice(tmp_path: Path) -> None:
    user = Adgen(tmp_path / "work")
    first, second = (made(user, name) for name in ("first", "second"))
    assert set(first) == set(second)
    assert [name for name, content in first.items() if content != second[name]] == []


def made(user: Adgen, folder: str) -> dict[str, bytes]:
    """The files of an artifact that is compiled anew."""
    done = user("compile", str(KERNEL), "--no-cache", "-o", folder)
    assert done.returncode == 0, done.stderr
    return {path.name: path.read_bytes() for path in (user.folder / folder).iterdir()}


def test_llc_and_llvmlite_write_the_same(toolchain: Toolchain, tmp_path: Path, machine_settings: Settings) -> None:
    """Which of them writes PTX depends on the installation."""
    if toolchain.llc is None:
        pytest.skip("llc is not beside opt")
    alone = replace(toolchain, opt=replace(toolchain.opt, path=tmp_path / "opt"))
    ir, written = tmp_path / "k.ll", tmp_path / "k.ptx"
    ir.write_text(pipeline.emit(request.new(KERNEL), "cuda", settings=machine_settings), encoding="utf-8")
    texts = []
    for tools in (toolchain, alone):
        to_ptx(ir, written, "sm_90", Workspace(tmp_path, tools, machine_settings))
        texts.append(written.read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
