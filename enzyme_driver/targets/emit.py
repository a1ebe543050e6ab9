"""Writes PTX, assembly or an object file from an optimised module, with llvmlite.

Run as a script in a process of its own: an abort in LLVM must not end the user's Python.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_FIRST_WITH_BULK_REDUCTIONS = 90


def reduces_in_bulk(arch: str) -> bool:
    """Whether a GPU has the bulk reductions of `adgen-bulk-reduce-atomics`."""
    return int(re.sub(r"\D", "", arch)) >= _FIRST_WITH_BULK_REDUCTIONS


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
    features = "+ptx80" if output.suffix == ".ptx" and reduces_in_bulk(cpu) else ""
    machine = target.create_target_machine(cpu=cpu, features=features, opt=level, reloc="pic", codemodel="default")
    if output.suffix in {".ptx", ".s"}:
        output.write_text(machine.emit_assembly(module), encoding="utf-8")
    else:
        output.write_bytes(machine.emit_object(module))


if __name__ == "__main__":
    emit(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
