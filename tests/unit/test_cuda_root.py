"""The CUDA root: of CUDA 13's packages, of CUDA 12's, which is put together from four folders, and where none is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fakes import executable
from machines import Machine

from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import cuda
from enzyme_driver.toolchain.values import Problem

PARTS_OF_12 = {
    "cuda_nvcc": ("bin/ptxas", "nvvm/libdevice/libdevice.10.bc", "include/crt/host_defines.h", "include/shared/a.h"),
    "cuda_runtime": ("include/cuda_runtime.h", "include/shared/b.h"),
    "cuda_cccl": ("include/cub/cub.cuh",),
    "curand": ("include/curand_kernel.h",),
}


@pytest.fixture
def site(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site-packages with the package `nvidia`, which nothing lies in yet."""
    package = machine.root / "site" / "nvidia"
    executable(package / "__init__.py", "")
    found = type("Spec", (), {"submodule_search_locations": [str(package)]})
    monkeypatch.setattr(cuda.importlib.util, "find_spec", lambda _: found)  # type: ignore[attr-defined]
    return package


@pytest.fixture
def settings(machine: Machine) -> Settings:
    return replace(machine.settings, cuda_path=None)


def install_12(site: Path) -> None:
    for part, files in PARTS_OF_12.items():
        for file in files:
            executable(site / part / file, f"{part} {file}")


def install_13(site: Path) -> None:
    for file in (*cuda.FILES, "bin/ptxas"):
        executable(site / "cu13" / file)


def found(settings: Settings) -> Path:
    root = cuda.find_cuda_root(settings)
    assert isinstance(root, Path)
    return root


def test_parts_of_cuda_12_become_one_root(site: Path, settings: Settings) -> None:
    install_12(site)
    root = found(settings)
    assert root.is_relative_to(settings.home)
    for part, files in PARTS_OF_12.items():
        for file in files:
            assert (root / file).read_text() == f"{part} {file}"
    assert [each.path for each in cuda.ptxas_candidates(settings)] == [root / "bin" / "ptxas"]
    assert [path.name for path in root.parent.iterdir()] == [root.name]
    assert found(settings) == root


def test_a_part_that_was_installed_later_is_seen(site: Path, settings: Settings) -> None:
    install_12(site)
    first = found(settings)
    executable(site / "cuda_runtime" / "include2", "later")
    assert found(settings) != first


def test_cuda_13_comes_first_where_it_is_whole(site: Path, settings: Settings) -> None:
    install_12(site)
    install_13(site)
    assert found(settings) == site / "cu13"
    assert [each.path for each in cuda.ptxas_candidates(settings)] == [site / "cu13" / "bin" / "ptxas"]
    (site / "cu13" / "bin" / "ptxas").unlink()
    assert found(settings).is_relative_to(settings.home)


def test_a_home_that_cannot_be_written_is_no_root(site: Path, settings: Settings) -> None:
    install_12(site)
    problem = cuda.find_cuda_root(replace(settings, home=Path("/proc/adgen")))
    assert isinstance(problem, Problem)
    assert "/proc/adgen" in problem.reason


def test_without_packages_the_extras_are_named(site: Path, settings: Settings) -> None:
    assert site.is_dir()
    problem = cuda.find_cuda_root(settings)
    assert isinstance(problem, Problem)
    assert "adgen[cuda13]" in problem.hint
    assert "adgen[cuda12]" in problem.hint
