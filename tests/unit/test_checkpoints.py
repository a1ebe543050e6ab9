"""The order of a reversal, and which states are kept while the number of steps is not known yet."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enzyme_driver.runtime.tape.checkpoints import Placement, fewest_advances, schedule


def advances(steps: int, snapshots: int) -> int:
    """Follow a schedule on a machine that has nothing but what was stored; the steps that it ran."""
    stored, at, count, remaining = {0}, 0, 0, steps
    for action in schedule(steps, snapshots):
        if action.kind == "advance":
            assert at < action.step < remaining
            count += action.step - at
            at = action.step
        elif action.kind == "store":
            assert action.step == at
            stored.add(at)
            assert len(stored) <= snapshots
        elif action.kind == "restore":
            assert action.step in stored
            at = action.step
        elif action.kind == "drop":
            stored.remove(action.step)
        else:
            assert at == action.step == remaining - 1
            remaining -= 1
    assert remaining == 0
    assert stored == {0} or steps == 0
    return count


@cache
def fewest(steps: int, snapshots: int) -> int:
    """Bellman's equation of the problem."""
    if steps == 1:
        return 0
    if snapshots == 1:
        return steps * (steps - 1) // 2
    return min(first + fewest(steps - first, snapshots - 1) + fewest(first, snapshots) for first in range(1, steps))


@given(st.integers(1, 300), st.integers(1, 30))
def test_a_schedule_runs_the_known_fewest_steps(steps: int, snapshots: int) -> None:
    assert advances(steps, snapshots) == fewest_advances(steps, snapshots)


@given(st.integers(1, 40), st.integers(1, 8))
def test_no_order_runs_fewer(steps: int, snapshots: int) -> None:
    assert fewest_advances(steps, snapshots) == fewest(steps, snapshots)


@pytest.mark.parametrize(("steps", "snapshots", "count"), [(10, 3, 15), (1, 1, 0), (56, 3, 5 * 56 - 70), (7, 7, 6)])
def test_figures_of_griewank_and_walther(steps: int, snapshots: int, count: int) -> None:
    assert fewest_advances(steps, snapshots) == count


def recorded(steps: int, snapshots: int) -> list[int]:
    """The states that are left of a recording."""
    placement = Placement()
    for step in range(steps):
        placement.add(step)
        while len(placement.steps) > snapshots:
            placement.drop()
    return placement.steps


@given(st.integers(1, 400), st.integers(1, 30))
def test_states_of_a_recording_lose_little(steps: int, snapshots: int) -> None:
    """What runs again lies between the fewest for a number of steps known before, and starting from the first state."""
    kept = recorded(steps, snapshots)
    assert kept[0] == 0
    assert len(kept) <= snapshots
    stops = [*kept[1:], steps]
    count = sum(
        fewest_advances(stop - start, snapshots - place)
        for place, (start, stop) in enumerate(zip(kept, stops, strict=True))
    )
    assert fewest_advances(steps, snapshots) - (steps - 1) <= count <= fewest_advances(steps, snapshots)


def test_nothing_is_given_up_while_there_is_room() -> None:
    assert recorded(9, 9) == list(range(9))


def test_the_first_state_stays() -> None:
    placement = Placement()
    placement.add(0)
    assert placement.drop() is None
    placement.add(1)
    assert placement.drop() == 1
    assert placement.steps == [0]
