"""Draws statements and expressions: smooth almost everywhere, and bounded in whatever order they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

from random_programs.idioms import IDIOMS

ROOM = 4
"""Elements of a local array."""
_DEEPEST = 2
_IDIOMATIC = 0.6


@dataclass
class Body:
    """The body of a function that is being drawn. `floats` may be assigned to, `integers` are only read."""

    rng: Random
    real: str
    floats: list[str]
    integers: list[str]
    may_leave: bool = True
    idioms: bool = False
    lines: list[str] = field(default_factory=list)
    depth: int = 0
    loops: int = 0
    count: int = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * (self.depth + 1) + text)

    @contextmanager
    def block(self, head: str, end: str = "}") -> Iterator[None]:
        """What is declared inside is not seen behind it."""
        self.line(f"{head} {{")
        known = (list(self.floats), list(self.integers))
        self.depth += 1
        yield
        self.depth -= 1
        self.floats, self.integers = known
        self.line(end)

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def integer(self) -> str:
        """An index into any of the arrays of n elements."""
        at = self.rng.choice(self.integers)
        shift = self.rng.randrange(5)
        return self.rng.choice((f"({at} + {shift}) % n", f"idx[({at} + {shift}) % n]", f"({at} * {shift + 1}) % n"))

    def value(self, depth: int = 0) -> str:
        """An expression, of moderate size where variables are."""
        rng = self.rng
        if depth >= _DEEPEST or rng.random() < 0.3:
            leaves = (
                *(rng.choice(self.floats), rng.choice(self.floats), "s"),
                *(f"x[{self.integer()}]", f"w[{self.integer()}]", f"t[{self.integer()} % {ROOM}]"),
                f"{self.real}({rng.uniform(-1.5, 1.5):.3f})",
            )
            return rng.choice(leaves)
        one, other = self.value(depth + 1), self.value(depth + 1)
        forms = (
            f"({one} + {other})",
            f"({one} - {other})",
            f"({one} * {other})",
            f"({one} / ({self.real}(1.5) + {other} * {other}))",
            f"sin({one})",
            f"tanh({one})",
            f"sqrt({one} * {one} + {self.real}(0.5))",
            f"log({one} * {one} + {self.real}(1))",
            f"exp({self.real}(-0.1) * {one} * {one})",
            f"fmax({one}, {other})",
            f"fabs({one})",
            f"({self.condition()} ? {one} : {other})",
            f"mixed({one}, {other})",
            f"counted({one}, {self.integer()})",
            f"pair_of({one}, {other}).sum()",
        )
        return rng.choice(forms)

    def condition(self) -> str:
        rng = self.rng
        at = rng.choice(self.integers)
        return rng.choice(
            (
                f"{at} % {rng.randrange(2, 4)} == {rng.randrange(2)}",
                f"idx[{at} % n] > {rng.randrange(1, 20)}",
                f"{rng.choice(self.floats)} > {self.real}({rng.uniform(-0.8, 0.8):.3f})",
                f"x[{self.integer()}] < w[{self.integer()}]",
                f"({at} % 2 == 0 && {rng.choice(self.floats)} < {self.real}(0.3))",
                f"(idx[{at} % n] < 9 || w[{self.integer()}] > {self.real}(0.9))",
            )
        )

    def assignment(self) -> None:
        target = self.rng.choice((*self.floats, *self.floats, f"t[{self.integer()} % {ROOM}]"))
        value = self.value()
        self.line(
            self.rng.choice(
                (
                    f"{target} = {self.real}(0.6) * {target} + {self.real}(0.4) * sin({value});",
                    f"{target} += {self.real}(0.2) * cos({value});",
                    f"{target} *= {self.real}(0.9) + {self.real}(0.1) * tanh({value});",
                    f"{target} = tanh({value});",
                    f"blend({target}, {value});",
                )
            )
        )

    def declaration(self) -> None:
        name = self.name("v")
        self.line(f"{self.real} {name} = sin({self.value()});")
        self.floats.append(name)

    def branch(self) -> None:
        with self.block(f"if ({self.condition()})"):
            self.some(2)
        if self.rng.random() < 0.5:
            with self.block("else"):
                self.some(2)

    def switch(self) -> None:
        with self.block(f"switch ({self.rng.choice(self.integers)} % 3)"):
            for case in (0, 1):
                self.line(f"case {case}:")
                self.assignment()
                if self.rng.random() < 0.7:
                    self.line("break;")
            self.line("default:")
            self.assignment()

    def counted_loop(self) -> None:
        k = self.name("k")
        rng = self.rng
        at = rng.choice(self.integers)
        head = rng.choice(
            (
                f"for (int {k} = 0; {k} < {rng.randrange(2, 6)}; ++{k})",
                f"for (int {k} = {rng.randrange(3, 7)}; {k} > 0; --{k})",
                f"for (int {k} = 0; {k} < idx[{at} % n] % 5; ++{k})",
                f"for (int {k} = {at} % 3; {k} < n; {k} += {rng.randrange(9, 20)})",
                f"for (int {k} = 1; {k} < n; {k} *= 2)",
            )
        )
        self._loop(head, k)

    def while_loop(self) -> None:
        k, a = self.name("k"), self.rng.choice(self.floats)
        self.line(f"int {k} = 0;")
        head = self.rng.choice(
            (
                f"while ({a} < {self.real}(1.2) && {k} < 6)",
                f"while ({k} < 5 && {self.condition()})",
                f"while ({k} * {k} < n)",
            )
        )
        self._loop(head, k, f"++{k};")

    def do_loop(self) -> None:
        k = self.name("k")
        self.line(f"int {k} = 0;")
        self._loop("do", k, end=f"}} while (++{k} < 4 && {self.condition()});")

    def _loop(self, head: str, counter: str, step: str = "", end: str = "}") -> None:
        self.loops += 1
        with self.block(head, end):
            self.integers.append(counter)
            self.line(step) if step else None
            self.some(2)
            if self.rng.random() < 0.35:
                self.line(f"if ({self.condition()}) {self.rng.choice(self._ways_out())};")
                self.some(1)
        self.loops -= 1

    def _ways_out(self) -> tuple[str, ...]:
        return ("break", "continue", "return") if self.may_leave else ("break", "continue")

    def some(self, most: int) -> None:
        """A few statements; fewer the deeper they lie."""
        plain: tuple[Callable[[], None], ...] = (self.assignment, self.assignment, self.declaration)
        nested = (self.branch, self.switch, self.counted_loop, self.while_loop, self.do_loop)
        for _ in range(self.rng.randint(1, most)):
            deep = self.depth >= 4 or self.loops >= 3
            if self.idioms and not deep and self.rng.random() < _IDIOMATIC:
                self.rng.choice(IDIOMS)(self)
            else:
                self.rng.choice(plain if deep else (*plain, *nested))()
