"""How the time scales with the GPUs: the same work on more of them (strong), as much on each (weak)."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import heat
import processes
import views

SIZE = 16384
"""Rows and columns of the plate: twice as many cells as 512 x 512 x 512."""
GAUSSIANS, PICTURE, VIEWS = 100_000, 800, 8
Row = dict[str, Any]


def rows(seconds: Callable[[int, int], float], counts: list[int]) -> tuple[float, list[Row]]:
    """`seconds(devices, times)` is the time of work that is `times` as much as on one."""
    alone, found = seconds(1, 1), []
    for size in counts:
        strong, weak = seconds(size, 1), seconds(size, size)
        found.append(
            {
                "devices": size,
                "strong_seconds": strong,
                "strong_efficiency": alone / (size * strong),
                "weak_seconds": weak,
                "weak_efficiency": alone / weak,
            }
        )
    return alone, found


def of_heat(size: int, times: int) -> float:
    return _largest(processes.run(heat.timed, size, "cuda", SIZE * times // size, SIZE))


def of_views(size: int, times: int) -> float:
    return _largest(processes.run(views.timed, size, "cuda", GAUSSIANS, PICTURE, VIEWS * times))


def _largest(found: list[processes.Found]) -> float:
    return max(float(each["seconds"]) for each in found)


def measure(file: Path) -> int:
    import torch

    counts = [count for count in (2, 4, 8) if count <= torch.cuda.device_count()]
    alone, scaled = rows(of_heat, counts)
    report: Row = {
        "device": torch.cuda.get_device_name(),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "command": f"python examples/distributed/run.py --device cuda --measure {file.name}",
        "versions": {"torch": torch.__version__},
        "plate": [SIZE, SIZE],
        "dtype": "float64",
        "steps": heat.STEPS,
        "seconds_on_one": alone,
        "rows": scaled,
    }
    file.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    alone, scaled = rows(of_views, counts)
    report["views"] = {
        "gaussians": GAUSSIANS,
        "pixels": [PICTURE, PICTURE],
        "views": VIEWS,
        "seconds_on_one": alone,
        "rows": scaled,
    }
    file.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(report))
    return 0
