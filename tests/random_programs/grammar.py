"""Draws kernels from the phrases that people write, one in another, and varies how they are written down.

Their derivatives have kinks, and finite differences go over them: the oracle is the dual numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from random_programs import device_code, phrases, public_code, science_code
from random_programs.statements import ROOM, Body

_HOLE = re.compile(r"@(\w+)|\$(body|round|\w)")
_DEEPEST = 3
_LOADS = ("x[($N * i + @k) % n]", "x[(i + @k) % n] * w[@k]", "@k % 2 ? w[(i + @k) % n] : x[idx[i]]", "$v")
BLOCKS = (32, 64)
ALONE = (*phrases.ALONE, *device_code.ALONE, *public_code.ALONE, *public_code.ON_GPU, *science_code.ALONE)
TOGETHER = (*phrases.TOGETHER, *device_code.TOGETHER, *public_code.TOGETHER, *science_code.TOGETHER)
LANES = (*phrases.LANES, *device_code.LANES, *public_code.LANES, *science_code.LANES)
STORES = (*phrases.STORES, *device_code.STORES, *public_code.STORES, *science_code.STORES)
SHARED_STORES = {**phrases.SHARED_STORES, "added": (*phrases.SHARED_STORES["added"], *public_code.SHARED_STORES)}
PORTABLE = (*phrases.ALONE, *device_code.PORTABLE, *public_code.ALONE, *science_code.ALONE)
"""What C++ has, too."""
PHRASES = len(ALONE) + len(TOGETHER) + len(LANES) + len(STORES)


class Draft(Body):
    """A kernel that is being drawn; `arrays` are its local arrays with their sizes."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng, rng.choice(("double", "double", "float")), ["acc"], ["i"])
        self.arrays: list[tuple[str, int]] = []
        self.nested = 0
        self.everywhere: tuple[str, ...] = ALONE
        self.together: tuple[str, ...] = TOGETHER

    def fill(self, phrase: str) -> str:
        """The phrase with its holes filled: arrays and constant integers are the same throughout, values are not."""
        names: dict[str, str] = {}
        array, size = self.rng.choice(self.arrays) if self.arrays else ("", 0)
        other = self.rng.choice([name for name, each in self.arrays if each == size and name != array] or ["x"])
        known, constant = len(self.integers), str(self.rng.randint(1, 5))

        def filled(hole: re.Match[str]) -> str:
            if new := hole.group(1):
                if new not in names:
                    names[new] = self.name(new)
                return names[new]
            word = hole.group(2)
            if word in {"body", "round"}:
                self.integers += [names[k] for k in ("k", "j", "r") if k in names and f"int @{k}" in phrase]
                found = self._nested(word)
                del self.integers[known:]
                return found
            return {"A": array, "B": other, "N": str(size), "k": constant}.get(word) or self._hole(word)

        if "$B" in phrase and other == "x":
            return ""
        return _HOLE.sub(filled, phrase)

    def _hole(self, word: str) -> str:
        rng = self.rng
        at = rng.choice(self.integers)
        drawn: dict[str, Callable[[], str]] = {
            "T": lambda: self.real,
            "f": lambda: rng.choice(self.floats),
            "v": self.value,
            "q": self.condition,
            "i": self.integer,
            "m": lambda: rng.choice((f"idx[{at} % n]", at, f"({at} + {rng.randrange(9)})")),
            "c": lambda: rng.choice(("{:.2f}", f"{self.real}({{:.2f}})")).format(rng.uniform(0.2, 0.9)),
            "L": lambda: f"{self.real}({rng.uniform(0.5, 3):.2f})",
            "R": lambda: rng.choice("<>"),
        }
        return drawn[word]()

    def _nested(self, word: str) -> str:
        self.nested += 1
        kept = self.floats[:]
        if self.nested > _DEEPEST:
            found = self.fill("$f = $c * $f + $c * tanh($v);")
        elif word == "round":
            found = self.fill(self.rng.choice(self.together))
        else:
            found = self.fill(self.rng.choice((*self.everywhere, "$f = $c * $f + sin($v);", "$f -= $c * $v;")))
        self.floats = kept
        self.nested -= 1
        return found

    def declare(self) -> list[str]:
        """A local array and what it holds at first."""
        size = self.arrays[0][1] if self.arrays and self.rng.random() < 0.5 else self.rng.randint(2, 12)
        name, k = self.name("a"), self.name("k")
        load = self.fill(self.rng.choice(_LOADS).replace("@k", k).replace("$N", str(size)))
        self.arrays.append((name, size))
        unrolled = self.rng.choice(("", "", "#pragma unroll\n", "#pragma unroll 1\n", "#pragma unroll 2\n"))
        return [
            f"{self.real} {name}[{size}];",
            f"{unrolled}for (int {k} = 0; {k} < {size}; {k}++) {name}[{k}] = {load};",
        ]


@dataclass(frozen=True)
class Written:
    """A kernel p<number>(x, w, idx, y, z, n, s), the type of its numbers, and the threads of its blocks, or of each
    side of them. A function of C++ has none.

    Where it is `packed`, the four arrays are members of a struct in place of `x`, and the others are left out.
    """

    source: str
    real: str
    block: int | tuple[int, int] | None
    packed: bool


def kernel(number: int) -> Written:
    """The kernel of that number, always the same."""
    rng = Random(number)
    draft = Draft(rng)
    together = rng.random() < 0.5
    left = together and rng.random() < 0.25  # the last lanes return first
    block = rng.choice(BLOCKS if together else (*BLOCKS, 48, 17))
    role = rng.choice(tuple(SHARED_STORES))
    body = [f"{draft.real} t[{ROOM}];", f"for (int j = 0; j < {ROOM}; ++j) t[j] = x[(i + j) % n] * w[j];"]
    body += [f"{draft.real} acc = s * x[i];", *draft.declare()]
    draft.arrays.append(("t", ROOM))
    if rng.random() < 0.6:
        body += draft.declare()
    if rng.random() < 0.7:
        draft.floats.append("more")
        body.append(f"{draft.real} more = w[(i + 3) % n];")
    kinds = (ALONE, LANES if left else TOGETHER) if together else (ALONE,)
    drawn = [_filled(draft, rng.choice(rng.choice(kinds))) for _ in range(rng.choice((1, 2, 3, 4, 7)))]
    body += [text for _, text in sorted(drawn, key=lambda each: each[0])]
    leaves = [draft.fill(rng.choice(phrases.WAYS_OUT))] if not together and rng.random() < 0.3 else []
    stores = [*leaves, draft.fill(rng.choice(STORES))]
    if role != "same" or rng.random() < 0.5:
        stores.append(draft.fill(rng.choice(SHARED_STORES[role])))
    how = "left" if left else "together" if together else "alone"
    whole = _whole(rng, body, stores, how=how, block=block, real=draft.real)
    packed = rng.random() < 0.15
    flat = rng.random() < 0.8
    text = _written(rng, number, draft.real, whole if flat else _of_rows(whole), packed=packed)
    sides = block if flat else (8, block // 8) if block % 8 == 0 else (block, 1)
    return Written(text, draft.real, sides, packed)


def _filled(draft: Draft, phrase: str) -> tuple[bool, str]:
    """Also whether nothing may come behind that asks other lanes, any of which may have returned there."""
    return phrase in phrases.LAST, draft.fill(phrase)


def function(number: int) -> Written:
    """The C++ function of that number: a loop over the points, or some of it, by one thread or by a team."""
    rng = Random(number)
    draft = Draft(rng)
    draft.everywhere = PORTABLE
    alone = rng.random() < 0.5
    body = [f"{draft.real} t[{ROOM}];", f"for (int j = 0; j < {ROOM}; ++j) t[j] = x[(i + j) % n] * w[j];"]
    body += [f"{draft.real} acc = s * x[i];", *draft.declare()]
    draft.arrays.append(("t", ROOM))
    body += [draft.fill(rng.choice(PORTABLE)) for _ in range(rng.choice((1, 2, 3, 4, 7)))]
    if alone and rng.random() < 0.2:
        body.append(draft.fill(rng.choice(phrases.WAYS_OUT)))
    body.append(draft.fill(rng.choice([each for each in STORES if alone or "return" not in each])))
    add = "z[$i] += $v;" if alone else "\n#pragma omp atomic\nz[$i] += $v;\n"
    body.append(draft.fill(rng.choice((add, "total += $v;"))))
    schedule = rng.choice(("", " schedule(static, 4)", " schedule(dynamic)", " num_threads(3)"))
    team = "" if alone else f"#pragma omp parallel for reduction(+ : total){schedule}\n"
    lines = [f"{draft.real} total = 0;", f"{team}for (int i = 0; i < n; i++) {{", *body, "}", "z[0] += tanh(total);"]
    packed = rng.random() < 0.15
    return Written(_written(rng, number, draft.real, lines, packed=packed, kernel=False), draft.real, None, packed)


def _of_rows(lines: list[str]) -> list[str]:
    """The same in blocks of rows."""
    thread = "(threadIdx.y * blockDim.x + threadIdx.x)"
    first = f"int i = blockIdx.x * blockDim.x * blockDim.y + {thread}"
    of = {
        "int i = blockIdx.x * blockDim.x + threadIdx.x": first,
        "int lane = threadIdx.x": f"int lane = {thread}",
        "gridDim.x * blockDim.x": "gridDim.x * blockDim.x * blockDim.y",
    }
    for flat, rows in of.items():
        lines = [each.replace(flat, rows) for each in lines]
    return [re.sub(r"(?<!x \+ )threadIdx\.x >=", f"{thread} >=", each) for each in lines]


def _whole(rng: Random, body: list[str], stores: list[str], *, how: str, block: int, real: str) -> list[str]:
    """The statements with what decides which threads come to them."""
    head = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
    if how == "left":
        own = "(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x"
        quick = f"__shared__ volatile {real} quick[{block}]; quick[{own}] = 0;"  # also of lanes that leave
        return [head, quick, "int lane = threadIdx.x;", "if (i >= n) return;", *body, *stores]
    if how == "together":
        shared = f"__shared__ {real} tile[{block}], other[{block}], bins[4], first; __shared__ int count;"
        shared += f" __shared__ Item<{real}> pairs[{block}];"
        clamped = "int lane = threadIdx.x; bool inside = i < n; if (!inside) i = n - 1;"
        used = [each.replace("WIDTH", str(block)) for each in body]
        return [head, shared, clamped, *used, "if (inside) {", *stores, "}"]
    if rng.random() < 0.3 and not any("return;" in each for each in stores):
        first = "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;"
        if rng.random() < 0.5:
            return [f"{first} i += gridDim.x * blockDim.x) {{", *body, *stores, "}"]
        strided = f"{first} i += {block - 9}) {{"
        return [f"if (blockIdx.x > 0 || threadIdx.x >= {block - 9}) return;", strided, *body, *stores, "}"]
    guard = rng.choice(("if (i >= n) return;", "if (i < n) {"))
    return [head, guard, *body, *stores, *(["}"] if guard.endswith("{") else [])]


def _written(rng: Random, number: int, real: str, lines: list[str], *, packed: bool, kernel: bool = True) -> str:
    types = f"const {real} *x, const {real} *w, const int *idx, {real} *y, {real} *z, int n, {real} s"
    if packed:
        types = f"Fields<{real}> of, const int *idx, int n, {real} s"
        lines = [f"const {real} *x = of.x, *w = of.w;", f"{real} *y = of.y, *z = of.z;", *lines]
    elif rng.random() < 0.5:
        types = types.replace("*", "*__restrict__ ")
    bounds = rng.choice(("", "", "__launch_bounds__(64) "))
    head = f"__global__ void {bounds}p{number}({types})" if kernel else f"void p{number}({types})"
    text = ["{", *map(spread, lines), "}", ""]
    if rng.random() < 0.15:  # all is done by a function
        names = ", ".join(each.split()[-1].lstrip("*") for each in types.split(", "))
        inner = f"HELPER void q{number}({types})"
        return "\n".join((f"{inner};", f"{head} {{ q{number}({names}); }}", inner, *text))
    return "\n".join((head, *text))


def spread(text: str) -> str:
    """A statement a line, so that lines can be left out one by one."""
    lines, line, round_ones, curly = [], "", 0, 0
    text = text if "#" in text else re.sub(r"\s+", " ", text)
    for sign, after in zip(text, f"{text} "[1:], strict=True):
        line += sign
        round_ones += (sign == "(") - (sign == ")")
        if round_ones == 0 and sign in ";{}\n" and after != ";":
            lines.append("    " * (curly + 1 - (sign == "}")) + line.strip())
            line = ""
            curly += (sign == "{") - (sign == "}")
    if line.strip():
        lines.append(line)
    return "\n".join(each for each in lines if each.strip())
