"""Statements of more lines than one: what loops carry on, choose, exchange, and leave without a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random_programs.statements import Body


def _loop(body: Body) -> str:
    at = body.rng.choice(body.integers)
    k = body.name("k")
    bound = body.rng.choice((str(body.rng.randrange(2, 6)), f"idx[{at} % n] % 6", f"1 + {at} % 4"))
    return body.rng.choice((f"for (int {k} = 0; {k} < {bound}; ++{k})", f"for (int {k} = {bound}; {k}-- > 0;)"))


def _inside(body: Body, head: str) -> None:
    body.integers.append(head.split()[2])
    body.loops += 1


def running_extreme(body: Body) -> None:
    best, target = body.name("best"), body.rng.choice(body.floats)
    body.line(f"{body.real} {best} = {body.value()};")
    head = _loop(body)
    with body.block(head):
        _inside(body, head)
        v = body.name("v")
        body.line(f"{body.real} {v} = {body.value()};")
        less = body.rng.choice("<>")
        body.line(
            body.rng.choice(
                (
                    f"if ({v} {less} {best}) {best} = {v};",
                    f"{best} = {v} {less} {best} ? {v} : {best};",
                    f"{best} = fmax({best}, {v});",
                    f"{best} = {body.condition()} ? {best} : {v};",
                )
            )
        )
        if body.rng.random() < 0.3:
            body.line(f"if ({body.condition()}) {body.rng.choice(('break', 'continue'))};")
        body.line(f"{target} = {body.real}(0.6) * {target} + {body.real}(0.2) * {best} * sin({body.value()});")
        body.loops -= 1
    if body.rng.random() < 0.5:
        body.floats.append(best)


def recurrence(body: Body) -> None:
    left, target = body.name("left"), body.rng.choice(body.floats)
    body.line(f"{body.real} {left} = {body.value()};")
    head = _loop(body)
    with body.block(head):
        _inside(body, head)
        v = body.name("v")
        body.line(f"{body.real} {v} = tanh({body.value()});")
        body.line(
            body.rng.choice(
                (
                    f"{left} /= {body.real}(1.5) + {v};",
                    f"{left} *= {v};",
                    f"{left} -= {v};",
                    f"{left} = {v} - {left} * {body.real}(0.5);",
                    f"{left} = {v} / ({body.real}(1.5) + {left} * {left});",
                )
            )
        )
        if body.rng.random() < 0.7:
            body.line(f"{target} += {body.real}(0.3) * sin({left});")
        body.loops -= 1
    body.floats.append(left)


def sometimes_set(body: Body) -> None:
    held, asked, target = body.name("held"), body.name("asked"), body.rng.choice(body.floats)
    body.line(f"{body.real} {held};")
    body.line(f"const bool {asked} = {body.condition()};")
    head = _loop(body) if body.rng.random() < 0.6 else "if (n > 0)"
    with body.block(head):
        if head.startswith("for"):
            _inside(body, head)
        body.line(f"if ({asked}) {held} = sin({body.value()}) * {body.rng.choice(body.floats)};")
        body.line(f"{target} = {asked} ? {body.real}(0.7) * {target} * {held} : {target} + {body.real}(0.1);")
        body.loops -= head.startswith("for")


def chosen_record(body: Body) -> None:
    best, target = body.name("best"), body.rng.choice(body.floats)
    body.line(f"Pair<{body.real}> {best} = pair_of({body.value()}, {body.value()});")
    head = _loop(body)
    with body.block(head):
        _inside(body, head)
        other = body.name("other")
        body.line(f"Pair<{body.real}> {other} = pair_of({body.value()}, {body.value()});")
        body.line(
            body.rng.choice(
                (
                    f"{best} = {other}.a < {best}.a ? {other} : {best};",
                    f"if ({other}.b > {best}.b) {best} = {other};",
                    f"{other}.b += {best}.a; {best} = {other};",
                    f"({body.condition()} ? {best} : {other}).a += {body.real}(0.1) * {other}.b;",
                )
            )
        )
        body.line(f"{target} = {body.real}(0.7) * {target} + {body.real}(0.1) * {best}.sum();")
        body.loops -= 1


def delay_line(body: Body) -> None:
    one, two, target = body.name("one"), body.name("two"), body.rng.choice(body.floats)
    body.line(f"{body.real} {one} = {body.value()}, {two} = {body.real}(0.2);")
    head = _loop(body)
    with body.block(head):
        _inside(body, head)
        now = body.name("now")
        body.line(
            f"const {body.real} {now} = {body.real}(0.5) * sin({body.value()}) + {one} * {two} * {body.real}(0.3);"
        )
        body.line(f"{two} = {one};")
        body.line(f"{one} = {now};")
        body.line(f"{target} += {body.real}(0.1) * {two};")
        body.loops -= 1
    body.floats.extend((one, two))


def exchanged_arrays(body: Body) -> None:
    old, new, p, q = (body.name(each) for each in ("old", "fresh", "p", "q"))
    body.line(f"{body.real} {old}[4], {new}[4];")
    body.line(f"for (int j = 0; j < 4; ++j) {{ {old}[j] = t[j] * {body.rng.choice(body.floats)}; {new}[j] = 0; }}")
    body.line(f"{body.real} *{p} = {old}, *{q} = {new};")
    head = _loop(body)
    with body.block(head):
        _inside(body, head)
        value = body.value()
        body.line(f"for (int j = 0; j < 4; ++j) {q}[j] = {p}[j] * {body.real}(0.5) + sin({p}[(j + 1) % 4] + {value});")
        body.line(f"{body.real} *swap = {p}; {p} = {q}; {q} = swap;")
        body.loops -= 1
    body.line(f"{body.rng.choice(body.floats)} += {p}[{body.integer()} % 4];")


def place_of_extreme(body: Body) -> None:
    at, target = body.name("at"), body.rng.choice(body.floats)
    body.line(f"int {at} = 0;")
    head = _loop(body)
    with body.block(head):
        _inside(body, head)
        j = body.name("j")
        body.line(f"for (int {j} = 1; {j} < 4; ++{j}) if (t[{j}] > t[{at}]) {at} = {j};")
        body.line(f"{target} = {body.real}(0.8) * {target} + t[{at}] * {body.real}(0.2);")
        body.line(f"t[{at}] = {body.real}(-0.5) * t[{at}] + {body.real}(0.3) * sin({body.value()});")
        body.loops -= 1


def fixed_point(body: Body) -> None:
    x, target = body.name("x"), body.rng.choice(body.floats)
    body.line(f"{body.real} {x} = {body.value()}, {x}_old;")
    k = body.name("k")
    body.line(f"int {k} = 0;")
    with body.block("do", f"}} while (fabs({x} - {x}_old) > {body.real}(0.01) && ++{k} < 8);"):
        body.line(f"{x}_old = {x};")
        body.line(f"{x} = {body.real}(0.6) * sin({x}) + {body.real}(0.3) * {body.value()};")
    body.line(f"{target} += {x};")


def through_pointer(body: Body) -> None:
    if len(body.floats) < 2:
        return
    p, (one, other) = body.name("p"), body.rng.sample(body.floats, 2)
    body.line(f"{body.real} *{p} = {body.condition()} ? &{one} : &{other};")
    body.line(f"*{p} = {body.real}(0.7) * *{p} + {body.real}(0.2) * sin({body.value()});")
    if body.rng.random() < 0.5:
        body.line(f"{p} = {p} == &{one} ? &t[{body.integer()} % 4] : &{one};")
        body.line(f"*{p} += {body.real}(0.1) * cos({body.value()});")


def bins(body: Body) -> None:
    at = body.name("at")
    body.line(f"const int {at} = ((int)({body.value()} * {body.real}(3)) & 1023) % 4;")
    body.line(f"t[{at}] = {body.real}(0.8) * t[{at}] + {body.real}(0.2) * sin({body.value()});")
    body.line(f"{body.rng.choice(body.floats)} += t[({at} + 1) % 4] * {body.real}(0.3);")


def stack(body: Body) -> None:
    items, top, target = body.name("items"), body.name("top"), body.rng.choice(body.floats)
    body.line(f"int {items}[8], {top} = 0;")
    body.line(f"{items}[{top}++] = {body.integer()} % 7;")
    with body.block(f"while ({top} > 0)"):
        at = body.name("at")
        body.line(f"const int {at} = {items}[--{top}];")
        body.integers.append(at)
        body.line(f"{target} = {body.real}(0.7) * {target} + {body.real}(0.2) * sin({body.value()});")
        body.line(f"if ({at} % 2 == 1 && {top} < 7 && ({body.condition()})) {items}[{top}++] = {at} / 2;")
        body.line(f"if ({at} > 2 && {top} < 7) {items}[{top}++] = {at} - 3;")


IDIOMS: tuple[Callable[[Body], None], ...] = (
    running_extreme,
    recurrence,
    sometimes_set,
    chosen_record,
    delay_line,
    exchanged_arrays,
    place_of_extreme,
    fixed_point,
    through_pointer,
    bins,
    stack,
)
