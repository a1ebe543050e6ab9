"""How operators are launched: every element is covered, and the fastest launch is remembered."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from time import sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enzyme_driver.errors import DeviceError
from enzyme_driver.tensor import launches
from enzyme_driver.tensor.blocks import SMALL_WORK, BlockTable
from enzyme_driver.tensor.devices import Device
from enzyme_driver.tensor.launches import Choices, Launch

extents = st.integers(1, 5000)
ON = Device("openmp")


@given(rows=extents, columns=extents, on_gpu=st.booleans())
def test_blocks_cover_the_matrix(rows: int, columns: int, on_gpu: bool) -> None:
    def across(launch: Launch) -> tuple[int, int]:
        return launch.grid[0] * launch.block[0], launch.grid[1] * launch.block[1]

    for launch in launches.elementwise("add")(on_gpu, (rows * columns,)):
        covered = launches.ELEMENTS_A_THREAD * across(launch)[0]
        assert 0 <= covered - rows * columns < launches.ELEMENTS_A_THREAD * launch.threads
    for launch in launches.repeat_row(on_gpu, (rows, columns)):
        assert across(launch)[0] >= columns
    for launch in launches.repeat_column(on_gpu, (rows, columns)):
        assert across(launch)[1] >= rows
    for launch in launches.down_rows("sum_rows")(on_gpu, (rows, columns)):
        assert across(launch)[0] >= columns
        assert launch.grid[1] == 1
    for launch in launches.along_columns("sum_columns")(on_gpu, (rows, columns)):
        assert launch.grid == (rows, 1)
    for launch in launches.transpose(on_gpu, (rows, columns)):
        assert launch.grid[0] * launches.TILE >= columns
        assert launch.grid[1] * launches.TILE >= rows
    for launch in launches.matmul()(on_gpu, (rows, columns, 7)):
        per = launches.PRODUCTS[launch.kernel][1]
        assert across(launch)[0] * per >= columns
        assert across(launch)[1] * per >= rows
    kernels = [launch.kernel for launch in launches.matmul()(on_gpu, (rows, columns, 7))]
    assert kernels == ["small", "middle", *(["large"] if on_gpu else [])]


@pytest.mark.parametrize("choices", [launches.down_rows("sum_rows"), launches.along_columns("sum_columns")])
def test_reducing_blocks_are_powers_of_two_and_fit_their_shared_memory(choices: Choices) -> None:
    for on_gpu in (True, False):
        for launch in choices(on_gpu, (300, 300)):
            assert all(extent & (extent - 1) == 0 for extent in launch.block)
            assert launch.threads <= 1024


def slow_but_for(fast: Launch, seen: list[Launch]) -> Callable[[Launch], None]:
    def run(launch: Launch) -> None:
        seen.append(launch)
        sleep(0 if launch is fast else 0.02)

    return run


def test_the_fastest_launch_is_measured_once(tmp_path: Path) -> None:
    choices = tuple(launches.elementwise("add")(True, (100_000,)))
    path, seen = tmp_path / "deep" / "operators.json", list[Launch]()
    run = slow_but_for(choices[1], seen)
    assert BlockTable(path).best("add", ON, (100_000,), choices, run) is choices[1]
    assert set(seen) == set(choices)
    again = list[Launch]()
    assert BlockTable(path).best("add", ON, (99_000,), choices, slow_but_for(choices[0], again)) is choices[1]
    assert not again
    assert list(json.loads(path.read_text()).values()) == [1]


@pytest.mark.parametrize("content", ["", "[]", '{"x": -1}', "\0", '{"a": 99}'])
def test_a_broken_table_is_measured_anew(tmp_path: Path, content: str) -> None:
    path = tmp_path / "operators.json"
    path.write_text(content, encoding="utf-8")
    choices = tuple(launches.elementwise("add")(True, (100_000,)))
    assert BlockTable(path).best("add", ON, (100_000,), choices, slow_but_for(choices[2], [])) is choices[2]


def test_little_work_is_not_measured(tmp_path: Path) -> None:
    choices = tuple(launches.elementwise("add")(True, (SMALL_WORK - 1,)))
    seen = list[Launch]()
    BlockTable(tmp_path / "operators.json").best("add", ON, (SMALL_WORK - 1,), choices, slow_but_for(choices[0], seen))
    assert not seen


def test_blocks_with_more_shared_memory_than_there_is_are_left_out(tmp_path: Path) -> None:
    """Unless even the smallest one has more."""
    choices = [Launch("product", (1, 1), (32, 1), shared=size) for size in (400, 100, 300)]

    def run(room: int) -> Callable[[Launch], None]:
        def launch(tried: Launch) -> None:
            if tried.shared > room:
                raise DeviceError(f"the launch needs {tried.shared} bytes", hint="use smaller blocks")
            sleep(0.02 if tried.shared == 100 else 0.001)

        return launch

    extents = (2 * SMALL_WORK,)
    assert BlockTable(tmp_path / "some").best("x", ON, extents, choices, run(300)) == choices[2]
    assert BlockTable(tmp_path / "few").best("x", ON, extents, choices, run(200)) == choices[1]
    with pytest.raises(DeviceError, match="needs 100 bytes"):
        BlockTable(tmp_path / "none").best("x", ON, extents, choices[1:], run(50))
