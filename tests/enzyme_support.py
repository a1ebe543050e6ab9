"""The pinned Enzyme alone on a file of IR, and what is said there about the fault that the file shows.

A file begins with comments: what is wrong, then `; KEY: VALUE` with the keys

- fault: `wrong` (the function gap, the distance of a derivative from the right one, is not 0), `killed` (gap ends the
  process), `stops TEXT` (Enzyme ends with that text), or `text REGEX` (what Enzyme writes matches);
- workaround: the pass of adgen's that deals with it;
- before, after: passes by which the fault is gone, before and behind Enzyme. Without them the workaround replaces more
  than this file has.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from enzyme_driver.toolchain import Toolchain

OPTIONS = ("-enzyme-mincut-cache=0", "-enable-load-pre=0")
TIMEOUT = 60.0
NEAR = 1e-9
GAP = """
import ctypes, sys
from llvmlite import binding
binding.initialize_native_target()
binding.initialize_native_asmprinter()
module = binding.parse_assembly(open(sys.argv[1], encoding="utf-8").read())
engine = binding.create_mcjit_compiler(module, binding.Target.from_default_triple().create_target_machine(opt=0))
engine.finalize_object()
print(ctypes.CFUNCTYPE(ctypes.c_double)(engine.get_function_address("gap"))())
"""


@dataclass(frozen=True)
class Fault:
    """What a file says of itself."""

    path: Path
    title: str
    kind: str
    detail: str
    workaround: str
    before: str
    after: str


def read(path: Path) -> Fault:
    """The comments at the file's beginning."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("; "):
            break
        lines.append(line.removeprefix("; "))
    keys = dict(line.split(": ", 1) for line in lines if re.match(r"(?:fault|workaround|before|after): ", line))
    kind, _, detail = keys["fault"].partition(" ")
    return Fault(path, lines[0], kind, detail, keys["workaround"], keys.get("before", ""), keys.get("after", ""))


def shows(fault: Fault, toolchain: Toolchain, folder: Path, *, mended: bool) -> bool:
    """Whether the fault is seen; `mended` is with the workaround's passes."""
    source, output = fault.path, folder / "gradient.ll"
    if mended and fault.before:
        source = _passes(fault.before, source, folder / "prepared.ll", toolchain)
    done = _enzyme(source, output, toolchain, folder)
    if fault.kind == "stops":
        return done.returncode != 0 and fault.detail in done.stderr
    assert done.returncode == 0, done.stderr
    if mended and fault.after:
        output = _passes(fault.after, output, folder / "cleaned.ll", toolchain)
    if fault.kind == "text":
        return re.search(fault.detail, output.read_text(encoding="utf-8")) is not None
    ran = subprocess.run(
        [sys.executable, "-c", GAP, output], capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    if fault.kind == "killed":
        return ran.returncode < 0
    assert ran.returncode == 0, ran.stderr
    return not abs(float(ran.stdout)) < NEAR


def _passes(names: str, source: Path, output: Path, toolchain: Toolchain) -> Path:
    words = (f"-load-pass-plugin={toolchain.passes}", f"-passes={names}", "-S", source, "-o", output)
    done = _run([toolchain.opt.path, *words])
    assert done.returncode == 0, done.stderr
    return output


def _enzyme(source: Path, output: Path, toolchain: Toolchain, folder: Path) -> subprocess.CompletedProcess[str]:
    empty = folder / "empty.mlir"
    empty.write_text("module {}\n", encoding="utf-8")
    files = {"ADGEN_WORKER_INPUT": str(source), "ADGEN_WORKER_OUTPUT": str(output)}
    return _run([toolchain.enzyme.path, *OPTIONS, empty, f"--load-pass-plugin={toolchain.worker}"], files)


def _run(command: Sequence[str | Path], more: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **(more or {})}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False)
