"""The plots of the report, as SVG."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from benchmarks.report import Compared

KEPT, MISSED = "#1f5fa8", "#c8553d"
COLOURS = ("#1f5fa8", "#c8553d", "#4c9a6a", "#8a6bb1", "#c79a2b", "#5b6770")
MARKED = 40
"""Points of a line from which on they have no marks."""
LEAST_EFFICIENCY = 0.8
"""Of a gradient's parallel efficiency over its primal's."""
Row = dict[str, Any]

mpl.rcParams.update({"svg.hashsalt": "adgen", "svg.fonttype": "none", "font.size": 9})


def ratios(rows: Sequence[Row]) -> Markup:
    """Gradient over primal, a bar a case, with a mark at what was wanted."""
    if not rows:
        return Markup()
    figure, axis = plt.subplots(figsize=(8, 0.8 + 0.32 * len(rows)), layout="constrained")
    places = range(len(rows))
    kept = [row["ratio"] <= row["at_most"] for row in rows]
    axis.barh(places, [row["ratio"] for row in rows], color=[KEPT if each else MISSED for each in kept], height=0.6)
    axis.plot([row["at_most"] for row in rows], places, "k|", ms=12, label="at most")
    axis.set_yticks(places, [f"{row['case']}, {row['size']}" for row in rows])
    axis.invert_yaxis()
    axis.set_xlim(left=0)
    axis.grid(visible=True, axis="x", lw=0.4)
    axis.set_xlabel("gradient time / primal time")
    axis.legend(frameon=False)
    return _svg(figure)


def libraries(cases: Sequence[Compared]) -> Markup:
    """The gradient's time by library, a group of bars a case."""
    if not cases:
        return Markup()
    names = list(dict.fromkeys(name for case in cases for name in case.times))
    figure, axis = plt.subplots(figsize=(8, 0.8 + 0.5 * len(cases)), layout="constrained")
    height = 0.8 / len(names)
    for number, name in enumerate(names):
        shown = [(place, case.times[name]) for place, case in enumerate(cases) if name in case.times]
        places = [place + height * (number - (len(names) - 1) / 2) for place, _ in shown]
        axis.barh(places, [row["gradient_ms"] for _, row in shown], height, color=COLOURS[number], label=name)
    axis.set_yticks(range(len(cases)), [f"{case.case}, {case.size}" for case in cases])
    axis.invert_yaxis()
    axis.set_xscale("log")
    axis.set_xlabel("gradient, ms")
    axis.legend(frameon=False)
    return _svg(figure)


def scaling(rows: Iterable[Row], axis: str, label: str) -> Markup:
    """Times and ratios against the rows' `value`, a colour a case; solid: gradient, dashed: primal."""
    shown: dict[str, list[Row]] = {}
    for row in rows:
        if row["axis"] == axis:
            shown.setdefault(row["case"], []).append(row)
    if not shown:
        return Markup()
    figure, (times, over) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for colour, (case, found) in zip(COLOURS, shown.items(), strict=False):
        points = sorted(found, key=lambda row: float(row["value"]))
        values = [row["value"] for row in points]
        times.plot(values, [row["gradient_ms"] for row in points], "o-", ms=3, color=colour, label=case)
        times.plot(values, [row["primal_ms"] for row in points], "o--", ms=3, color=colour)
        over.plot(values, [row["ratio"] for row in points], "o-", ms=3, color=colour, label=case)
    _finish(times, label, "ms (solid: gradient, dashed: primal)")
    _finish(over, label, "gradient / primal")
    times.set_yscale("log")
    over.set_ylim(bottom=0)
    over.legend(frameon=False)
    return _svg(figure)


def devices(measured: Row) -> Markup:
    """Efficiency on several GPUs, over one: the same work on all (left), as much on each (right)."""
    shown = {
        "heat equation": measured.get("rows", []),
        "splatting over views": measured.get("views", {}).get("rows", []),
    }
    if not any(shown.values()):
        return Markup()
    figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained", sharey=True)
    for axis, way, least in zip(axes, ("strong", "weak"), (0.75, 0.9), strict=True):
        for colour, (case, rows) in zip(COLOURS, shown.items(), strict=False):
            points = [(1, 1.0), *sorted((row["devices"], row[f"{way}_efficiency"]) for row in rows)]
            axis.plot(*zip(*points, strict=True), "o-", ms=4, color=colour, label=case)
        axis.axhline(least, color="black", lw=0.6, ls=":")
        axis.set_xticks(sorted({1, *(row["devices"] for rows in shown.values() for row in rows)}))
        _finish(axis, "GPUs", f"{way} efficiency (dotted: at least)")
    axes[0].set_ylim(0, 1.2)
    axes[0].legend(frameon=False)
    return _svg(figure)


def by_size(rows: Iterable[Row]) -> Markup:
    """Forward (left) and backward (right) against the edge of the matrix; a colour an operator, a line a device."""
    return _pairs(rows, "shape", "edge of the matrix", lambda row, way: row[f"{way}_ms"], "ms")


def speed_up(rows: Iterable[Row]) -> Markup:
    """The same over one thread of the host."""
    rows = list(rows)
    alone = {(row["operator"], row["shape"][0]): row for row in rows if row["device"] == "cpu"}
    known = [row for row in rows if row["device"] != "cpu" and (row["operator"], row["shape"][0]) in alone]

    def over(row: Row, way: str) -> float:
        base = alone[row["operator"], row["shape"][0]]
        return float(base[f"{way}_ms"] / row[f"{way}_ms"])

    return _pairs(known, "shape", "edge of the matrix", over, "times as fast as one thread")


def by_block(rows: Iterable[Row]) -> Markup:
    """Against the threads of a block on the GPU."""
    return _pairs(rows, "threads", "threads of a block", lambda row, way: row[f"{way}_ms"], "ms")


STYLES = {"cpu": "o:", "openmp": "o--", "cuda": "o-"}


def _pairs(rows: Iterable[Row], along: str, label: str, value: Callable[[Row, str], float], up: str) -> Markup:
    shown: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        shown.setdefault((row["operator"], row["device"]), []).append(row)
    if not shown:
        return Markup()
    names = list(dict.fromkeys(name for name, _ in shown))
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
    for axis, way in zip(axes, ("forward", "backward"), strict=True):
        for (name, device), found in shown.items():
            points = sorted((row[along][0] if along == "shape" else row[along], value(row, way)) for row in found)
            colour = COLOURS[names.index(name) % len(COLOURS)]
            axis.plot(*zip(*points, strict=True), STYLES[device], ms=3, color=colour, label=f"{name}, {device}")
        _finish(axis, label, f"{way}, {up}")
        axis.set_yscale("log")
    axes[1].legend(frameon=False, fontsize=6, loc="center left", bbox_to_anchor=(1, 0.5))
    return _svg(figure)


def epochs(rows: Iterable[Row]) -> Markup:
    """The time of an epoch against the number of parameters, a line a place."""
    shown: dict[str, list[Row]] = {}
    for row in rows:
        shown.setdefault(row["where"], []).append(row)
    if not shown:
        return Markup()
    figure, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for colour, (where, found) in zip(COLOURS, shown.items(), strict=False):
        points = sorted((row["parameters"], row["epoch_ms"]) for row in found)
        axis.plot(*zip(*points, strict=True), "o-", ms=3, color=colour, label=where)
    _finish(axis, "parameters", "ms an epoch")
    axis.set_yscale("log")
    axis.legend(frameon=False)
    return _svg(figure)


def speedups(rows: Iterable[Row]) -> Markup:
    """Against the threads: how often faster than with one, and the gradient's gain over the primal's."""
    shown: dict[str, list[Row]] = {}
    for row in rows:
        shown.setdefault(row["case"], []).append(row)
    parallel = {
        case: sorted(found, key=lambda row: int(row["threads"])) for case, found in shown.items() if len(found) > 1
    }
    if not parallel:
        return Markup()
    figure, (faster, over) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    for number, (case, found) in enumerate(parallel.items()):
        colour = COLOURS[number % len(COLOURS)]
        threads = [row["threads"] for row in found]
        gradient, primal = ([found[0][name] / row[name] for row in found] for name in ("gradient_ms", "primal_ms"))
        faster.plot(threads, gradient, "o-", ms=3, color=colour, label=case)
        faster.plot(threads, primal, "o--", ms=3, color=colour)
        efficiency = [ours / theirs for ours, theirs in zip(gradient, primal, strict=True)]
        over.plot(threads, efficiency, "o-", ms=3, color=colour, label=case)
    _finish(faster, "threads", "times as fast (solid: gradient, dashed: primal)")
    _finish(over, "threads", "efficiency of the gradient / of the primal")
    over.axhline(LEAST_EFFICIENCY, color="black", lw=0.8, ls=":")
    over.set_ylim(bottom=0)
    over.legend(frameon=False, fontsize=7)
    return _svg(figure)


def faster(rows: Sequence[Row], along: str, label: str) -> Markup:
    """How many times faster than cuDNN the backward pass and a whole step of training are."""
    if not rows:
        return Markup()
    figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
    for number, (name, what) in enumerate((("backward", "backward pass"), ("training", "step of training"))):
        for suffix, style, said in (("", "o-", "launched"), ("_graph", "s--", "in a CUDA graph")):
            shown = [row for row in rows if row.get(f"cudnn_{name}{suffix}_ms")]
            ratios = [row[f"cudnn_{name}{suffix}_ms"] / row[f"{name}_ms"] for row in shown]
            places = [row[along] for row in shown]
            axis.plot(places, ratios, style, color=COLOURS[number], ms=4, label=f"{what}, cuDNN {said}")
    axis.axhline(1, color="black", lw=0.6)
    axis.set_xscale("log")
    axis.legend(frameon=False)
    _finish(axis, label, "times faster than cuDNN")
    return _svg(figure)


def lines(
    shown: Mapping[str, Sequence[tuple[float, float]]], along: str, up: str, *, logarithmic: tuple[bool, bool]
) -> Markup:
    """A line of points (x, y) for each name; `logarithmic` says which axes are."""
    if not any(shown.values()):
        return Markup()
    figure, axis = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
    for colour, (name, points) in zip(COLOURS, shown.items(), strict=False):
        axis.plot(*zip(*points, strict=True), "o-" if len(points) < MARKED else "-", ms=3, color=colour, label=name)
    _finish(axis, along, up)
    axis.set_xscale("log" if logarithmic[0] else "linear")
    axis.set_yscale("log" if logarithmic[1] else "linear")
    axis.legend(frameon=False)
    return _svg(figure)


def _finish(axis: Axes, along: str, up: str) -> None:
    axis.set_xscale("log")
    axis.set_xlabel(along)
    axis.set_ylabel(up)
    axis.grid(alpha=0.25)


def _svg(figure: Figure) -> Markup:
    """The drawing as an element of a page, without the head of a file."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    return Markup(text.getvalue()[text.getvalue().index("<svg") :])  # noqa: S704, drawn here
