"""Runs the code blocks of a Markdown document in the present folder, and compares what they print with what it says.

    python tests/documents.py DOCUMENT.md

A block of C++ or CUDA whose first line is `// NAME` becomes that file. Blocks of Python share one namespace; a block
of the shell runs in bash. A block of text right behind one of them is what it prints.
"""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = ("python", "sh")
SAVED = ("cuda", "cpp")


@dataclass(frozen=True)
class Block:
    """Code with the line of the document where it begins; `output` is what it prints, None where that is not said."""

    language: str
    text: str
    line: int
    output: str | None = None


def blocks(document: str) -> list[Block]:
    """All blocks that name a language, each with the block of text that follows it."""
    found: list[Block] = []
    for match in _BLOCK.finditer(document):
        language, text = match.groups()
        if language == "text":
            before = found.pop()
            found.append(Block(before.language, before.text, before.line, text))
        else:
            found.append(Block(language, text, document.count("\n", 0, match.start()) + 2))
    return found


def run(document: Path) -> int:
    """The exit code: 1 where a block fails or prints something else."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(document.read_text(encoding="utf-8")):
        if block.language in SAVED:
            name = block.text.partition("\n")[0].removeprefix("//").strip()
            Path(name).write_text(block.text, encoding="utf-8")
            continue
        printed = _shell(block) if block.language == "sh" else _python(block, document, namespace)
        if block.output is not None and printed != block.output:
            sys.stderr.write(f"{document}:{block.line} prints\n{printed}but the document says\n{block.output}")
            return 1
    return 0


def _python(block: Block, document: Path, namespace: dict[str, object]) -> str:
    code = compile("\n" * (block.line - 1) + block.text, str(document), "exec")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)  # noqa: S102, the project's own document
    return printed.getvalue()


def _shell(block: Block) -> str:
    done = subprocess.run(["bash", "-e", "-c", block.text], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1])))
