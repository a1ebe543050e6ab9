"""Descriptions of the kernels in tests/openmp/operators.cu and operators.cpp."""

from __future__ import annotations

from typing import Any

from enzyme_driver.frameworks import Array, Launch, cdiv, operator

FILE = "openmp/operators.cu"


@operator(FILE, kernel="layer_norm")
def layer_norm(launch: Launch, x: Array, gamma: Array, beta: Array, *, eps: float = 1e-5) -> Any:
    rows, cols = x.shape
    y = launch.empty_like(x)
    return launch(grid=cdiv(rows, 4), block=4, args=(x, gamma, beta, y, rows, cols, eps), outputs=y)


@operator(FILE, kernel="wave", activity={"a": "active"}, modes=["forward", "second"])
def wave(launch: Launch, x: Array, a: Array) -> Any:
    y = launch.empty_like(x)
    return launch(grid=cdiv(x.size, 32), block=32, args=(x, a, y, x.size), outputs=y)


@operator(FILE, kernel="decay", modes=["forward"])
def decay(launch: Launch, u: Array, k: Array, count: int = 3) -> Any:
    state = launch.copy(u)
    for _ in range(count):
        launch(grid=cdiv(u.size, 32), block=32, args=(state, k, u.size))
    return state


@operator(FILE, kernel="row_max", results=2)
def row_max(launch: Launch, x: Array) -> Any:
    rows, cols = x.shape
    largest, where = launch.empty(rows, x.dtype), launch.empty(rows, "int32")
    return launch(grid=cdiv(rows, 32), block=32, args=(x, largest, where, rows, cols), outputs=(largest, where))


@operator(FILE, kernel="running")
def running(launch: Launch, x: Array) -> Any:
    """Its gradient is refused."""
    before = launch.zeros(x.size + 1, x.dtype)
    return launch(grid=cdiv(x.size, 32), block=32, args=(x, before, x.size), outputs=before)


@operator(FILE, kernel="shifted")
def signed(launch: Launch, x: Array, *, bias: float = 0.0) -> Any:
    y = launch.empty_like(x)
    return launch(grid=cdiv(x.size, 32), block=32, args=(x, y, bias, x.size), outputs=y)


@operator(FILE, kernel="products", modes=["forward"])
def squares(launch: Launch, x: Array) -> Any:
    """One array for two parameters."""
    y = launch.empty_like(x)
    return launch(grid=cdiv(x.size, 32), block=32, args=(x, x, y, x.size), outputs=y)


@operator(FILE, kernel="products", name="squares_in_place")
def squares_in_place(launch: Launch, x: Array) -> Any:
    y = launch.copy(x)
    return launch(grid=cdiv(x.size, 32), block=32, args=(x, y, y, x.size), outputs=y)


@operator("openmp/operators.cpp", function="weighted", modes=["second"])
def weighted(launch: Launch, x: Array, w: Array) -> Any:
    return launch(args=(x, w, x.size))


@operator("openmp/operators.cpp", function="checked", name="checked_positive")
def checked(launch: Launch, x: Array) -> Any:
    y = launch.empty_like(x)
    return launch(args=(x, y, x.size), outputs=y)
