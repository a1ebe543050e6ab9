"""Writes PTX, assembly or an object file for a GPU from an optimised module, with llvmlite.

Run as a script in a process of its own: an abort in LLVM must not end the user's Python. It needs nothing of adgen.
"""

from __future__ import annotations

import sys
from pathlib import Path


def emit(source: Path, output: Path, arch: str, level: int, features: str, *options: str) -> None:
    """Write `output` (.ptx, .s or .o) from LLVM IR for `arch`."""
    from llvmlite import binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly(source.read_text(encoding="utf-8"))
    target = llvm.Target.from_triple(module.triple)
    for option in options:
        llvm.set_option("emit", option)
    machine = target.create_target_machine(cpu=arch, features=features, opt=level, reloc="pic", codemodel="default")
    if output.suffix == ".o":
        output.write_bytes(machine.emit_object(module))
    else:
        output.write_text(machine.emit_assembly(module), encoding="utf-8")


if __name__ == "__main__":
    emit(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), *sys.argv[5:])
