"""Kernels have variants for blocks that their registers do not allow, and for those that need less shared memory."""

from __future__ import annotations

import pytest
from ptxas_support import OTHER, PRIMAL, STRAIGHT, said

from enzyme_driver.model import BlockVariant
from enzyme_driver.targets.registers import Assembled
from enzyme_driver.targets.variants import (
    LITTLE_SPILLED,
    LONGEST,
    NEXT_TO_NOTHING_SPILLED,
    for_other_blocks,
    threads_with,
)

IN_BULK = STRAIGHT.replace("\n{\n", "\n{\n\t.shared .align 16 .b8 adgen_exchange_a_$_records112[28672];\n")


def variants(ptx: str, **kernels: tuple[int, int]) -> tuple[dict[str, tuple[BlockVariant, ...]], list[str]]:
    given: list[str] = []

    def assemble(text: str) -> str:
        given.append(text)
        return ""

    text, found = for_other_blocks(Assembled(ptx, said(**kernels)), assemble)
    assert text == (given or [ptx])[-1]
    return found, given


def test_variants_are_made_for_the_blocks_that_do_not_fit() -> None:
    found, (given,) = variants(PRIMAL + STRAIGHT + OTHER, a=(255, 0), a__gradient=(255, 0), b__gradient=(72, 0))
    assert found == {
        "a__gradient": (
            BlockVariant(256, "a__gradient"),
            BlockVariant(512, "a__gradient__block512"),
            BlockVariant(1024, "a__gradient__block1024"),
        ),
        "b__gradient": (BlockVariant(896, "b__gradient"), BlockVariant(1024, "b__gradient__block1024")),
    }
    assert given.startswith(PRIMAL + STRAIGHT + OTHER)
    for name, registers in (("a__gradient__block512", 128), ("b__gradient__block1024", 64)):
        assert f"\n.visible .entry {name}(\n\t.param .u64 p\n)\n.maxnreg {registers}\n{{\n$L__BB0_1:" in given


@pytest.mark.parametrize(
    ("spilled", "sizes"),
    [
        (NEXT_TO_NOTHING_SPILLED + 1, [384, 512, 768, 1024]),
        (LITTLE_SPILLED, [384, 512, 768, 1024]),
        (LITTLE_SPILLED + 1, [768, 1024]),
    ],
)
def test_a_variant_that_spills_little_is_taken_where_two_blocks_fit(spilled: int, sizes: list[int]) -> None:
    own, larger = "a__gradient", "a__gradient__block1024"
    report = said(a__gradient=(80, 0), a__gradient__block1024=(64, spilled))
    _, found = for_other_blocks(Assembled(STRAIGHT, said(a__gradient=(80, 0))), lambda _: report)
    kernels = {384: own, 512: larger, 768: own, 1024: larger}
    assert found == {own: tuple(BlockVariant(size, kernels[size]) for size in sizes)}


@pytest.mark.parametrize(
    ("spilled", "taken"),
    [((NEXT_TO_NOTHING_SPILLED, LITTLE_SPILLED + 1), [512, 1024]), ((900, NEXT_TO_NOTHING_SPILLED), [1024])],
)
def test_a_variant_that_spills_next_to_nothing_is_taken_for_all_blocks(
    spilled: tuple[int, int], taken: list[int]
) -> None:
    report = said(a__gradient__block512=(128, spilled[0]), a__gradient__block1024=(64, spilled[1]))
    _, found = for_other_blocks(Assembled(STRAIGHT, said(a__gradient=(255, 0))), lambda _: report)
    assert found == {"a__gradient": tuple(BlockVariant(each, f"a__gradient__block{each}") for each in taken)}


def test_a_variant_has_its_own_bound_alone() -> None:
    limited = STRAIGHT.replace(")\n{", ")\n.maxnreg 128\n{")
    _, (given,) = variants(limited, a__gradient=(128, 0))
    assert given.count(".maxnreg") == 2
    assert given.count(".maxnreg 64") == 1


def test_no_variants_of_what_fits_or_says_how_large_its_blocks_are() -> None:
    assert variants(STRAIGHT, a__gradient=(64, 0)) == ({}, [])
    assert variants(STRAIGHT.replace(")\n{", ")\n.maxntid 256\n{"), a__gradient=(255, 0)) == ({}, [])
    long = STRAIGHT.replace("\tret;\n", "\tret;\n" * LONGEST)
    assert variants(long, a__gradient=(255, 0)) == ({}, [])


@pytest.mark.parametrize(
    ("registers", "threads"),
    [(16, 1024), (64, 1024), (65, 896), (80, 768), (96, 640), (128, 512), (168, 384), (255, 256)],
)
def test_the_largest_block_follows_from_the_registers(registers: int, threads: int) -> None:
    assert threads_with(registers) == threads


def test_smaller_blocks_take_the_room_that_they_need() -> None:
    found, (given,) = variants(IN_BULK, a__gradient=(64, 0))
    assert found == {
        "a__gradient": (
            BlockVariant(32, "a__gradient__block32"),
            BlockVariant(64, "a__gradient__block64"),
            BlockVariant(128, "a__gradient__block128"),
            BlockVariant(1024, "a__gradient"),
        )
    }
    assert given.startswith(IN_BULK)
    for threads in (32, 64, 128):
        assert f".entry a__gradient__block{threads}(\n\t.param .u64 p\n)\n.maxnreg 96\n{{\n\t.shared" in given
        assert given.count(f"adgen_exchange_a_$_records112[{112 * threads}];") == 1


def test_no_smaller_room_than_there_is() -> None:
    found, _ = variants(IN_BULK.replace("28672", str(64 * 112)), a__gradient=(64, 0))
    assert [each.threads for each in found["a__gradient"]] == [32, 1024]
    assert variants(IN_BULK.replace("_$_records112", ""), a__gradient=(64, 0)) == ({}, [])
