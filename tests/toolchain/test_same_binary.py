"""The same file gives the same artifact, although Enzyme orders some of what it writes by address."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Adgen

from enzyme_driver.command import without_random_addresses

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
