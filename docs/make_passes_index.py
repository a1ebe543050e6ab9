"""Writes the index of docs/passes.md, made from enzyme_driver/passes/Passes.def, and the order of all pipelines."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from enzyme_driver import pipelines, registry

PAGE = Path(__file__).with_name("passes.md")
BEGIN, END = "<!-- index: begin -->", "<!-- index: end -->"


def index(page: str) -> str:
    """A table for each folder, in the order of the page's sections; `*` is a pass that can be left out."""
    lines = [*order()]
    anchors = {re.split("[`<]", title)[1]: anchor(title) for title in re.findall(r"^### (.+)$", page, re.MULTILINE)}
    for title in re.findall(r"^## (\w+: .+)$", page, re.MULTILINE):
        lines += ["", f"**{title}**", "", "| pass | what it does |", "|---|---|"]
        lines += [
            f"| [`{row.name}`](#{anchors[row.name]}){' *' if row.optional else ''} | {row.summary} |"
            for row in registry.rows()
            if row.folder == title.partition(":")[0]
        ]
    return "\n".join([BEGIN, *lines, "", END])


def order() -> Iterator[str]:
    """A line for each pipeline of more than one pass: adgen's own in their order, without `adgen-`, and not LLVM's."""
    yield from ("", "**In the order in which they run**", "")
    for pipeline in pipelines.ALL:
        names = [each.name for each in pipeline.passes if each.name.startswith(registry.PREFIX)]
        own = [name for name, before in zip(names, ["", *names], strict=False) if name != before]
        if len(own) > 1:
            text = f"- {pipeline.name}: {', '.join(name.removeprefix(registry.PREFIX) for name in own)}"
            yield from textwrap.wrap(text, 120, subsequent_indent="  ", break_on_hyphens=False)


def anchor(title: str) -> str:
    """The link to a heading, as GitHub and most others make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def with_index(page: str) -> str:
    """The page with its present index."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{index(page)}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(with_index(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
