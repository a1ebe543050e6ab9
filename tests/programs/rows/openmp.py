"""One function for each OpenMP construct: all on the same data, whatever the number of threads."""

from __future__ import annotations

from programs.draw import F32, Rng
from programs.program import Args, Maker, Program

_FILE = "openmp_constructs.cpp"
_TASKS = "openmp_tasks.cpp"
_POINTS = 23


def _points(rng: Rng) -> Args:
    return {"x": rng.uniform(0.2, 1.5, _POINTS), "w": rng.uniform(0.2, 1.5, _POINTS), "n": _POINTS}


def _started(rng: Rng) -> Args:
    return {**_points(rng), "start": rng.uniform(1, 2)}


def _counted(rng: Rng) -> Args:
    return {**_points(rng), "histogram": rng.uniform(0, 1, 3).astype(F32)}


def _path(rng: Rng) -> Args:
    return {"x": rng.uniform(0.2, 1.5, _POINTS), "y": rng.uniform(0, 1, _POINTS), "n": _POINTS}


def _norm(rng: Rng) -> Args:
    return {"x": rng.uniform(0.2, 1.5, _POINTS), "n": _POINTS}


def _table(rng: Rng) -> Args:
    return {"x": rng.uniform(0.2, 1.5, (6, 5)), "rows": 6, "columns": 5}


def _tables(rng: Rng) -> Args:
    return {"x": rng.uniform(0.2, 1.5, (6, 5)), "y": rng.uniform(0, 1, (6, 5)), "rows": 6, "columns": 5}


_SUMS = (
    "static_chunks",
    "dynamic_loop",
    "guided_down",
    "auto_runtime",
    "simd_for",
    "many_reductions",
    "array_reduction",
    "critical_sections",
    "atomics",
    "phases",
    "by_hand",
    "teams_of_a_size",
    "with_locks",
    "own_reduction",
    "one_region_many_steps",
    "down_without_sign",
    "library",
)

_OF_TASKS = ("tasks", "tasks_of_tasks", "dependent_tasks", "tasks_with_objects", "loop_of_tasks")


def _refused(entry: str, make: Maker, reason: str) -> Program:
    return Program(_FILE, entry, make, refused=reason)


ROWS = (
    *(Program(_FILE, entry, _points) for entry in _SUMS),
    Program(_FILE, "plain_atomics", _counted, ("histogram",), tolerance=1e-3),
    Program(_FILE, "privates", _started, activity={"start": "active"}),
    Program(_FILE, "collapsed", _tables, ("y",), flat=frozenset({"y"})),
    Program(_FILE, "nested", _table),
    Program(_FILE, "orphaned_and_ordered", _path, ("y",), flat=frozenset({"y"})),
    Program(_FILE, "scanned", _path, ("y",), flat=frozenset({"y"})),
    Program(_FILE, "checked", _norm),
    Program(_FILE, "thread_private", _norm),
    *(Program(_TASKS, entry, _points) for entry in _OF_TASKS),
    Program(_TASKS, "untied_tasks", _norm, refused="OpenMP task"),
)
