"""Writes PTX, assembly or an object file from an optimised module, with llvmlite.

Run as a script in a process of its own: an abort in LLVM must not end the user's Python.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

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


def emit(source: Path, output: Path, cpu: str) -> None:
    """Write `output` (.ptx, .s or .o) from LLVM IR for `cpu`."""
    from llvmlite import binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.initialize_native_asmparser()  # for inline assembly on the host
    module = llvm.parse_assembly(source.read_text(encoding="utf-8"))
    target = llvm.Target.from_triple(module.triple)
    # At level 3 the NVPTX back end runs global value numbering, which stops at an assertion of llvmlite's LLVM
    # where two kernels read the same constant table.
    level = 2 if output.suffix == ".ptx" else 3
    if output.suffix == ".ptx":
        # Sums of a loop would move behind its barriers, and all that they are made of would wait in registers.
        llvm.set_option("emit", "-disable-machine-sink")
    asks = output.suffix == ".ptx" and _FIRST_WITH_BULK_REDUCTIONS <= _number(cpu) < _FIRST_WITH_NEWER_PTX
    features = "+ptx81" if asks else ""
    machine = target.create_target_machine(cpu=cpu, features=features, opt=level, reloc="pic", codemodel="default")
    if output.suffix in {".ptx", ".s"}:
        text = machine.emit_assembly(module)
        output.write_text(with_room_for_parameters(text) if output.suffix == ".ptx" else text, encoding="utf-8")
    else:
        output.write_bytes(machine.emit_object(module))


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


if __name__ == "__main__":
    emit(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
