"""How long a newcomer waits: from `pip install` of the wheel to the first gradient, each step apart, nothing cached.

    python -m benchmarks.install dist/adgen-*.whl

Before that what only loads artifacts; afterwards a cold compilation with LLVM out of Python packages beside one with
the system's, in turn, where that is there too, and with `--demo FOLDER`, as root, `make demo` by an ordinary user of a
fresh machine in that folder (`.ci/fresh-machine`), the first time and the second. Writes results/install.json, anew
behind each step; leaves with status 1 where it takes longer than it may.
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
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.compile_time import SOURCE, machine

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "install.json"
README = HERE.parent / "README.md"
EXTRAS = "compile,cuda13"

MOST_SECONDS = 60.0
"""From nothing to the first gradient."""

MOST_SECONDS_PLAIN = 10.0
MOST_BYTES_PLAIN = 15_000_000
"""Of `pip install adgen` without extras, and of what pip fetches for it beside NumPy, which alone has more."""

MOST_SECONDS_DEMO = (90.0, 10.0)
"""Of `make demo`, the first time and the second."""

MOST_RATIO = 1.5
"""Of a cold compilation by an opt with assertions over one by Debian's."""

RUNS = 5

Row = dict[str, object]


@dataclass
class Record:
    """What was measured so far, on disk behind each step: a step that fails does not take the others with it."""

    wheel: Path
    data: dict[str, object] = field(default_factory=dict)
    steps: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.data = {
            "date": dt.datetime.now(dt.UTC).date().isoformat(),
            "machine": {**machine(), "load": round(os.getloadavg()[0], 1)},
            "wheel": {"name": self.wheel.name, "bytes": self.wheel.stat().st_size},
            "steps": self.steps,
        }

    def save(self, **facts: object) -> None:
        self.data.update(facts)
        RESULTS.write_text(json.dumps(self.data, indent=2) + "\n", encoding="utf-8")

    def time(self, name: str, argv: Sequence[str | Path], environment: Mapping[str, str]) -> float:
        """Run a step; seconds of processors say what it takes where others use the machine too."""
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        words = [str(word) for word in argv]
        subprocess.run(words, env=environment, cwd=environment["HOME"], check=True, capture_output=True)  # noqa: S603
        seconds = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        of_processors = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.steps.append({"step": name, "seconds": round(seconds, 2), "cpu_seconds": round(of_processors, 2)})
        self.save()
        print(f"{name}: {seconds:.1f} s", flush=True)
        return seconds


def empty_home(folder: Path) -> dict[str, str]:
    folder.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ADGEN_", "PYTHON"))}
    return {**kept, "HOME": str(folder), "PIP_NO_CACHE_DIR": "1", "ADGEN_TOOLCHAIN": "pypi"}


def plain(record: Record, folder: Path) -> bool:
    """What loads artifacts: how long it takes to install, and what pip fetches; whether that is within bounds."""
    environment = empty_home(folder)
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], env=environment, check=True)  # noqa: S603
    pip: list[str | Path] = [folder / "venv" / "bin" / "python", "-m", "pip"]
    seconds = record.time("pip install adgen", [*pip, "install", "--quiet", record.wheel], environment)
    fetch: list[str | Path] = [*pip, "download", "--quiet", "--dest", folder / "fetched", record.wheel]
    subprocess.run([str(word) for word in fetch], env=environment, check=True, capture_output=True)  # noqa: S603
    bytes_of = {file.name.partition("-")[0]: file.stat().st_size for file in sorted((folder / "fetched").iterdir())}
    beside_numpy = sum(size for name, size in bytes_of.items() if name != "numpy")
    record.save(
        plain={
            "seconds": round(seconds, 2),
            "at_most_seconds": MOST_SECONDS_PLAIN,
            "bytes": sum(bytes_of.values()),
            "bytes_beside_numpy": beside_numpy,
            "at_most_bytes": MOST_BYTES_PLAIN,
            "bytes_of": bytes_of,
        }
    )
    return seconds <= MOST_SECONDS_PLAIN and beside_numpy <= MOST_BYTES_PLAIN


def first_gradient(record: Record, folder: Path) -> tuple[bool, Path]:
    """The steps of the README in an empty home: whether they end in time, and the environment's Python."""
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    if code is None:
        raise SystemExit("README.md has no example")
    environment = empty_home(folder)
    python = folder / "venv" / "bin" / "python"
    copy = folder / SOURCE.relative_to(HERE.parent)  # nothing is imported from here
    copy.parent.mkdir(parents=True)
    shutil.copy(SOURCE, copy)
    wanted = f"{record.wheel}[{EXTRAS}]"
    steps: dict[str, list[str | Path]] = {
        "python -m venv": [sys.executable, "-m", "venv", folder / "venv"],
        f"pip install adgen[{EXTRAS}]": [python, "-m", "pip", "install", "--quiet", wanted],
        "adgen toolchain install": [folder / "venv" / "bin" / "adgen", "toolchain", "install"],
        "the first gradient": [python, "-c", code.group(1)],
    }
    waited = sum(record.time(name, argv, environment) for name, argv in steps.items())
    record.save(to_the_first_gradient={"seconds": round(waited, 1), "at_most": MOST_SECONDS})
    record.time("the second time", [python, "-c", code.group(1)], environment)
    return waited <= MOST_SECONDS, python


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


def demonstrated(folder: Path) -> list[float]:
    """Seconds of `make demo` with an empty home, and of a second one in the same clone."""
    for left in (".cache", ".config", ".local"):
        shutil.rmtree(folder / "home" / "user" / left, ignore_errors=True)
    twice = "date +%s.%N && make demo >&2 && date +%s.%N && make demo >&2 && date +%s.%N"
    argv = [HERE.parent / ".ci" / "fresh-machine", folder, "sh", "-c", twice]
    said = subprocess.check_output(argv, cwd=HERE.parent, text=True)  # noqa: S603, our own script
    begun, between, ended = map(float, said.split())
    return [round(between - begun, 1), round(ended - between, 1)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--without-system", action="store_true", help="do not compare with the system's LLVM")
    parser.add_argument("--demo", type=Path, metavar="FOLDER", help="also time `make demo` on a fresh machine there")
    options = parser.parse_args()
    record = Record(options.wheel.resolve())
    with tempfile.TemporaryDirectory() as name:
        small = plain(record, Path(name) / "plain")
        quick, python = first_gradient(record, Path(name) / "home")
        ratio = None if options.without_system else compared(python, Path(name) / "home")
        record.save(cold_compilation=ratio)
    slow = ratio is not None and float(str(ratio["ratio"])) > MOST_RATIO
    if options.demo:
        seconds = demonstrated(options.demo.resolve())
        record.save(demo={"seconds": seconds, "at_most": MOST_SECONDS_DEMO})
        slow |= any(taken > most for taken, most in zip(seconds, MOST_SECONDS_DEMO, strict=True))
    return int(slow or not (small and quick))


if __name__ == "__main__":
    sys.exit(main())
