"""Which accesses of a subject's primal and gradient race."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from races.instrumented import build, runtime_library
from races.subjects import Subject

from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import ensure

ROOT = Path(__file__).resolve().parents[2]
SUPPRESSIONS = Path(__file__).with_name("suppressions.txt")
THREADS = 4
SECONDS = 300
_REPORT = re.compile(r"WARNING: ThreadSanitizer: (?P<what>[^\n]*?) \(pid.*?SUMMARY: ThreadSanitizer:[^\n]*", re.DOTALL)


def races(subject: Subject, seed: int, scratch: Path) -> list[str]:
    """ThreadSanitizer's reports, or why the subject did not run. `scratch` is kept from subject to subject."""
    settings = Settings.from_environment()
    tools = scratch / "tools"
    tools.mkdir(parents=True, exist_ok=True)
    folder = scratch / subject.name
    build(subject, folder, settings, tools)
    done = subprocess.run(
        [sys.executable, "-m", "races.trial", folder, subject.name, str(seed)],
        env=os.environ | _environment(runtime_library(ensure(settings).clang)),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    found = [match.group() for match in _REPORT.finditer(done.stderr)]
    if done.returncode and not found:
        found = [f"did not run: {done.stderr}"]
    return found


def _environment(runtime: Path) -> dict[str, str]:
    return {
        "LD_PRELOAD": str(runtime),
        "TSAN_OPTIONS": f"allocator_may_return_null=1 suppressions={SUPPRESSIONS}",
        "OMP_NUM_THREADS": str(THREADS),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests"))),
    }
