"""Draws whole programs from a number: CUDA kernels that work alone or together, C++ functions with OpenMP."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
from random_programs import device_helpers, grammar, phrases, public_code, science_code
from random_programs.mutations import mutated
from random_programs.statements import ROOM, Body

from enzyme_driver.runtime.call.geometry import Launch, launch_of

BLOCK, BLOCKS, POINTS = 32, 2, 53
SPECIAL = 0.25
IDIOMS_FROM = 100_000
"""Programs of larger numbers have statements of `idioms`, too; those of smaller ones stay what they are."""

PRACTICE_FROM = 200_000
"""Kernels of larger numbers are those of `grammar`."""

MUTATED_FROM = 2_000_000_000
"""Kernels of larger numbers are those of `grammar`, counted from its first, written down in another way."""

_CUDA_HELPERS = """\
#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
#define HELPER __device__
"""
_CPP_HELPERS = """\
#include <cmath>
#include <vector>
using namespace std;
#define HELPER inline
"""
_HELPERS = """
template <class T> struct Pair {
    T a, b;
    int k;
    HELPER T sum() const { return k > 0 ? a * b + a : a - b; }
};
HELPER double mixed(double a, double b) { return a > b ? a * double(0.5) + b * b * double(0.1) : sin(a) + b; }
HELPER float mixed(float a, float b) { return a > b ? a * 0.5f + b * b * 0.1f : sin(a) + b; }
template <class T> HELPER T counted(T a, int n)
{
    T sum = a;
    for (int i = 0; i < n % 4; ++i)
        sum = T(0.5) * sum + sin(a + T(i));
    return sum;
}
template <class T> HELPER Pair<T> pair_of(T a, T b) { return {a, b, a > T(0.2) ? 1 : -1}; }
template <class T> HELPER void blend(T &to, T by)
{
    if (by > T(0.1))
        to = T(0.7) * to + T(0.2) * sin(by);
    else
        to -= T(0.1) * tanh(by);
}
"""


@dataclass(frozen=True)
class Drawn:
    """A program: its source without the helpers, and the type of its numbers. C++ where `block` is None.

    Where it is `packed`, a struct holds its arrays of numbers.
    """

    number: int
    source: str
    real: str
    block: int | tuple[int, int] | None
    packed: bool = False

    @property
    def name(self) -> str:
        return f"p{self.number}"

    @property
    def launch(self) -> Launch | None:
        """With room for two numbers and an index of every thread."""
        if self.block is None:
            return None
        threads = self.block if isinstance(self.block, int) else self.block[0] * self.block[1]
        return launch_of((BLOCKS, self.block, None, 20 * threads))

    def arguments(self, seed: int, *, special: bool = False) -> list[Any]:
        """Random numbers, or such as programs meet, too: zeros, ones, and the same ones again."""
        rng = np.random.default_rng(seed)
        dtype = np.dtype({"double": "float64", "float": "float32"}[self.real])
        x, w, y, z = (rng.uniform(-1, 1, POINTS).astype(dtype) for _ in range(4))
        for each in (x, w, y, z) if special else ():
            each[rng.random(POINTS) < SPECIAL] = 0
            each[rng.random(POINTS) < SPECIAL / 2] = rng.choice((-1, 1))
            each[: POINTS // 4] = each[POINTS // 2 : POINTS // 2 + POINTS // 4]
        idx = rng.integers(0, POINTS, POINTS).astype(np.int32)
        if self.packed:
            return [{"x": x, "w": w, "y": y, "z": z}, idx, POINTS, 0.7]
        return [x, w, idx, y, z, POINTS, 0.7]


def idiomatic(number: int) -> bool:
    return number >= IDIOMS_FROM


def practised(number: int) -> bool:
    """Whether dual numbers are the oracle."""
    return number >= PRACTICE_FROM


def kind(language: str, number: int) -> str:
    """What the counts of such programs are called."""
    if not practised(number):
        return f"{language}: statements"
    phrases_drawn = grammar.PHRASES if language == "cuda" else len(grammar.PORTABLE)
    return f"{language}: grammar of {phrases_drawn} phrases" + (", mutated" if number >= MUTATED_FROM else "")


def program(number: int, *, cuda: bool) -> Drawn:
    """The program of that number; always the same."""
    if practised(number):
        mutates = number >= MUTATED_FROM
        first = number - MUTATED_FROM + PRACTICE_FROM if mutates else number
        found = grammar.kernel(first) if cuda else grammar.function(first)
        if mutates:
            renamed = re.sub(rf"\b([pq]){first}\(", rf"\g<1>{number}(", found.source)
            found = mutated(replace(found, source=renamed), number)
        return Drawn(number, found.source, found.real, found.block, found.packed)
    rng = Random(number)
    real = "double"
    draw = rng.choice((_alone, _alone, _together)) if cuda else rng.choice((_parallel_loop, _region, _serial))
    lines = draw(rng, real, idioms=idiomatic(number))
    types = f"const {real} *x, const {real} *w, const int *idx, {real} *y, {real} *z, int n, {real} s"
    head = f"__global__ void p{number}({types})" if cuda else f"void p{number}({types})"
    return Drawn(number, "\n".join((head, "{", *lines, "}", "")), real, BLOCK if cuda else None)


def file(drawn: list[Drawn]) -> str:
    """One file of them all."""
    cuda = drawn[0].block is not None
    parts = [_CUDA_HELPERS if cuda else _CPP_HELPERS, _HELPERS]
    if practised(drawn[0].number):
        own = device_helpers.FOR_CUDA if cuda else device_helpers.FOR_CPP
        parts += [phrases.HELPERS, own, device_helpers.HELPERS, public_code.HELPERS, science_code.HELPERS]
        parts += [public_code.FOR_CUDA if cuda else science_code.FOR_CPP]
    return "".join(parts) + "\n" + "\n".join(each.source for each in drawn)


def _start(body: Body) -> None:
    body.line(f"{body.real} t[{ROOM}];")
    body.line(f"for (int j = 0; j < {ROOM}; ++j) t[j] = x[(i + j) % n] * w[j];")
    for name in ("a", "b"):
        body.line(f"{body.real} {name} = {body.rng.choice('xw')}[{body.integer()}];")
        body.floats.append(name)


def _finish(body: Body) -> None:
    a, b = body.rng.choice(body.floats), body.value()
    body.line(body.rng.choice((f"y[i] = {a} + sin({b});", f"y[i] = y[i] * {a} + tanh({b});", f"y[i] += {a};")))


def _scatter(body: Body, add: str) -> None:
    if body.rng.random() < 0.5:
        body.line(add.format(target=f"z[{body.integer()}]", value=f"{body.real}(0.5) * sin({body.value()})"))


def _alone(rng: Random, real: str, *, idioms: bool) -> list[str]:
    """Threads that never wait for each other."""
    body = Body(rng, real, [], ["i"], idioms=idioms)
    if rng.random() < 0.3:
        body.line("int first = blockIdx.x * blockDim.x + threadIdx.x;")
        body.line("if (first >= 20) return;")
        head = "for (int i = first; i < n; i += 20)"
    else:
        body.line("int i = blockIdx.x * blockDim.x + threadIdx.x;")
        head = "if (i < n)"
    with body.block(head):
        _start(body)
        body.some(4)
        _scatter(body, "atomicAdd(&{target}, {value});")
        _finish(body)
    return body.lines


def _together(rng: Random, real: str, *, idioms: bool) -> list[str]:
    """Blocks with shared memory, barriers and shuffles."""
    body = Body(rng, real, [], ["i"], may_leave=False, idioms=idioms)
    body.line("int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x;")
    body.line(f"__shared__ {real} tile[{BLOCK}];")
    _start(body)
    body.some(2)
    with body.block(f"for (int round = 0; round < {rng.randrange(1, 4)}; ++round)"):
        body.integers.append("round")
        for _ in range(rng.randint(1, 2)):
            rng.choice((_through_tile, _through_tile, _through_shuffle, _sum_in_tile))(body)
            body.some(2)
    with body.block("if (i < n)"):
        _scatter(body, "atomicAdd(&{target}, {value});")
        _finish(body)
    return body.lines


def _through_tile(body: Body) -> None:
    target = body.rng.choice(("a", "b"))
    body.line(f"tile[lane] = sin({body.value()});")
    body.line("__syncthreads();")
    if body.rng.random() < 0.4:
        body.line(f"if (lane % 3 == 0) {target} += tile[(lane + 1) % {BLOCK}] * tile[lane];")
    body.line(
        f"{target} = {body.real}(0.5) * {target}"
        f" + tile[(lane + {body.rng.randrange(1, 9)}) % {BLOCK}] * tile[lane / 2];"
    )
    body.line("__syncthreads();")


def _sum_in_tile(body: Body) -> None:
    target = body.rng.choice(("a", "b"))
    body.line(f"tile[lane] = {target} * {body.real}(0.3);")
    body.line("__syncthreads();")
    with body.block(f"for (int half = {BLOCK // 2}; half > 0; half /= 2)"):
        body.line("if (lane < half) tile[lane] += tile[lane + half];")
        body.line("__syncthreads();")
    body.line(f"{target} = sin(tile[0]) + {target};")
    body.line("__syncthreads();")


def _through_shuffle(body: Body) -> None:
    target, other = body.rng.choice(("a", "b")), body.rng.choice(("a", "b"))
    distance = body.rng.choice((1, 2, 5, 16))
    kind = body.rng.choice(("xor", "down", "up"))
    body.line(f"{target} = {body.real}(0.5) * {target} + sin(__shfl_{kind}_sync(0xffffffffu, {other}, {distance}));")


def _parallel_loop(rng: Random, real: str, *, idioms: bool) -> list[str]:
    """One loop over the points, with a sum of all threads."""
    body = Body(rng, real, [], ["i"], may_leave=False, idioms=idioms)
    body.line(f"{real} total = 0;")
    schedule = rng.choice(("", " schedule(static, 3)", " schedule(dynamic)"))
    body.line(f"#pragma omp parallel for reduction(+ : total){schedule}")
    with body.block("for (int i = 0; i < n; ++i)"):
        _start(body)
        body.some(4)
        body.line(f"total += sin({body.value()});")
        if rng.random() < 0.5:
            body.line("#pragma omp atomic")
            body.line(f"z[{body.integer()}] += {body.value()};")
        _finish(body)
    body.line("z[0] += sin(total);")
    return body.lines


def _region(rng: Random, real: str, *, idioms: bool) -> list[str]:
    """A team that goes through two loops, the second of which reads what others have left in the first."""
    body = Body(rng, real, [], ["i"], may_leave=False, idioms=idioms)
    body.line(f"vector<{real}> left(n);")
    body.line("#pragma omp parallel")
    with body.block(""), body.block(f"for (int round = 0; round < {rng.randrange(1, 4)}; ++round)"):
        body.integers.append("round")
        body.line("#pragma omp for")
        with body.block("for (int i = 0; i < n; ++i)"):
            _start(body)
            body.some(3)
            body.line(f"left[i] = y[i] * {body.real}(0.3) + sin({body.value()});")
        body.line(rng.choice(("#pragma omp for", "#pragma omp for schedule(static, 5)")))
        with body.block("for (int i = 0; i < n; ++i)"):
            _start(body)
            body.line(f"a += left[{body.integer()}] * left[i];")
            body.some(2)
            _finish(body)
    return body.lines


def _serial(rng: Random, real: str, *, idioms: bool) -> list[str]:
    """Loops in which every point changes what the next one reads."""
    body = Body(rng, real, [], ["i"], may_leave=rng.random() < 0.3, idioms=idioms)
    body.line(f"vector<{real}> left(y, y + n);")
    with body.block("for (int i = 1; i < n; ++i)"):
        _start(body)
        body.line("a += left[i - 1];")
        body.some(4)
        body.line(f"left[i] = {body.real}(0.5) * left[i] + sin(a);")
        _finish(body)
    body.line(f"z[{rng.randrange(9)}] += left[n - 1] * left[n / 2];")
    return body.lines
