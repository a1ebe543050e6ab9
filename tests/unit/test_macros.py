"""Macros of the command line: which are defined behind CUDA's headers."""

from __future__ import annotations

import pytest

from enzyme_driver.stages.macros import split


@pytest.mark.parametrize(
    ("flags", "before", "behind"),
    [
        (("-DN=4", "-I.", "-D", "T=float"), ("-I.",), "#define N 4\n#define T float\n"),
        (("-DFAST", "-DEMPTY=", "-DF(x)=x*x"), (), "#define FAST 1\n#define EMPTY \n#define F(x) x*x\n"),
        (("-DNDEBUG", "-D__CUDA_NO_HALF_OPERATORS__", "-D_USE_X=1"),) * 2 + ("",),
        (("-DCUDA_API_PER_THREAD_DEFAULT_STREAM", "-D", "THRUST_IGNORE=1"),) * 2 + ("",),
        (("-DN=4", "-UN", "-DM=1", "-U", "M"),) * 2 + ("",),
        (("-O2", "-D"), ("-O2", "-D"), ""),
    ],
)
def test_split(flags: tuple[str, ...], before: tuple[str, ...], behind: str) -> None:
    assert split(flags) == (before, behind)
