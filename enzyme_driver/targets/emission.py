"""An optimised module becomes PTX, assembly or an object file.

PTX is written by llc, or by llvmlite where llc is not beside opt: both write the same, but llc is quicker. Code of the
host is written by clang, which is quicker still, but has no back end for GPUs where it is a Python package.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from enzyme_driver import processor
from enzyme_driver.stages.workspace import Workspace

EMIT = Path(__file__).with_name("emit.py")

_LEVEL = 2
"""At level 3 the NVPTX back end runs global value numbering, which stops at an assertion of llvmlite's LLVM where two
kernels read the same constant table."""
_NO_SINKING = "-disable-machine-sink"
"""Sums of a loop would move behind its barriers, and all that they are made of would wait in registers."""
_NO_WORSE_INDUCTIONS = "-lsr-drop-solution"
"""Loop strength reduction gives each array a pointer of its own, which takes two registers, even where one number
for all takes fewer: the gradient of a gated unit took 40 registers, and takes 28."""
_FIRST_WITH_BULK_REDUCTIONS = 90
_FIRST_WITH_NEWER_PTX = 100
"""Of the architectures whose first version of PTX has bulk reductions; LLVM takes none that is older."""
_ENTRY = re.compile(r"\.entry \w+\((.*?)\)", re.DOTALL)
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.[a-z]+(\d+)\s[^,\[]*(?:\[(\d+)\])?")
_VERSION = re.compile(r"^\.version (\d+)\.(\d+)$", re.MULTILINE)
_FEW_PARAMETERS = 4352
"""Bytes of parameters that a kernel may have before `_MANY_PARAMETERS`, the version of PTX since which it may have
32,764. A struct by value takes them twice in a gradient, with its shadow."""
_MANY_PARAMETERS = (8, 1)


def reduces_in_bulk(arch: str) -> bool:
    """Whether a GPU has the bulk reductions of `adgen-bulk-reduce-atomics`."""
    return _number(arch) >= _FIRST_WITH_BULK_REDUCTIONS


def to_host(source: Path, output: Path, cpu: str, workspace: Workspace) -> None:
    """Write an object file of this machine from LLVM IR for `cpu`."""
    chosen = ("-Xclang", "-target-cpu", "-Xclang", cpu)
    flags = (f"--target={processor.machine().triple}", *chosen, "-O3", "-Xclang", "-disable-llvm-passes", "-fPIC", "-w")
    workspace.must("emit", [workspace.toolchain.clang.path, *flags, "-c", source, "-o", output])


def to_ptx(source: Path, output: Path, arch: str, workspace: Workspace) -> None:
    asks = _FIRST_WITH_BULK_REDUCTIONS <= _number(arch) < _FIRST_WITH_NEWER_PTX
    features, options = ("+ptx81" if asks else ""), (_NO_SINKING, _NO_WORSE_INDUCTIONS)
    llc = workspace.toolchain.llc
    if llc:
        flags = (f"-O{_LEVEL}", f"-mcpu={arch}", f"-mattr={features}", "-relocation-model=pic", "-asm-verbose=false")
        workspace.must("emit", [llc, *flags, *options, source, "-o", output])
    else:
        _by_llvmlite(workspace, source, output, arch, str(_LEVEL), features, *options)
    _make_room_for_parameters(output)


def to_amdgpu(source: Path, output: Path, arch: str, workspace: Workspace) -> None:
    """Write assembly (.s) or an object file (.o) of an AMD GPU, which not every llc knows."""
    _by_llvmlite(workspace, source, output, arch, "3", "")


def _by_llvmlite(workspace: Workspace, *said: str | Path) -> None:
    workspace.must("emit", [sys.executable, "-P", EMIT, *said])


def _make_room_for_parameters(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    more = with_room_for_parameters(text)
    if more != text:
        path.write_text(more, encoding="utf-8")


def with_room_for_parameters(ptx: str) -> str:
    """PTX of a later version, where a kernel has more parameters than its own version allows."""
    version = _VERSION.search(ptx)
    if version is None or tuple(map(int, version.groups())) >= _MANY_PARAMETERS:
        return ptx
    if all(_bytes(entry) <= _FEW_PARAMETERS for entry in _ENTRY.findall(ptx)):
        return ptx
    return _VERSION.sub(".version {}.{}".format(*_MANY_PARAMETERS), ptx, count=1)


def _number(arch: str) -> int:
    return int(re.sub(r"\D", "", arch))


def _bytes(parameters: str) -> int:
    return sum(int(bits) // 8 * int(count or 1) for bits, count in _PARAMETER.findall(parameters))
