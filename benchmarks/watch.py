"""Which gradients became slower: every kernel of the collection, of the examples and of tests/programs on a GPU.

    python -m benchmarks.watch FOLDER                                         compare with results/watch.json
    python -m benchmarks.watch FOLDER --record benchmarks/results/watch.json  write it anew

To be run in a checkout with `tests` on Python's path. FOLDER has what `python -m cuda_kernels.build_all FOLDER` and
`python -m programs.on_gpu build FOLDER/programs` make. A kernel that a benchmark measures has its size here, every
other one the size of its tests. A gradient counts as slower where it takes more than 1.15 times as long as recorded,
and 0.1 ms, and more than 1.15 times as much over its primal, also when measured again; on another GPU than the recorded
one the ratio decides. The exit code is 1 where one is slower or fails.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click
import cupy as cp
from programs.table import GPU_PROGRAMS

import enzyme_driver as adgen
from benchmarks import as_tested, splatting
from benchmarks.as_tested import Refill
from benchmarks.build_ablation import PROGRAMS
from benchmarks.case import Case, Runs
from benchmarks.cases import CASES, examples, more, programs
from benchmarks.measure import device_name, median_ms
from cuda_kernels.suite import by_name

RESULTS = Path(__file__).resolve().parent / "results" / "watch.json"
SLOWER = 1.15
LEAST_MS = 0.1
"""Two launches of the same code may differ by so much: where the tape's size is read back, a gradient waits for the
host, and 0.109 ms on one machine were 0.196 on another with the same GPU."""
PATIENCE = 0.5
"""Seconds for the rounds of a gradient."""
HEAP = 4 << 30
"""Bytes for what gradients allocate on the device; the driver takes no other number once a kernel has run."""
GAUSSIANS, SIDE = 100_000, 800


@dataclass(frozen=True)
class Watched:
    """A kernel with its artifact in the folder; `start` makes of that what is timed."""

    name: str
    artifact: str
    start: Callable[[Path], tuple[Runs, Refill]]


@dataclass(frozen=True)
class Figure:
    """Milliseconds of the GPU's work."""

    case: str
    primal_ms: float
    gradient_ms: float

    def __str__(self) -> str:
        return f"{self.case}: primal {self.primal_ms:.4g} ms, gradient {self.gradient_ms:.4g} ms ({self.ratio:.2f})"

    @property
    def ratio(self) -> float:
        return self.gradient_ms / self.primal_ms

    def slower(self, known: Figure, *, same_device: bool) -> bool:
        longer = self.gradient_ms > SLOWER * known.gradient_ms + LEAST_MS
        return self.ratio > SLOWER * known.ratio and (longer or not same_device)


def watched() -> list[Watched]:
    """All that is watched; what a benchmark has a size for is not measured at the size of its tests, too."""
    sized = [*_benchmarks(), *_examples()]
    measured = {each.artifact for each in sized}
    return [*sized, *(each for each in _tested() if each.artifact not in measured)]


def _benchmarks() -> Iterator[Watched]:
    for case in (*CASES, *more.CASES, *programs.CASES):
        artifact = _artifact(case)
        if artifact and case.size != programs.AS_TESTED:
            kernel = PROGRAMS[case.artifact][1] if artifact.startswith("examples/") else ""
            yield Watched(case.label, artifact, partial(_sized, case, kernel))


def _artifact(case: Case) -> str:
    """Where the builders put it; empty for what only the ablation compiles."""
    if case.artifact in by_name():
        return f"kernels/{case.artifact}"
    file, kernel, *further = PROGRAMS[case.artifact]
    if file.startswith("../../examples/"):
        return f"examples/{Path(file).stem}"
    changed = "".join(f"-{word.replace('=', '-')}" for word in further if "=" in word)
    name = f"{Path(file).stem}-{kernel}{changed}"
    return f"programs/{name}" if name in {program.name for program in GPU_PROGRAMS} else ""


def _examples() -> Iterator[Watched]:
    for case in examples.CASES:
        name = f"{case.artifact}: {case.label}"
        yield Watched(name, f"examples/{case.artifact}", partial(_sized, case, case.name))
    for kernel in ("project", "blend"):
        name = f"splat: {kernel}, {GAUSSIANS} Gaussians, {SIDE}^2"
        yield Watched(name, "examples/splat", partial(_splatting, kernel))


def _sized(case: Case, kernel: str, artifact: Path) -> tuple[Runs, Refill]:
    module = adgen.load(artifact, target="cuda")
    launch = case.launch(module[kernel] if kernel else next(iter(module)))
    return case.runs(launch), launch.refill


def _splatting(kernel: str, artifact: Path) -> tuple[Runs, Refill]:
    primal, gradient, refill = splatting.launches(splatting.loaded("cuda", artifact), GAUSSIANS, SIDE)[kernel]
    return {"primal": primal, "gradient": gradient}, refill


def _tested() -> Iterator[Watched]:
    for name, case in by_name().items():
        yield Watched(name, f"kernels/{name}", partial(as_tested.of_collection, case))
    for program in GPU_PROGRAMS:
        yield Watched(program.name, f"programs/{program.name}", partial(as_tested.of_program, program))


def measure(case: Watched, folder: Path) -> Figure:
    try:
        runs, refill = case.start(folder / case.artifact)
        times = median_ms(runs, refill, PATIENCE)
    finally:
        cp.get_default_memory_pool().free_all_blocks()
    return Figure(case.name, times["primal"].device, times["gradient"].device)


def recorded(file: Path) -> tuple[str, dict[str, Figure]]:
    """The device and its figures by case; none where there is no file."""
    if not file.exists():
        return "", {}
    data = json.loads(file.read_text("utf-8"))
    return data["device"], {row["case"]: Figure(**row) for row in data["cases"]}


def write(file: Path, figures: list[Figure]) -> None:
    about = {"device": device_name(), "date": datetime.now(UTC).date().isoformat()}
    head = json.dumps({**about, "command": "python -m benchmarks.watch FOLDER --record FILE"})[:-1]
    rows = ",\n  ".join(json.dumps(asdict(figure)) for figure in figures)
    file.write_text(f'{head}, "cases": [\n  {rows}\n]}}\n', encoding="utf-8")


def compare(case: Watched, folder: Path, known: Mapping[str, Figure], *, same_device: bool) -> tuple[Figure, bool]:
    """The figure and whether it is slower than the known one; what seems to be is measured again."""
    figure, before = measure(case, folder), known.get(case.name)
    if before and figure.slower(before, same_device=same_device):
        figure = min(figure, measure(case, folder), key=lambda each: each.ratio)
        return figure, figure.slower(before, same_device=same_device)
    return figure, False


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--record", type=Path, help="write what is measured, and compare with nothing")
    parser.add_argument("--against", type=Path, default=RESULTS, help="what it is compared with")
    parser.add_argument("--case", action="append", default=[], help="only cases with this in their name")
    options = parser.parse_args()
    os.environ.setdefault("ADGEN_DEVICE_HEAP", str(HEAP))
    device, known = ("", {}) if options.record else recorded(options.against)
    figures: list[Figure] = []
    wrong: list[str] = []
    for case in watched():
        if options.case and not any(text in case.name for text in options.case):
            continue
        try:
            figure, slower = compare(case, options.folder, known, same_device=device == device_name())
        except Exception as error:  # noqa: BLE001, the others are to be measured as well
            wrong.append(f"{case.name}: FAILED, {type(error).__name__}: {error}")
            continue
        figures.append(figure)
        click.echo(str(figure))
        if slower:
            wrong.append(f"SLOWER: {figure}, was {known[case.name]}")
    new = sum(figure.case not in known for figure in figures)
    click.echo(f"{len(figures)} gradients were measured on {device_name()}, {new} of them not recorded before")
    click.echo("\n".join(wrong))
    if options.record:
        write(options.record, figures)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
