"""The gradient of the splats of the examples: lanes of a warp add up what they add for one splat, all of it at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Adgen

from enzyme_driver.targets.registers import ENTRY

SPLATS = Path(__file__).resolve().parents[2] / "examples" / "splatting" / "splat.cu"

pytestmark = pytest.mark.usefixtures("toolchain")


def test_a_splat_is_added_to_at_one_place(tmp_path: Path) -> None:
    """Of splats that were dismissed nothing is added: otherwise there are three places, and an H200 takes half as long
    again."""
    user = Adgen(tmp_path / "work")
    done = user("compile", str(SPLATS), "-k", "blend", "-t", "cuda", "--emit", "ptx")
    assert done.returncode == 0, done.stderr
    bodies = {kernel["name"]: kernel["body"] for kernel in ENTRY.finditer(done.stdout)}
    (gradient,) = [body for name, body in bodies.items() if name.endswith("__gradient")]
    assert gradient.count("match.all.sync") == 1
