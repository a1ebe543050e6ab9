"""The faults of the pinned Enzyme that adgen works around, each on the smallest IR that shows it (docs/enzyme.md).

A test that fails here is good news: the workaround is no longer needed with this Enzyme.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from enzyme_support import Fault, read, shows

from enzyme_driver import registry
from enzyme_driver.toolchain import Toolchain

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "enzyme.md").read_text(encoding="utf-8")
FAULTS = [read(path) for path in sorted(Path(__file__).with_name("enzyme_faults").glob("*.ll"))]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.path.stem)
def test_the_fault_is_still_there(fault: Fault, pinned: Toolchain, tmp_path: Path) -> None:
    assert shows(fault, pinned, tmp_path, mended=False), f"{fault.workaround} is no longer needed for {fault.path.name}"


@pytest.mark.parametrize(
    "fault", [each for each in FAULTS if each.before or each.after], ids=lambda fault: fault.path.stem
)
def test_the_workaround_mends_it(fault: Fault, pinned: Toolchain, tmp_path: Path) -> None:
    assert not shows(fault, pinned, tmp_path, mended=True)


def test_the_page_names_every_fault_and_every_workaround() -> None:
    assert [fault.path.name for fault in FAULTS if f"`{fault.path.stem}.ll`" not in PAGE] == []
    assert [fault.workaround for fault in FAULTS if fault.workaround not in registry.by_name()] == []
    passes = [row.name for row in registry.rows() if row.folder == "EnzymeCompat"]
    assert [name for name in passes if f"`{name}`" not in PAGE] == []
