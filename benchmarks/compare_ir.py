"""Digests of all IR and PTX that a compiler makes of the kernels, programs and constructs: has a change changed them?

    python -m benchmarks.compare_ir store BEFORE.jsonl --driver TREE
    python -m benchmarks.compare_ir store AFTER.jsonl
    python -m benchmarks.compare_ir compare BEFORE.jsonl AFTER.jsonl

TREE is a checkout of the older commit: its enzyme_driver compiles the sources of this one. What a file holds already is
not compiled again, so that a run can be interrupted, or done in parts by --at-most and --only.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ARCH = "sm_90"
STAGES = {".prepared.ll": "prepared", ".cuda.ll": "cuda", ".ptx": "ptx", ".host.ll": "host"}
"""What is compared, by how its file ends: the IR that Enzyme gets, and what each target ends with."""

_ASSEMBLED = frozenset({"bound-registers", "spill-to-shared"})
"""Left out, as they only repeat ptxas."""

_OF_PLACE = re.compile(r"^(; ModuleID|source_filename|//).*$", re.MULTILINE)
"""Lines that say where a file lies, and which compiler wrote it."""

_OF_PROCESS = re.compile(r'"enzyme_sret"="(\d+)"')
"""Where Enzyme writes an address of its own into the IR."""


@dataclass(frozen=True)
class Unit:
    """One compilation: a name, a file, and what a request says of it."""

    name: str
    path: Path
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def targets(self) -> tuple[str, ...]:
        return ("openmp", "cuda") if self.path.suffix == ".cu" else ("openmp",)


def units() -> Iterator[Unit]:
    """The kernels of the collection, the programs and the constructs, in turn: a part of a run shows something of each.

    A program's entries are compiled at once, but for instances of templates, which have to be named.
    """
    queues = [list(_kernels()), list(_programs()), list(_constructs())]
    while any(queues):
        yield from (queue.pop(0) for queue in queues if queue)


def _kernels() -> Iterator[Unit]:
    from cuda_kernels.suite import CASES

    for case in CASES:
        yield Unit(f"kernels/{case.name}", case.path, {"names": [case.kernel], "activity": dict(case.activity)})


def _programs() -> Iterator[Unit]:
    from programs.table import PROGRAMS

    seen = set()
    for program in PROGRAMS:
        named = [program.entry] if "<" in program.entry else []
        activity = ",".join(f"{name}={kind}" for name, kind in program.activity.items())
        name = ":".join(part for part in (f"programs/{program.file}", *named, activity) if part)
        if name not in seen:
            seen.add(name)
            yield Unit(name, program.path, {"names": named, "activity": dict(program.activity)})


def _constructs() -> Iterator[Unit]:
    from constructs.table import FILES

    for file in FILES:
        options = {"activity": file.activity, "flags": file.flags, "fast_math": file.fast_math, "modes": file.modes}
        yield Unit(f"constructs/{file.name}", file.path, options)
    for name in ("tangents.cu", "tangents.cpp", "second.cu", "second.cpp"):
        yield Unit(f"openmp/{name}", ROOT / "tests" / "openmp" / name, {"modes": ("forward", "second")})


def digests(unit: Unit) -> dict[str, str]:
    """Of each stage, or the message of the error that ends the compilation."""
    from enzyme_driver import pipeline, request
    from enzyme_driver.errors import AdgenError
    from enzyme_driver.settings import Settings

    wanted = request.new(unit.path, targets=unit.targets, archs=[ARCH], **unit.options)
    with tempfile.TemporaryDirectory() as name:
        kept = Path(name) / "kept"
        settings = replace(Settings.from_environment(), keep=kept, disable=_ASSEMBLED, timeout=600.0)
        found = {}
        try:
            pipeline.build(wanted, Path(name) / "made", settings=settings)
        except AdgenError as problem:
            found["error"] = problem.reason
        for path in sorted(kept.rglob("*")):
            stage = next((stage for end, stage in STAGES.items() if path.name.endswith(end)), "")
            if stage:
                text = _neutral(path.read_text(encoding="utf-8"))
                found[f"{stage} ({path.name})"] = hashlib.sha256(text.encode()).hexdigest()[:16]
        return found


def _neutral(text: str) -> str:
    """The text without what differs between two runs, and between two checkouts."""
    from enzyme_driver import resources

    text = _OF_PLACE.sub("", text).replace(str(resources.PACKAGE), "enzyme_driver")
    for address in sorted(set(_OF_PROCESS.findall(text)), key=len, reverse=True):
        text = re.sub(rf"\b{address}\b", "address", text)
    return text


def read(path: Path) -> dict[str, dict[str, Any]]:
    """The rows of a file, by unit; none where it is not there."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {row["unit"]: row for row in map(json.loads, lines)}


def store(path: Path, only: str, at_most: int) -> int:
    """Append what the file lacks; how many units it still lacks then."""
    known = read(path)
    missing = [unit for unit in units() if unit.name not in known and re.search(only, unit.name)]
    for unit in missing[:at_most]:
        start = time.monotonic()
        source = hashlib.sha256(unit.path.read_bytes()).hexdigest()[:16]
        row = {"unit": unit.name, "source": source, "digests": digests(unit)}
        print(f"{unit.name}: {time.monotonic() - start:.1f} s", flush=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    return max(0, len(missing) - at_most)


def compare(before: Path, after: Path) -> int:
    """How many units differ; units that only one file has, or whose source has changed, are counted apart."""
    old, new = read(before), read(after)
    common = [name for name in old if name in new and old[name]["source"] == new[name]["source"]]
    differing = [name for name in common if old[name]["digests"] != new[name]["digests"]]
    for name in differing:
        was, now = old[name]["digests"], new[name]["digests"]
        stages = [stage for stage in {**was, **now} if was.get(stage) != now.get(stage)]
        print(f"{name}: {', '.join(stages)}")
    apart = len(old.keys() | new.keys()) - len(common)
    print(f"{len(common) - len(differing)} of {len(common)} units are the same; {apart} cannot be compared")
    return len(differing)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    commands = parser.add_subparsers(dest="command", required=True)
    storing = commands.add_parser("store")
    storing.add_argument("file", type=Path)
    storing.add_argument("--driver", type=Path, default=ROOT, help="the checkout whose enzyme_driver compiles")
    storing.add_argument("--only", default="", help="a pattern of units")
    storing.add_argument("--at-most", type=int, default=1 << 30, help="units to compile now")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.command == "compare":
        return 1 if compare(options.before, options.after) else 0
    sys.path.insert(0, str(options.driver.resolve()))
    importlib.import_module("enzyme_driver")
    sys.path[:1] = [str(ROOT), str(ROOT / "tests")]  # everything else is of this checkout
    return 1 if store(options.file, options.only, options.at_most) else 0


if __name__ == "__main__":
    sys.exit(main())
