"""docs/performance.md: its tables come from benchmarks/results, its text from performance.md.j2.

    python -m benchmarks.performance_page [docs/performance.md] [--results benchmarks/results]

A test fails where the committed page is older than the data.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jinja2

from benchmarks import published
from benchmarks.page import HERE, Row, measured_on, read, write
from benchmarks.published import Compared
from benchmarks.report import ablated, compared

PAGE = HERE.parent / "docs" / "performance.md"
GAIN = 1.05
"""From which factor on an optimisation counts as a gain."""
MET = 1.02
"""What a goal may be exceeded by, since runs differ."""


def page(folder: Path) -> str:
    """The document as Markdown."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=False,  # noqa: S701, Markdown from our own data
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["figures"] = figures
    gpu, openmp = read(folder, "gpu.json"), read(folder, "openmp.json")
    compared_with = published.rows(folder)
    ablation = of_recurrences(read(folder, "recurrences.json"))
    ablation += read(folder, "ablation.json") + read(folder, "ablation_elsewhere.json")
    ablation_host = read(folder, "ablation_host.json")
    return environment.get_template("performance.md.j2").render(
        gpu=gpu,
        gpu_where=measured_on(gpu),
        host=by_threads(openmp),
        host_where=measured_on([row for row in openmp if row["device"] == openmp[0]["device"]]),
        frameworks=compared(read(folder, "frameworks.json")),
        largest=largest_effects(ablation),
        largest_on_host=largest_on_host(ablation_host),
        gaining=gaining(ablation, ablation_host),
        compile_time=_object(folder, "compile_time.json"),
        compile_stages=compile_stages(_object(folder, "compile_stages.json")),
        gpu_check=_object(folder, "gpu_check.json"),
        sanitizer=_object(folder, "sanitizer.json"),
        splatting=_object(folder, "splatting.json"),
        field=_object(folder, "radiance_field.json"),
        programs=_object(folder, "programs_on_gpu.json"),
        published=compared_with,
        host_adjoints=_object(folder, "host_adjoints.json"),
        summary=summary(gpu, openmp, compared_with),
    )


def summary(gpu: Iterable[Row], host: Iterable[Row], others: Compared) -> list[dict[str, Any]]:
    """A row for each kind of cases: of costs in parts of their goal how many are within, the median, the worst."""

    def row(what: str, costs: list[tuple[float, float, str]]) -> dict[str, Any]:
        worst, _, of = max(costs)
        within = sum(cost <= MET * goal for cost, goal, _ in costs)
        median = statistics.median(cost for cost, _, _ in costs)
        return {"what": what, "cases": len(costs), "within": within, "median": median, "worst": worst, "of": of}

    def own(rows: Iterable[Row]) -> list[tuple[float, float, str]]:
        return [(each["ratio"], each["at_most"], each["case"]) for each in rows]

    published_ones = [(each.ratio, 4.0, each.kernel) for each in others.applications]
    on_host = [(each.ratio, 1.0, each.kernel) for each in others.by_hand_on_host]
    beside = [
        (each.adgen_ms / (each.forward_ms + 1.2 * each.hand_written_ms), 1.0, each.kernel)
        for each in others.by_hand
        if each.forward_ms is not None and each.hand_written_ms is not None
    ]
    return [
        row("adgen's own kernels on a GPU", own(gpu)),
        row("C++ and kernels on the host, each number of threads", own(host)),
        row("published programs against their forward pass", published_ones),
        row("published kernels against their backward pass by hand", beside),
        row("published C++ against its gradient by hand, one thread", on_host),
    ]


def compile_stages(data: dict[str, Any]) -> dict[str, Any]:
    """With each file's seconds in all, and the goal where nvcc's are known."""
    rows = [
        {
            **row,
            "name": f"{row['program']}, `{row['file']}`",
            "all": sum(row["stages"].values()),
            "goal": None if row["nvcc"] is None else 1.5 * row["nvcc"] + 1,
        }
        for row in data["results"]
    ]
    return {**data, "results": rows}


def by_threads(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The host's cases, each with its ratios from few threads to many."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row["case"], row["size"]), []).append(row)
    return [
        {"case": case, "size": size, "rows": sorted(several, key=lambda row: row["threads"])}
        for (case, size), several in found.items()
    ]


def of_recurrences(rows: Iterable[Row]) -> list[Row]:
    """As rows of an ablation; what is without several optimisations at once is none."""
    return [
        {
            **row,
            "case": row["case"].replace("_", " "),
            "disabled": name,
            "gradient_ms": milliseconds,
            "same_code": False,
        }
        for row in rows
        for name, milliseconds in row["ms"].items()
        if name not in ("primal", "all")
    ]


def largest_effects(rows: Iterable[Row]) -> list[tuple[str, float, str]]:
    """For each optimisation the case that loses most without it, with the factor, the largest first."""
    best: dict[str, tuple[float, str]] = {}
    for each in ablated(rows):
        for name in each.without:
            effect = each.effect(name)
            if effect is not None and effect > best.get(name, (0.0, ""))[0]:
                best[name] = (effect, f"{each.case}, {each.size}")
    return sorted(((name, *effect) for name, effect in best.items()), key=lambda row: -row[1])


def largest_on_host(rows: Iterable[Row]) -> list[Row]:
    """The same of the host's cases, as rows of the data."""
    best: dict[str, Row] = {}
    for row in rows:
        name = row["disabled"]
        if name != "none" and row["ratio"] > best.get(name, {"ratio": 0.0})["ratio"]:
            best[name] = row
    return sorted(best.values(), key=lambda row: -row["ratio"])


def gaining(rows: Iterable[Row], host_rows: Iterable[Row]) -> dict[str, int]:
    """For each optimisation the number of cases, on both targets, that take 5 % longer without it."""
    found: dict[str, set[str]] = {}
    for each in ablated(rows):
        for name in each.without:
            found.setdefault(name, set()).update([each.case] if (each.effect(name) or 0) >= GAIN else [])
    for row in host_rows:
        found.setdefault(row["disabled"], set()).update([f"{row['case']}, host"] if row["ratio"] >= GAIN else [])
    return {name: len(cases) for name, cases in found.items()}


def figures(value: float | None) -> str:
    """Three significant digits, without an exponent."""
    if value is None:
        return "-"
    text = f"{value:.3g}"
    return f"{value:,.0f}" if "e" in text else text


def _object(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / name).read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    sys.argv[1:] = sys.argv[1:] or [str(PAGE)]
    sys.exit(write(page, __doc__))
