"""clang's own CUDA headers, compiled once: they are most of what clang reads for a small file."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from enzyme_driver.stages.workspace import Workspace

CUDA_PRELUDE = Path(__file__).with_name("prelude.cuh")
"""Read before every CUDA file, behind clang's own headers."""

_READ_BY_IT = sorted(CUDA_PRELUDE.with_name("headers").glob("adgen_*.h"))

MOST = 8
"""How many are kept, of some 10 MB each; one for each GPU and each set of flags."""

_WITHOUT_EFFECT_ON_SEARCH = re.compile(r"-(O\w*|g[\w-]*|w|std=.*|[fm][\w-].*|W(?![pal],).*)")


def compiled_headers(workspace: Workspace, flags: Sequence[str | Path], users: Sequence[str]) -> Path | None:
    """The prelude and what clang reads before it, compiled with these flags: what `-include-pch` takes.

    None where one of the user's flags could decide which headers are read or what is in them, where there is no
    place to keep the file, and where clang does not make it.
    """
    if not all(map(_WITHOUT_EFFECT_ON_SEARCH.fullmatch, users)):
        return None
    clang = workspace.toolchain.clang
    command = [str(word) for word in (clang.path, *flags, "-S", "-emit-llvm", "-Xclang", "-emit-pch", CUDA_PRELUDE)]
    ours = b"".join(file.read_bytes() for file in (CUDA_PRELUDE, *_READ_BY_IT))
    about = "\n".join([clang.version, *command]).encode() + ours
    known = workspace.settings.home / "headers" / f"{hashlib.sha256(about).hexdigest()[:16]}.pch"
    if not known.is_file():
        with suppress(OSError):
            return _made(workspace, command, known)
        return None
    with suppress(OSError):  # the folder may be somebody else's
        # the files that have waited longest are removed first; what was compiled behind this one knows when it was made
        os.utime(known, ns=(time.time_ns(), known.stat().st_mtime_ns))
    return known


def _made(workspace: Workspace, command: Sequence[str], known: Path) -> Path | None:
    known.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=known.parent, prefix=".making-") as scratch:
        fresh = Path(scratch) / known.name
        if not workspace.execute("clang", [*command, "-o", fresh]).ok:
            return None
        with suppress(FileExistsError):  # somebody made it meanwhile, and may have compiled code behind it
            os.link(fresh, known)
    for old in sorted(known.parent.glob("*.pch"), key=_last_used, reverse=True)[MOST:]:
        old.unlink(missing_ok=True)
    return known


def _last_used(file: Path) -> float:
    try:
        return file.stat().st_atime
    except FileNotFoundError:
        return 0.0
