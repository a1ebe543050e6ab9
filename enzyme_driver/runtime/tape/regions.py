"""Memory that arguments share, and where something stands for it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from enzyme_driver.runtime.call.calls import RecordedAccess


@dataclass(frozen=True)
class Region:
    """The memory from `start` to `end`, behind one or more arguments; `array` is one of them."""

    start: int
    end: int
    array: object

    @property
    def size(self) -> int:
        """In bytes."""
        return self.end - self.start


def joined(accesses: Iterable[RecordedAccess]) -> list[Region]:
    """The fewest regions in which no argument reaches from one into another, by ascending address."""
    regions: list[Region] = []
    for access in sorted(accesses, key=lambda access: (access.start, -access.end)):
        if regions and access.start < regions[-1].end:
            last = regions[-1]
            regions[-1] = Region(last.start, max(last.end, access.end), last.array)
        else:
            regions.append(Region(access.start, access.end, access.array))
    return regions


class Places:
    """For each region the address of what stands for it; called with an address inside one, gives the counterpart."""

    def __init__(self, regions: Iterable[Region]) -> None:
        self.regions = tuple(regions)
        self.bases = [region.start for region in self.regions]
        self._starts = [region.start for region in self.regions]

    def __call__(self, address: int) -> int:
        """An address outside all regions, such as that of an empty array, stays as it is."""
        number = bisect_right(self._starts, address) - 1
        if number < 0 or address >= self.regions[number].end:
            return address
        return self.bases[number] + address - self._starts[number]

    def parts(self, start: int, end: int) -> Iterable[tuple[int, int, int]]:
        """For what of this memory is inside regions: offset from `start`, counterpart, bytes."""
        for region, base in zip(self.regions, self.bases, strict=True):
            low, high = max(start, region.start), min(end, region.end)
            if low < high:
                yield low - start, base + low - region.start, high - low
