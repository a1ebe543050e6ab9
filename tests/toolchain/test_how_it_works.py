"""docs/how-it-works.md shows what adgen makes now."""

from __future__ import annotations

import difflib
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from enzyme_driver.settings import Settings

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "how-it-works.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_how_it_works", DOCS / "make_how_it_works.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.usefixtures("toolchain")
def test_the_page_is_what_adgen_makes_now(maker: ModuleType, machine_settings: Settings) -> None:
    made: str = maker.page(machine_settings)
    changes = "\n".join(difflib.unified_diff(PAGE.splitlines(), made.splitlines(), "committed", "now", lineterm=""))
    command = f"{Path(sys.executable).name} docs/make_how_it_works.py"
    assert made == PAGE, f"write it again with `{command}`:\n{changes}"


def test_nothing_of_a_machine_is_in_the_page() -> None:
    assert not re.search(r"/(?:tmp|home|root|usr|work)\b|sha256|target-cpu|x86-64", PAGE)


def test_the_page_shows_every_stage() -> None:
    shown = (
        "__global__",
        "define ptx_kernel",
        "adgen_body_",
        "__enzyme_autodiff_",
        "diffeadgen_body_",
        ".visible .entry",
    )
    for sign in (*shown, "adgen_run_blocks", "static inline int", '"format": "adgen-artifact"', "d_rate ="):
        assert sign in PAGE, sign


def test_every_link_leads_somewhere() -> None:
    prose = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", prose)
    assert targets
    assert [target for target in targets if not (DOCS / target).exists()] == []
