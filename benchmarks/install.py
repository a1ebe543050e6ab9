"""How long a newcomer waits: from `pip install` of the wheel to the first gradient, each step apart, nothing cached.

    python -m benchmarks.install dist/adgen-*.whl

Afterwards a cold compilation with LLVM out of Python packages beside one with the system's, in turn, where that is
there too. Writes results/install.json; leaves with status 1 where it takes longer than it may.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks.compile_time import SOURCE, machine

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "install.json"
README = HERE.parent / "README.md"
EXTRAS = "compile,cuda13"

MOST_SECONDS = 60.0
"""From nothing to the first gradient."""

MOST_RATIO = 1.5
"""Of a cold compilation by an opt with assertions over one by Debian's."""

RUNS = 5

Row = dict[str, object]


def timed(name: str, argv: Sequence[str | Path], environment: Mapping[str, str], rows: list[Row]) -> None:
    """Run a step; seconds of processors say what it takes where others use the machine too."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    words = [str(word) for word in argv]
    subprocess.run(words, env=environment, cwd=environment["HOME"], check=True, capture_output=True)  # noqa: S603
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    of_processors = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    rows.append({"step": name, "seconds": round(seconds, 2), "cpu_seconds": round(of_processors, 2)})


def first_gradient(wheel: Path, folder: Path) -> tuple[list[Row], Path]:
    """The steps of the README in an empty home, and the environment's Python."""
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    if code is None:
        raise SystemExit("README.md has no example")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ADGEN_", "PYTHON"))}
    environment = {**kept, "HOME": str(folder), "PIP_NO_CACHE_DIR": "1", "ADGEN_TOOLCHAIN": "pypi"}
    python = folder / "venv" / "bin" / "python"
    copy = folder / SOURCE.relative_to(HERE.parent)  # nothing is imported from here
    copy.parent.mkdir(parents=True)
    shutil.copy(SOURCE, copy)
    rows: list[Row] = []
    timed("python -m venv", [sys.executable, "-m", "venv", folder / "venv"], environment, rows)
    install: list[str | Path] = [python, "-m", "pip", "install", "--quiet", f"{wheel}[{EXTRAS}]"]
    timed(f"pip install adgen[{EXTRAS}]", install, environment, rows)
    tools: list[str | Path] = [folder / "venv" / "bin" / "adgen", "toolchain", "install"]
    timed("adgen toolchain install", tools, environment, rows)
    timed("the first gradient", [python, "-c", code.group(1)], environment, rows)
    timed("the second time", [python, "-c", code.group(1)], environment, rows)
    return rows, python


def compared(python: Path, folder: Path) -> dict[str, object]:
    """Seconds of cold compilations by each toolchain, in turn, and the ratio of the medians."""
    seconds: dict[str, list[float]] = {"pypi": [], "system": []}
    for run in range(RUNS + 1):
        for origin, all_seconds in seconds.items():
            home = folder / ".local" / "share" / "adgen" if origin == "pypi" else None
            environment = {**os.environ, "ADGEN_TOOLCHAIN": origin, "ADGEN_CACHE_DIR": str(folder / origin)}
            if home:
                environment["ADGEN_HOME"] = str(home)
            shutil.rmtree(folder / origin / "v1", ignore_errors=True)
            argv = ["-m", "enzyme_driver", "compile", SOURCE, "-t", "openmp", "-t", "cuda", "-o", folder / "out"]
            start = time.perf_counter()
            subprocess.run([str(word) for word in (python, *argv)], env=environment, check=True, capture_output=True)  # noqa: S603
            if run:  # the first finds the tools
                all_seconds.append(round(time.perf_counter() - start, 3))
    ratio = median(seconds["pypi"]) / median(seconds["system"])
    return {"seconds": seconds, "ratio": round(ratio, 3), "at_most": MOST_RATIO}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--without-system", action="store_true", help="do not compare with the system's LLVM")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows, python = first_gradient(options.wheel.resolve(), folder)
        ratio = None if options.without_system else compared(python, folder)
    waited = sum(float(str(row["seconds"])) for row in rows[:-1])
    data = {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "machine": {**machine(), "load": round(os.getloadavg()[0], 1)},
        "wheel": {"name": options.wheel.name, "bytes": options.wheel.stat().st_size},
        "steps": rows,
        "to_the_first_gradient": {"seconds": round(waited, 1), "at_most": MOST_SECONDS},
        "cold_compilation": ratio,
    }
    RESULTS.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(data, indent=2))
    slow = ratio is not None and float(str(ratio["ratio"])) > MOST_RATIO
    return int(waited > MOST_SECONDS or slow)


if __name__ == "__main__":
    sys.exit(main())
