"""Forward mode for the GPU: what can be seen of it without one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from enzyme_driver import pipeline, request
from enzyme_driver.settings import Settings

pytestmark = pytest.mark.usefixtures("toolchain")

TANGENTS = Path(__file__).parents[1] / "openmp" / "tangents.cu"


def test_tangents_are_compiled_to_a_cubin(tmp_path: Path, machine_settings: Settings) -> None:
    wanted = request.new(TANGENTS, targets=["cuda"], activity={"w": "active", "gain": "active"}, modes=["forward"])
    made = pipeline.build(wanted, tmp_path / "made", settings=machine_settings)
    assert made.cubin("sm_90").startswith(b"\x7fELF")
    facts = {entry.signature.name: entry.forward["cuda"] for entry in made.entries}
    ptx = (made.folder / made.manifest.binaries.cuda["sm_90"].ptx).read_text()
    assert {name: len(parameters_of(ptx, str(each.gradient))) for name, each in facts.items()} == {
        "mixed": 6 + 5,  # x, y, sum, scale and w have tangents, n has none
        "together": 4 + 3,
        "chooses": 4 + 3,
    }
    doubles, beside_its_banks = 64 * 8, 16
    assert facts["together"].static_shared_bytes == 2 * doubles + beside_its_banks
    codes = {name: code_of(ptx, str(each.gradient)) for name, each in facts.items()}
    assert not any("malloc" in code for code in codes.values())
    assert {"shfl.sync.down", "shfl.sync.idx", "bar.sync"} <= set(
        re.findall(r"shfl\.sync\.\w+|bar\.sync", codes["together"])
    )


def code_of(ptx: str, symbol: str) -> str:
    """The body of an entry."""
    _, _, rest = ptx.partition(f".visible .entry {symbol}(")
    assert rest
    return re.split(r"^}", rest, maxsplit=1, flags=re.MULTILINE)[0]


def parameters_of(ptx: str, symbol: str) -> list[str]:
    head, _, _ = code_of(ptx, symbol).partition(")")
    return re.findall(r"\.param", head)
