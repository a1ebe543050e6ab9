"""The GPU code of gradients beside what it was: what became much longer, or adds much more often, needs no GPU to see.

    python -m programs.code FOLDER

writes to `code.json` what is in FOLDER, which `python -m programs.on_gpu build FOLDER` or a part of it made.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from programs.program import FOLDER, Program
from programs.table import GPU_PROGRAMS

from enzyme_driver.artifact import read
from enzyme_driver.cli.figures import figures

RECORDED = FOLDER / "code.json"
GROWN = 1.5
"""How many times as many instructions are a regression."""
FEW = 8
"""So many more are none, however few there were."""


@dataclass(frozen=True)
class Code:
    """Instructions of a gradient in PTX: all, those that add to global memory, those on a thread's own memory."""

    instructions: int
    atomics: int
    local: int

    def __str__(self) -> str:
        return ", ".join(f"{each.name} {getattr(self, each.name)}" for each in fields(self))

    def grown(self, known: Code) -> bool:
        return any(getattr(self, each.name) > GROWN * getattr(known, each.name) + FEW for each in fields(self))


def code_of(folder: Path) -> Code:
    """Of the only kernel of an artifact, without its variants for other blocks."""
    artifact = read(folder)
    (entry,) = artifact.manifest.entries
    (binary,) = artifact.manifest.binaries.cuda.values()
    text = (folder / binary.ptx).read_text("utf-8")
    found = figures(str(entry.targets["cuda"].gradient), text, b"", tape=False)
    return Code(found.instructions, found.additions, found.local)


def recorded() -> dict[str, Code]:
    if not RECORDED.exists():
        return {}
    return {name: Code(*found) for name, found in json.loads(RECORDED.read_text("utf-8")).items()}


def assert_not_grown(program: Program, folder: Path) -> None:
    known, now = recorded().get(program.name), code_of(folder)
    assert known is None or not now.grown(known), f"{program.name}: {now}; it was {known} (python -m programs.code)"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    folders = {program.name: options.folder / program.name for program in GPU_PROGRAMS}
    known = recorded() | {name: code_of(folder) for name, folder in folders.items() if folder.is_dir()}
    found = {name: known[name] for name in folders if name in known}
    rows = ",\n ".join(f"{json.dumps(name)}: {list(asdict(code).values())}" for name, code in found.items())
    RECORDED.write_text(f"{{\n {rows}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
