"""What the GPU tests share: array libraries, and an artifact with GPU code written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runtime_support import AXPY, F64, PARTICLE, U32, kernel, pointer, struct

from enzyme_driver.artifact import Contents, Options, Source, write
from enzyme_driver.model import Entry, Signature, TargetEntry

PTX = Path(__file__).parent / "gpu" / "hand.ptx"


class Arrays:
    """The little that the tests need of an array library on the GPU."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.library = pytest.importorskip(name)

    def make(self, data: np.ndarray[Any, Any]) -> Any:  # noqa: ANN401
        if self.name == "torch":
            return self.library.from_numpy(data.copy()).cuda()
        return self.library.asarray(data)

    def host(self, array: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401
        host: np.ndarray[Any, Any] = array.cpu().numpy() if self.name == "torch" else array.get()
        return host

    def synchronize(self) -> None:
        """Wait for all work on the GPU."""
        (self.library.cuda if self.name == "torch" else self.library.cuda.Device()).synchronize()

    def stream(self) -> Any:  # noqa: ANN401
        cuda = self.library.cuda
        return cuda.Stream() if self.name == "torch" else cuda.Stream(non_blocking=True)


def _entry(signature: Signature, **facts: Any) -> Entry:  # noqa: ANN401
    return Entry(signature, {"cuda": TargetEntry(signature.symbol, f"{signature.symbol}_grad", **facts)})


ENTRIES = (
    _entry(AXPY),
    _entry(kernel("weigh", struct("p", PARTICLE, "active"), pointer("out", F64, mode="w"))),
    _entry(kernel("dynamic", pointer("seen", U32, "const", mode="w")), dynamic_shared=True),
    _entry(kernel("hungry", pointer("x", F64)), heap=True),
    _entry(kernel("crashes", pointer("x", F64, "const"))),
)


def artifact_folder(folder: Path, code: dict[str, bytes], *, toolkit: str = "") -> Path:
    """An artifact with a cubin (none that could run where it is empty) and the PTX of each architecture."""
    files: dict[str, bytes | Path] = {}
    for arch, cubin in code.items():
        files |= {f"hand.{arch}.cubin": cubin, f"hand.{arch}.ptx": PTX}
    cuda = {arch: (f"hand.{arch}.cubin", f"hand.{arch}.ptx") for arch in code}
    source = Source("hand.cu", "0" * 64)
    contents = Contents("0.1", source, Options(), ENTRIES, files, cuda=cuda, toolkit=toolkit)
    return write(folder, contents).folder
