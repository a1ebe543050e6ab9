"""What stands between the brackets of a launch."""

from __future__ import annotations

import numpy as np
import pytest

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import Signature
from enzyme_driver.runtime.call.geometry import launch_of


def test_numbers_of_any_library_are_extents() -> None:
    launch = launch_of((np.int64(3), [np.int32(8), 4], None, 16))
    assert (launch.grid, launch.block, launch.shared_bytes) == ((3, 1, 1), (8, 4, 1), 16)


@pytest.mark.parametrize("extent", [np.array([8, 4]), np.ones((1, 1)), 8.0, True, "8", (8, 2.5)])
def test_what_is_no_extent_is_told(extent: object) -> None:
    with pytest.raises(ArgumentError, match="no whole number"):
        launch_of((1, extent))


@pytest.mark.parametrize("key", [1, (1,), (1, 2, None, 0, 5), "ab"])
def test_a_launch_has_a_grid_and_a_block(key: object) -> None:
    with pytest.raises(ArgumentError, match="a launch needs a grid and a block"):
        launch_of(key)


def test_a_kernel_whose_shared_memory_a_launch_sizes_is_told_its_bytes() -> None:
    dynamic = Signature("tile", "kernel", "tile", (), needs_shared_bytes=True)
    for key in [(1, 32), (1, 32, None), (1, 32, None, None)]:
        with pytest.raises(
            ArgumentError, match=r"tile uses extern __shared__ memory.*\n.*kernel\[grid, block, None, sh"
        ):
            launch_of(key, dynamic)
    assert launch_of((1, 32, None, 0), dynamic).said_bytes == 0
    plain = launch_of((1, 32), Signature("plain", "kernel", "plain", ()))
    assert (plain.said_bytes, plain.shared_bytes) == (None, 0)


@pytest.mark.parametrize("key", [(1, 32), ((2, 3), 32, 7), (4, (8, 2), None, 0), (1, 1, None, 64)])
def test_a_launch_is_that_of_its_key(key: tuple[object, ...]) -> None:
    assert launch_of(launch_of(key).key) == launch_of(key)
