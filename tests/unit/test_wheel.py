"""What comes compiled in a wheel is taken where it is the present code for the opt found, and nowhere else."""

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
def opt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Tool:
    """opt of Python packages, and a package of adgen with compiled code for it."""
    monkeypatch.setattr(build.packages.importlib.metadata, "version", lambda name: f"22.1.8 of {name}")  # type: ignore[attr-defined]
    package = tmp_path / "package"
    for name in ("passes/A.cpp", "worker/worker.cpp", "rules/barrier.cu", "host_runtime/runtime.cpp"):
        executable(package / name, name)
    monkeypatch.setattr(resources, "PACKAGE", package)
    for name in ("libadgen-passes.so", "worker.so", "rules.bc", "host_runtime.o"):
        executable(package / "built" / name, name)
    (package / "built" / "fits.json").write_text(json.dumps(build.fits("aarch64")))
    monkeypatch.setattr(build.platform, "machine", lambda: "aarch64")  # type: ignore[attr-defined]
    return Tool("opt", tmp_path / "llvm" / "bin" / "opt", "22.1.8", "Python's site-packages")


def test_what_fits_is_taken(opt: Tool) -> None:
    own = build.prebuilt(opt)
    assert own is not None
    assert own.passes == resources.PACKAGE / "built" / "libadgen-passes.so"


def test_an_opt_of_another_origin_is_compiled_for(opt: Tool) -> None:
    assert build.prebuilt(replace(opt, found_by="PATH")) is None


def test_another_machine_is_compiled_for(opt: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build.platform, "machine", lambda: "x86_64")  # type: ignore[attr-defined]
    assert build.prebuilt(opt) is None


def test_another_version_of_a_package_is_compiled_for(opt: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build.packages.importlib.metadata, "version", lambda name: f"22.1.9 of {name}")  # type: ignore[attr-defined]
    assert build.prebuilt(opt) is None


@pytest.mark.parametrize("damage", ["changed source", "lost file", "no words"])
def test_what_is_not_whole_or_not_present_is_compiled(opt: Tool, damage: str) -> None:
    built = resources.PACKAGE / "built"
    if damage == "changed source":
        (resources.PACKAGE / "passes" / "A.cpp").write_text("changed")
    elif damage == "lost file":
        (built / "worker.so").unlink()
    else:
        (built / "fits.json").write_text("{")
    assert build.prebuilt(opt) is None
