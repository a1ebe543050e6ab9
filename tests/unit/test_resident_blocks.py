"""How many blocks a GPU is said to run at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from enzyme_driver.runtime.backends import caches

_UNASKED = 48 * 1024


class _Kernel:
    handle = "kernel"
    allowed = _UNASKED

    def allow_dynamic(self, count: int) -> None:
        self.allowed = max(self.allowed, count)


@pytest.mark.parametrize("dynamic", [0, 100_000])
def test_blocks_with_much_shared_memory_are_counted(dynamic: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver says that no block runs with more dynamic shared memory than the kernel was allowed."""
    kernel = _Kernel()

    def blocks(_function: object, _threads: int, count: int) -> tuple[int, int]:
        return 0, 2 if count <= kernel.allowed else 0

    driver = SimpleNamespace(
        cuKernelGetFunction=lambda _handle: (0, "function"), cuOccupancyMaxActiveBlocksPerMultiprocessor=blocks
    )
    monkeypatch.setattr(caches, "api", lambda: driver)
    monkeypatch.setattr(caches, "done", lambda result, *_what: result[1])
    monkeypatch.setattr(caches, "attribute_of", lambda *_asked: 132)
    code: Any = SimpleNamespace(kernel=lambda *_asked: kernel, device=0)
    assert caches.resident_blocks(code, "gradient", 256, dynamic) == 264
