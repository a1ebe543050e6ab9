"""Masks that name lanes which have returned: a primal does not wait for these, and neither does its gradient."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openmp.compile_support import artifact

import enzyme_driver as adgen
from enzyme_driver.model import TARGETS
from enzyme_driver.runtime.kernel import Kernel

SOURCE = Path(__file__).with_name("left_lanes.cu")

Launch = tuple[Any, ...]
CASES: Mapping[str, tuple[Launch, ...]] = {
    "returned_early": ((3, 64, 150), (3, 64, 133), (2, 40, 77)),
    "half_a_warp": ((1, (16, 2)),),
    "fewer_each_round": ((1, 64),),
    "votes": ((3, 64, 150), (1, 64, 33)),
    "of_a_mask": ((1, 64),),
    "softmax_rows": ((2, 96, 5, 70), (3, 64, 5, 33)),
    "norm_rows": ((2, 96, 5, 70), (2, 128, 7, 33), (1, 32, 1, 600)),
    "scaled_rows": ((2, 64, 5, 70), (3, 32, 7, 1100)),
    "correlated": ((2, (32, 4), 7, 70, 3),),
    "counted_apart": ((2, 64), (2, 32), (1, 45)),
    "missed_barriers": ((2, 64, 5), (1, 40, 3)),
    "asked_by_all": ((2, 64),),
    "sifted": ((2, 64), (1, 32)),
    "sifted_apart": ((2, 64), (3, 96)),
    "rows_by_groups": ((6, 64, 11, 32), (3, 64, 11, 16), (2, 64, 11, 8)),
}
WIDE = {"softmax_rows": (1, 0), "norm_rows": (1, 2), "scaled_rows": (1, 1), "correlated": (2, 0)}
"""Kernels of rows, with how many arrays and single rows they read."""

LAUNCHES = [(name, launch) for name, launches in CASES.items() for launch in launches]


def arguments(name: str, launch: Launch) -> tuple[Any, ...]:
    """For a launch of (grid, block, further arguments)."""
    rng = np.random.default_rng(11)
    if name == "rows_by_groups":
        ends = np.cumsum(rng.integers(0, 40, launch[2])).astype(np.int32)
        return (ends, rng.normal(size=ends[-1]).astype(np.float32), np.zeros(launch[2], np.float32), *launch[2:])
    if name in WIDE:
        rows, columns, *reach = launch[2:]
        shapes = [(rows, columns)] * WIDE[name][0] + [(columns,)] * WIDE[name][1]
        given = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
        return (*given, np.zeros((rows, *(reach or [columns])), np.float32), *launch[2:])
    dtype = np.float64 if name in {"votes", "sifted_apart"} else np.float32
    points = launch[0] * int(np.prod(launch[1]))
    return (rng.uniform(0.2, 1.2, points).astype(dtype), np.zeros(points, dtype), *launch[2:])


@pytest.fixture(scope="module")
def module(toolchain: object) -> adgen.Module:
    del toolchain
    return adgen.compile(SOURCE)


@pytest.mark.parametrize(("name", "launch"), LAUNCHES)
def test_gradient(module: adgen.Module, name: str, launch: Launch) -> None:
    kernel = module[name]
    assert isinstance(kernel, Kernel)
    kernel.check[launch[:2]](*arguments(name, launch))


@pytest.mark.usefixtures("toolchain")
def test_gpu_code_is_made() -> None:
    made = artifact(SOURCE)
    refused = [entry.targets[target].gradient_refused for entry in made.entries for target in TARGETS]
    assert refused == [None] * (2 * len(CASES))
    tapes = {entry.signature.name: entry.targets["cuda"].tape_size_from for entry in made.entries}
    assert (tapes["of_a_mask"], tapes["correlated"]) == ("scalars", None)  # lanes decide about no size
    assert tapes["softmax_rows"] is None
    (text,) = (path.read_text() for path in made.folder.glob("*.ptx"))
    assert "barrier.sync" in text
    assert "barrier.red" not in text  # results of lanes that are apart would come into any of their registers
