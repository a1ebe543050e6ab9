"""A GPU, the array libraries that are there, and an artifact with GPU code written by hand."""

from __future__ import annotations

import ctypes

import pytest
from gpu_support import PTX, Arrays, artifact_folder

from enzyme_driver.errors import DeviceError
from enzyme_driver.runtime.backends.driver import api, attribute_of, current_device, done, on_device
from enzyme_driver.runtime.module import Module, load


@pytest.fixture(scope="session", autouse=True)
def gpu() -> int:
    """The number of a usable GPU; without one every test here is skipped, and says why."""
    try:
        api()
    except DeviceError as problem:
        pytest.skip(problem.reason)
    return current_device()


@pytest.fixture(scope="session", params=["cupy", "torch"])
def arrays(request: pytest.FixtureRequest) -> Arrays:
    return Arrays(request.param)


@pytest.fixture(scope="session")
def arch(gpu: int) -> str:
    return "sm_{}{}".format(*(attribute_of(gpu, f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR")))


@pytest.fixture(scope="session")
def cubin(gpu: int) -> bytes:
    """The PTX as machine code of this GPU, made by the driver's own linker."""
    driver, ptx = api(), PTX.read_bytes()
    with on_device(gpu):
        state = done(driver.cuLinkCreate(0, [], []), "no linker")
        kind = driver.CUjitInputType.CU_JIT_INPUT_PTX
        done(driver.cuLinkAddData(state, kind, ptx, len(ptx), b"hand", 0, [], []), "no link")
        address, size = done(driver.cuLinkComplete(state), "no cubin")
        data = ctypes.string_at(int(address), size)
        done(driver.cuLinkDestroy(state), "no end")
    return data


@pytest.fixture(scope="session")
def module(tmp_path_factory: pytest.TempPathFactory, arch: str, cubin: bytes) -> Module:
    return load(artifact_folder(tmp_path_factory.mktemp("gpu") / "hand", {arch: cubin}), "cuda")
