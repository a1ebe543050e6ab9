"""The RUN lines of the `.ll` files in the folders here.

`%opt` is opt with the plugin loaded, `%filecheck` FileCheck, `%not` turns a tool's failure into success, `%s` is the
file, `%S` its folder, and `%inputs` that of modules that several files use. A line that ends in a backslash goes on in
the next RUN line.
"""

from __future__ import annotations

import re
from pathlib import Path

from enzyme_driver.toolchain import Toolchain

HERE = Path(__file__).parent
INPUTS = HERE / "inputs"
FILES = sorted(path for path in HERE.glob("*/*.ll") if path.parent != INPUTS)

_RUN = re.compile(r"^; RUN: (.*)$", re.MULTILINE)


def run_lines(path: Path) -> list[str]:
    joined = "\n".join(_RUN.findall(path.read_text(encoding="utf-8")))
    return joined.replace("\\\n", "").splitlines()


def runnable(line: str, path: Path, tools: Toolchain, filecheck: Path, scratch: Path) -> str:
    words = {
        "%opt": f"'{tools.opt.path}' -load-pass-plugin='{tools.passes}'",
        "%filecheck": f"'{filecheck}'",
        "%not": f"'{filecheck.with_name('not')}'",
        "%S": f"'{path.parent}'",
        "%inputs": f"'{INPUTS}'",
        "%s": f"'{path}'",
        "%t": f"'{scratch}'",
    }
    return re.sub("|".join(rf"{word}\b" for word in words), lambda match: words[match[0]], line)
