"""Hands inputs to the front. What is wrong with an answer, in words; None for an error of a documented class."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import enzyme_driver as adgen
from enzyme_driver.cli import run
from enzyme_driver.errors import AdgenError, CompilerCrashError

INTERNAL = AdgenError.exit_code


def compiled(source: bytes, folder: Path, suffix: str) -> str | None:
    path = folder / f"any{suffix}"
    path.write_bytes(source)
    try:
        adgen.compile(path, cache=False)
    except CompilerCrashError as crash:
        return f"a tool crashed: {crash}"
    except AdgenError as error:
        return None if type(error) is not AdgenError else f"no class of its own: {error}"
    return None


def commanded(words: list[str], folder: Path) -> str | None:
    said = io.StringIO()
    with _in_folder(folder), contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            code = run(words)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else INTERNAL
    return said.getvalue() if code == INTERNAL or "Traceback" in said.getvalue() else None


def loaded(document: object, template: Path, folder: Path) -> str | None:
    """The artifact `template` with another manifest."""
    made = folder / "any.adgen"
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(template, made)
    (made / "manifest.json").write_text(json.dumps(document), encoding="utf-8")
    try:
        module = adgen.load(made)
        repr(module)
        return None if all(repr(entry) and str(entry.signature) for entry in module) else "an entry without a name"
    except AdgenError as error:
        return None if type(error) is not AdgenError else f"no class of its own: {error}"


@contextlib.contextmanager
def _in_folder(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    for name in ("empty.cu", "empty.cpp"):
        (folder / name).write_text("")
    (folder / "folder.adgen").mkdir(exist_ok=True)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
