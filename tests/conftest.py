"""Marks every test by what it needs (its folder says so), and holds the fixtures that all folders share."""

from __future__ import annotations

import functools
import importlib.util
import os
import random
import secrets
import shutil
from pathlib import Path
from typing import NoReturn

import hypothesis
import numpy as np
import pytest
from fakes import FakeProcess

from enzyme_driver.errors import AdgenError
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import Toolchain, ensure

# Most tests compare gradients with something of their own; those of verifying and of what users see ask for it.
os.environ["ADGEN_VERIFY"] = "never"

NEEDS = ("unit", "passes", "toolchain", "openmp", "gpu")
TESTS = Path(__file__).parent

FRESH = bool(os.environ.get("ADGEN_FRESH_SEEDS"))
"""Tests draw other numbers each time, to find what a few draws do not; else each test always draws the same."""

# How long something takes says nothing on a machine that others use too.
hypothesis.settings.register_profile(
    "shared machine", deadline=None, derandomize=not FRESH, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("shared machine")


@pytest.fixture(autouse=True)
def _seeds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test asks chance for follows from its name."""
    if FRESH:
        return
    draws, generator = random.Random(request.node.nodeid), np.random.default_rng

    def drawn(seed: object = None) -> np.random.Generator:
        return generator(draws.getrandbits(64) if seed is None else seed)  # type: ignore[arg-type]

    monkeypatch.setattr(secrets, "randbits", draws.getrandbits)
    monkeypatch.setattr(np.random, "default_rng", drawn)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-needs",
        action="store_true",
        help="fail where the toolchain is missing, instead of skipping (a GPU may still be missing)",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        need = item.path.relative_to(TESTS).parts[0] if item.path.is_relative_to(TESTS) else ""
        if need in NEEDS:
            item.add_marker(getattr(pytest.mark, need))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") and not _gpu_is_there():
        pytest.skip("no NVIDIA GPU")


@functools.cache
def _gpu_is_there() -> bool:
    if importlib.util.find_spec("cuda") is None:
        return False
    try:
        from cuda.core import Device

        return bool(Device.get_all_devices())
    except Exception:  # noqa: BLE001  (the bindings raise many kinds, also from the dynamic loader)
        return False


@pytest.fixture
def fake_process() -> FakeProcess:
    """A Runner that records and answers, and starts nothing."""
    return FakeProcess()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of an empty machine: nothing is on PATH, every folder is inside the test's own."""
    return Settings(
        home=tmp_path / "data",
        cache_dir=tmp_path / "cache",
        search=(tmp_path / "bin",),
        user_home=tmp_path / "home",
    )


@pytest.fixture(scope="session")
def machine_settings() -> Settings:
    """The settings of the machine that runs the tests."""
    return Settings.from_environment()


@pytest.fixture(scope="session")
def toolchain(request: pytest.FixtureRequest, machine_settings: Settings) -> Toolchain:
    """The real toolchain; where it is missing the test is skipped, or fails under --all-needs."""
    try:
        return ensure(machine_settings)
    except AdgenError as problem:
        _lacking(request, str(problem))


@pytest.fixture(scope="session")
def filecheck(request: pytest.FixtureRequest, toolchain: Toolchain) -> Path:
    """LLVM's FileCheck, beside opt."""
    path = shutil.which("FileCheck", path=toolchain.opt.prefix / "bin")
    return Path(path) if path else _lacking(request, "FileCheck is missing")


def _lacking(request: pytest.FixtureRequest, reason: str) -> NoReturn:
    if request.config.getoption("--all-needs"):
        pytest.fail(reason)
    pytest.skip(reason)
