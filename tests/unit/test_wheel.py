"""What comes compiled in a wheel is taken where it is the present code for the tools found, and nowhere else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import executable

from enzyme_driver import resources
from enzyme_driver.toolchain import build
from enzyme_driver.toolchain.values import Tool


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Tool, Tool]:
    """clang and opt of Python packages, and a package of adgen with compiled code for them."""
    monkeypatch.setattr(build.packages.importlib.metadata, "version", lambda name: f"22.1.8 of {name}")  # type: ignore[attr-defined]
    package = tmp_path / "package"
    for name in ("passes/A.cpp", "worker/worker.cpp", "rules/barrier.cu", "host_runtime/runtime.cpp"):
        executable(package / name, name)
    monkeypatch.setattr(resources, "PACKAGE", package)
    found = "Python's site-packages"
    clang = Tool("clang", tmp_path / "bin" / "clang-22", "22.1.8", found)
    opt = Tool("opt", tmp_path / "llvm" / "bin" / "opt", "22.1.8", found)
    for name in ("libadgen-passes.so", "worker.so", "rules.bc", "host_runtime.o"):
        executable(package / "built" / name, name)
    (package / "built" / "fits.json").write_text(json.dumps(build.fits(clang, opt)))
    return clang, opt


def test_what_fits_is_taken(tools: tuple[Tool, Tool]) -> None:
    own = build.prebuilt(*tools)
    assert own is not None
    assert own.passes == resources.PACKAGE / "built" / "libadgen-passes.so"


@pytest.mark.parametrize("which", [0, 1])
def test_a_tool_of_another_origin_is_compiled_for(tools: tuple[Tool, Tool], which: int) -> None:
    found = list(tools)
    found[which] = replace(found[which], found_by="PATH")
    assert build.prebuilt(*found) is None


def test_another_version_of_a_package_is_compiled_for(
    tools: tuple[Tool, Tool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build.packages.importlib.metadata, "version", lambda name: f"22.1.9 of {name}")  # type: ignore[attr-defined]
    assert build.prebuilt(*tools) is None


@pytest.mark.parametrize("damage", ["changed source", "lost file", "no words"])
def test_what_is_not_whole_or_not_present_is_compiled(tools: tuple[Tool, Tool], damage: str) -> None:
    built = resources.PACKAGE / "built"
    if damage == "changed source":
        (resources.PACKAGE / "passes" / "A.cpp").write_text("changed")
    elif damage == "lost file":
        (built / "worker.so").unlink()
    else:
        (built / "fits.json").write_text("{")
    assert build.prebuilt(*tools) is None
