"""Sizes of tapes that are known already are not measured again."""

from __future__ import annotations

from enzyme_driver.runtime.backends.caches import KnownSizes


def test_equal_launches_are_measured_once() -> None:
    sizes, asked = KnownSizes(), []

    def measure(value: int) -> int:
        asked.append(value)
        return value

    assert sizes.of(("k", (b"1",)), lambda: measure(8)) == 8
    assert sizes.of(("k", (b"1",)), lambda: measure(16)) == 8
    assert sizes.of(("k", (b"2",)), lambda: measure(16)) == 16
    assert asked == [8, 16]


def test_old_sizes_are_forgotten_before_memory_grows_without_end() -> None:
    sizes = KnownSizes()
    for number in range(10_000):
        sizes.of(number, lambda: 8)
    assert len(sizes._known) <= 4096
