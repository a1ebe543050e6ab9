"""The tables beside JAX and PyTorch in README.md and docs/comparison.md, made from benchmarks/results.

    python -m benchmarks.framework_table

writes both documents; a test fails where one is older than the data.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.page import HERE, measured_on, read
from benchmarks.performance_page import figures
from benchmarks.report import Compared, compared

RESULTS = HERE / "results"
BEGIN, END = "<!-- frameworks: begin -->", "<!-- frameworks: end -->"
NAMES = {"jax": "jax.jit", "pytorch": "PyTorch"}


def documents() -> dict[Path, str]:
    """Each document that holds a table, with its present one."""
    rows = read(RESULTS, "frameworks.json")
    cases, where = compared(rows), measured_on(rows)
    return {
        HERE.parent / "README.md": short_table(cases, where),
        HERE.parent / "docs" / "comparison.md": long_table(cases, where),
    }


def short_table(cases: list[Compared], where: str) -> str:
    """Gradient over primal of each library, at the largest size of every case."""
    heads = ["", "size", "adgen", *NAMES.values()]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for case in _largest(cases):
        rows = [case.times[library] for library in ("adgen", *NAMES)]
        cells = [f"{row['gradient_ms'] / row['forward_ms']:.2f} ({figures(row['gradient_ms'])} ms)" for row in rows]
        lines.append(f"| {case.case} | {case.size} | {' | '.join(cells)} |")
    return "\n".join([f"Gradient over primal, each library's own, and the gradient's time ({where}):", "", *lines])


def long_table(cases: list[Compared], where: str) -> str:
    """All cases in milliseconds, and how much longer the frameworks take than adgen."""
    heads = ["case", "size", "adgen", *(head for name in NAMES.values() for head in (name, f"{name} over adgen"))]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for case in cases:
        own = case.times["adgen"]["gradient_ms"]
        cells = [case.case, case.size, figures(own)]
        for library in NAMES:
            time = case.times[library]["gradient_ms"]
            cells += [figures(time), figures(time / own)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([f"Gradients in milliseconds ({where}):", "", *lines])


def with_table(page: str, table: str) -> str:
    """The page with its present table."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}"


def _largest(cases: list[Compared]) -> list[Compared]:
    """The last size of each case; what leaves the primal's outputs out has no counterpart in the frameworks."""
    found = {each.case: each for each in cases if "derivatives alone" not in each.size}
    return list(found.values())


if __name__ == "__main__":
    for path, table in documents().items():
        path.write_text(with_table(path.read_text(encoding="utf-8"), table), encoding="utf-8")
