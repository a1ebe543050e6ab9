"""Runs the collection's kernels and gradients under NVIDIA's compute-sanitizer, and writes what it found as JSON.

    python -m cuda_kernels.sanitizer FOLDER --output benchmarks/results/sanitizer.json

FOLDER is what `python -m cuda_kernels.build_all FOLDER` made. memcheck finds accesses outside of memory, racecheck
finds races in shared memory. Needs compute-sanitizer on PATH, NumPy and CuPy, and no compiler. The exit code is 1 where
something was found, or a kernel was wrong.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from cuda_kernels.gpu_check import about

TOOLS = {"memcheck": r"ERROR SUMMARY: (\d+) error", "racecheck": r"RACECHECK SUMMARY: (\d+) hazard"}
"""With what their summaries say."""


@dataclass(frozen=True)
class Finding:
    """What a tool found; `findings` is None where it did not come to a summary. `right`: all gradients were."""

    tool: str
    findings: int | None
    right: bool
    output: str


def examined(tool: str, folder: Path) -> Finding:
    with tempfile.TemporaryDirectory() as place:
        checks = ["-m", "cuda_kernels.gpu_check", str(folder), "--kernels-only", "--output", f"{place}/checked.json"]
        command = ["compute-sanitizer", "--tool", tool, "--report-api-errors", "no", sys.executable, *checks]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    output = ended.stdout + ended.stderr
    summary = re.search(TOOLS[tool], output)
    return Finding(tool, int(summary[1]) if summary else None, ended.returncode == 0, output[-2000:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    found = [examined(tool, options.folder) for tool in TOOLS]
    written = {**about(), "tools": [asdict(each) for each in found]}
    written["command"] = "python -m cuda_kernels.sanitizer FOLDER"
    options.output.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    for each in found:
        click.echo(f"{each.tool}: {each.findings} findings, gradients {'right' if each.right else 'WRONG'}")
    return 0 if all(each.findings == 0 and each.right for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
