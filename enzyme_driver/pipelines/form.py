"""What a pass and a pipeline are, and how opt reads them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from enzyme_driver import registry


@dataclass(frozen=True)
class Pass:
    """One pass, or one of LLVM's adaptors (`function`, `loop`, ...) with the passes that it runs, `inner`.

    `option` is what follows between < and >; words in braces are given by whoever renders. `switch` is the optimisation
    that the pass is part of, `when` a fact about the compilation without which it does not run. `after` names passes
    that must have run before, wherever both do.
    """

    name: str
    option: str = ""
    switch: str | None = None
    when: str | None = None
    after: tuple[str, ...] = ()
    inner: tuple[Pass, ...] = ()

    @property
    def turned_off_by(self) -> str | None:
        """The switch that leaves it out: that of an optional pass of adgen is called like the pass."""
        row = registry.by_name().get(self.name)
        return self.switch or (self.name.removeprefix(registry.PREFIX) if row and row.optional else None)


@dataclass(frozen=True)
class Pipeline:
    """Passes in the order in which they run; a pipeline among them stands for its passes."""

    name: str
    parts: tuple[Pass | Pipeline, ...]

    @property
    def passes(self) -> Iterator[Pass]:
        for part in self.parts:
            yield from part.passes if isinstance(part, Pipeline) else (part,)


def render(
    pipeline: Pipeline,
    words: Mapping[str, str] | None = None,
    *,
    facts: Collection[str] = (),
    disabled: Collection[str] = (),
) -> str:
    """The text of `-passes=`. `words` stand in options, for the others see `selected`."""
    return ",".join(
        rendered(each, {} if words is None else words) for each in selected(pipeline, facts=facts, disabled=disabled)
    )


def selected(pipeline: Pipeline, *, facts: Collection[str] = (), disabled: Collection[str] = ()) -> tuple[Pass, ...]:
    """The passes that run: `facts` decide about `Pass.when`, `disabled` holds switches."""
    return tuple(
        each
        for each in pipeline.passes
        if each.turned_off_by not in disabled and (each.when is None or each.when in facts)
    )


def rendered(each: Pass, words: Mapping[str, str]) -> str:
    """One pass as opt reads it."""
    option = f"<{each.option.format_map(words)}>" if each.option else ""
    inner = f"({','.join(rendered(one, words) for one in each.inner)})" if each.inner else ""
    return f"{each.name}{option}{inner}"


def function(
    *passes: str | Pass, switch: str | None = None, when: str | None = None, after: tuple[str, ...] = ()
) -> Pass:
    """LLVM's passes that run on one function after another."""
    return Pass("function", switch=switch, when=when, after=after, inner=tuple(map(one_pass, passes)))


def loop(*passes: str | Pass, adaptor: str = "loop") -> Pass:
    return Pass(adaptor, inner=tuple(map(one_pass, passes)))


def one_pass(each: str | Pass) -> Pass:
    return Pass(each) if isinstance(each, str) else each


CSE = Pass("early-cse", "memssa")
COMBINE = Pass("instcombine", "no-verify-fixpoint")
