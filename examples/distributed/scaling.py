"""How the time scales with the GPUs: the same work on more of them (strong), as much on each (weak).

All three are measured by turns in the processes of one group, so that clocks, the host and the end of a measurement
are the same: also what one GPU does alone, while the others wait.
"""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import heat
import numpy as np
import processes
import views
from processes import Found, Place, alone

SIZE = 512
"""The edge of the block."""
GAUSSIANS, PICTURE, VIEWS = 100_000, 800, 8
WARM, ROUNDS = 3, 15
Row = dict[str, Any]
Work = Callable[[], object]
Make = Callable[[Place, int], Work]
"""The work of one process among others that is `times` as much as on one device."""


def of_heat(place: Place) -> Found:
    return by_turns(place, lambda among, times: heat.timed(among, times, SIZE))


def of_views(place: Place) -> Found:
    return by_turns(place, lambda among, times: views.timed(among, times, GAUSSIANS, PICTURE, VIEWS))


def by_turns(place: Place, make: Make) -> Found:
    """Seconds of each round."""
    works: dict[str, Work] = {
        "alone": make(alone(place.kind), 1) if place.rank == 0 else lambda: None,
        "strong": make(place, 1),
        "weak": make(place, place.size),
    }
    found: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(WARM + ROUNDS):
        for name, work in works.items():
            place.wait()
            start = time.perf_counter()
            work()
            place.wait()
            found[name].append(time.perf_counter() - start)
    return {name: np.array(seconds[WARM:]) for name, seconds in found.items()}


def row(found: list[Found]) -> Row:
    """Medians over the rounds of the slowest process's time."""
    seconds = {name: float(np.median(np.max([each[name] for each in found], axis=0))) for name in found[0]}
    return {
        "devices": len(found),
        **{f"{name}_seconds": value for name, value in seconds.items()},
        "strong_efficiency": seconds["alone"] / (len(found) * seconds["strong"]),
        "weak_efficiency": seconds["alone"] / seconds["weak"],
    }


def measure(file: Path) -> int:
    import torch

    counts = [count for count in (2, 4, 8) if count <= torch.cuda.device_count()]
    report: Row = {
        "device": torch.cuda.get_device_name(),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "command": f"python examples/distributed/run.py --device cuda --measure {file.name}",
        "versions": {"torch": torch.__version__},
        "rounds": ROUNDS,
        "block": [SIZE] * 3,
        "dtype": "float64",
        "steps": heat.STEPS,
        "rows": [row(processes.run(of_heat, size, "cuda")) for size in counts],
    }
    file.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    report["views"] = {
        "gaussians": GAUSSIANS,
        "pixels": [PICTURE, PICTURE],
        "views": VIEWS,
        "rows": [row(processes.run(of_views, size, "cuda")) for size in counts],
    }
    text = json.dumps(report, indent=2)
    file.write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0
