"""Kernels that take too many registers are assembled again with fewer, unless much is spilled."""

from __future__ import annotations

import pytest
from ptxas_support import OTHER, PRIMAL, STRAIGHT, TAPES, said

from enzyme_driver.targets.registers import (
    FEW_SPILLED,
    LIMIT,
    LIMIT_IN_BULK,
    MOST_SPILLED,
    MOST_SPILLED_OF_PRODUCTS,
    MOST_SPILLED_WITHOUT_TAPE,
    Assembled,
    bounded,
)
from enzyme_driver.targets.variants import for_other_blocks, with_variants


def bounds(ptx: str, *reports: str) -> tuple[str, list[str]]:
    """What is assembled in the end, and what was tried before; `reports` are about `ptx` and what is tried."""
    tried: list[str] = []
    answers = iter(reports[1:])

    def assemble(text: str) -> str:
        tried.append(text)
        return next(answers)

    made = bounded(ptx, reports[0], assemble)
    assert not list(answers)
    return made.ptx, tried


def test_only_gradients_beyond_the_limit_are_bounded() -> None:
    few = said(a=(255, 0), a__gradient=(LIMIT, 0), b__gradient=(40, 0))
    assert bounds(PRIMAL + STRAIGHT + OTHER, few) == (PRIMAL + STRAIGHT + OTHER, [])
    many = said(a=(255, 0), a__gradient=(200, 0), b__gradient=(40, 0))
    limited = STRAIGHT.replace(")\n{", f")\n.maxnreg {LIMIT}\n{{")
    made, tried = bounds(PRIMAL + STRAIGHT + OTHER, many, said(a__gradient=(LIMIT, 64)))
    assert made == PRIMAL + limited + OTHER
    assert [each.strip() for each in tried] == [limited.strip()], "the others are not assembled again"


@pytest.mark.parametrize(("spilled", "stands"), [(MOST_SPILLED_WITHOUT_TAPE, True), (2000, False)])
def test_what_misses_many_registers_is_tried_by_its_variant(spilled: int, stands: bool) -> None:
    """It keeps them for now: what is assembled then is what is wanted, whatever the variant spills."""
    report = said(a=(40, 0), a__gradient=(255, 0))
    tried: list[str] = []

    def assemble(text: str) -> str:
        tried.append(text)
        return said(a__gradient=(255, 0), a__gradient__block512=(LIMIT, spilled), a__gradient__block1024=(64, 3000))

    def foreseen(made: Assembled) -> str:
        return with_variants(made)[0]

    made = bounded(PRIMAL + STRAIGHT, report, assemble, foreseen)
    assert (made.ptx, made.by_variant) == (PRIMAL + STRAIGHT, frozenset({"a__gradient"} if stands else ()))
    _, blocks = for_other_blocks(made, assemble)
    assert [(each.threads, each.kernel) for each in blocks["a__gradient"]] == [
        *([] if stands else [(256, "a__gradient")]),
        (512, "a__gradient__block512"),
        (1024, "a__gradient__block1024"),
    ]
    assert len(set(tried)) == 1


@pytest.mark.parametrize("used", [222, 255])
def test_what_has_no_variant_is_tried_itself(used: int) -> None:
    own = STRAIGHT.replace(")\n{", ")\n.maxntid 64\n{")
    tried: list[str] = []

    def assemble(text: str) -> str:
        tried.append(text)
        return said(a__gradient=(LIMIT, 0))

    made = bounded(own, said(a__gradient=(used, 0)), assemble, lambda made: with_variants(made)[0])
    assert (made.ptx, made.by_variant) == (own.replace("\n{", f"\n.maxnreg {LIMIT}\n{{"), frozenset())
    assert tried == [made.ptx]


def test_kernels_that_call_functions_are_tried_with_all_others() -> None:
    called = ".func slow(\n)\n{\n\tret;\n}\n"
    many = said(a=(40, 0), a__gradient=(200, 0))
    made, tried = bounds(called + PRIMAL + STRAIGHT, many, said(a__gradient=(LIMIT, 64)))
    assert tried == [made]


def test_functions_that_kernels_call_are_not_taken_for_kernels() -> None:
    called = (
        "ptxas info    : Function properties for slow\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Compiling entry function 'a__gradient' for 'sm_90'\n"
    )
    made, _ = bounds(STRAIGHT, called + said(a__gradient=(242, 0)), called + said(a__gradient=(LIMIT, 64)))
    assert f".maxnreg {LIMIT}\n" in made


def test_what_spills_more_than_its_registers_hold_keeps_them() -> None:
    many, much = said(a__gradient=(255, 300), b__gradient=(200, 0)), MOST_SPILLED + 8
    alone = TAPES + STRAIGHT
    only = said(a__gradient=(255, 300))
    assert f".maxnreg {LIMIT}\n" in bounds(alone, only, said(a__gradient=(LIMIT, MOST_SPILLED)))[0]
    assert bounds(alone, only, said(a__gradient=(LIMIT, much)))[0] == alone
    made, tried = bounds(alone + OTHER, many, said(a__gradient=(LIMIT, much), b__gradient=(LIMIT, 0)))
    assert made == alone + OTHER.replace(")\n{", f")\n.maxnreg {LIMIT}\n{{")
    assert [each.count(".maxnreg") for each in tried] == [2]


def test_what_keeps_nothing_keeps_its_registers_sooner() -> None:
    many, much = said(a__gradient=(255, 40)), MOST_SPILLED_WITHOUT_TAPE + 8
    limit = f".maxnreg {LIMIT}\n"
    assert limit in bounds(TAPES + STRAIGHT, many, said(a__gradient=(LIMIT, much)))[0]
    assert limit in bounds(STRAIGHT, many, said(a__gradient=(LIMIT, MOST_SPILLED_WITHOUT_TAPE)))[0]
    assert bounds(STRAIGHT, many, said(a__gradient=(LIMIT, much)))[0] == STRAIGHT


def test_what_multiplies_on_tensor_cores_keeps_its_registers_sooner() -> None:
    product = STRAIGHT.replace("{\n", "{\nmma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {},{},{},{};\n", 1)
    many, much = said(a__gradient=(255, 40)), MOST_SPILLED_OF_PRODUCTS + 8
    limit = f".maxnreg {LIMIT}\n"
    assert limit in bounds(STRAIGHT, many, said(a__gradient=(LIMIT, much)))[0]
    assert limit in bounds(product, many, said(a__gradient=(LIMIT, MOST_SPILLED_OF_PRODUCTS)))[0]
    assert bounds(product, many, said(a__gradient=(LIMIT, much)))[0] == product


def test_what_spills_much_with_all_registers_is_not_assembled_with_fewer() -> None:
    assert bounds(STRAIGHT, said(a__gradient=(255, MOST_SPILLED + 8))) == (STRAIGHT, [])


@pytest.mark.parametrize(("used", "limit"), [(104, 128), (97, 128), (120, 128), (81, 96), (88, 96)])
def test_kernels_get_the_registers_that_cost_no_warp(used: int, limit: int) -> None:
    made, tried = bounds(STRAIGHT, said(a__gradient=(used, 0)))
    assert f".maxnreg {limit}\n" in made
    assert not tried, "more registers spill no more"


@pytest.mark.parametrize("used", [8, 30, 32, 40, 48, 56, 64, 72, 80, 96, 128])
def test_kernels_that_use_all_of_them_are_left_alone(used: int) -> None:
    assert bounds(STRAIGHT, said(a__gradient=(used, 0))) == (STRAIGHT, [])


def test_kernels_that_reduce_in_bulk_get_fewer_unless_they_spill_much() -> None:
    in_bulk = STRAIGHT.replace(
        "\tret;", "\tcp.reduce.async.bulk.global.shared::cta.bulk_group.add.f64 [a], [b], 64;\n\tret;"
    )
    made, _ = bounds(in_bulk, said(a__gradient=(91, 0)), said(a__gradient=(LIMIT_IN_BULK, 80)))
    assert f".maxnreg {LIMIT_IN_BULK}\n" in made
    much = MOST_SPILLED + 8
    made, tried = bounds(
        in_bulk, said(a__gradient=(200, 0)), said(a__gradient=(LIMIT_IN_BULK, much)), said(a__gradient=(LIMIT, 0))
    )
    assert [f".maxnreg {limit}\n" in text for text, limit in zip(tried, (LIMIT_IN_BULK, LIMIT), strict=True)] == [
        True
    ] * 2
    assert f".maxnreg {LIMIT}\n" in made
    assert bounds(in_bulk, said(a__gradient=(56, 0))) == (in_bulk, [])


@pytest.mark.parametrize("directive", [".maxnreg 64", ".minnctapersm 2"])
def test_what_the_user_has_bounded_is_left_alone(directive: str) -> None:
    own = STRAIGHT.replace(")\n{", f")\n{directive}\n{{")
    assert bounds(own, said(a__gradient=(100, 0))) == (own, [])


def test_a_kernel_with_bounded_blocks_that_spills_gets_what_its_largest_block_leaves() -> None:
    bounded_block = STRAIGHT.replace(")\n{", ")\n.maxntid 64\n{")
    much = 10 * MOST_SPILLED
    made, _ = bounds(bounded_block, said(a__gradient=(32, much)), said(a__gradient=(255, 0)))
    assert ".maxnreg 255\n" in made
    wide = STRAIGHT.replace(")\n{", ")\n.maxntid 32, 32, 1\n{")
    made, _ = bounds(wide, said(a__gradient=(32, much)), said(a__gradient=(64, much - 8)))
    assert ".maxnreg 64\n" in made
    odd = STRAIGHT.replace(")\n{", ")\n.maxntid 900\n{")  # as many as of 1,024 threads are given out
    made, _ = bounds(odd, said(a__gradient=(32, much)), said(a__gradient=(64, 0)))
    assert ".maxnreg 64\n" in made
    assert bounds(wide, said(a__gradient=(64, much))) == (wide, [])
    assert bounds(wide, said(a__gradient=(32, much)), said(a__gradient=(64, much)))[0] == wide


def test_few_spills_of_a_kernel_with_bounded_blocks_are_not_what_its_block_costs() -> None:
    bounded_block = STRAIGHT.replace(")\n{", ")\n.maxntid 64\n{")
    assert f".maxnreg {LIMIT}\n" in bounds(bounded_block, said(a__gradient=(32, 64)))[0]
    wide = STRAIGHT.replace(")\n{", ")\n.maxntid 1024\n{")
    assert ".maxnreg 64\n" in bounds(wide, said(a__gradient=(32, 64)))[0]
    assert bounds(bounded_block, said(a__gradient=(64, FEW_SPILLED))) == (bounded_block, [])


def test_blocks_that_are_to_fit_are_forgotten_where_they_cost_spills() -> None:
    alone = STRAIGHT.replace(")\n{", ")\n.maxntid 256\n{")
    together = alone.replace("\n{", "\n.minnctapersm 8\n{")
    assert bounds(together, said(a__gradient=(32, 0))) == (together, [])
    assert bounds(together, said(a__gradient=(32, 16)), said(a__gradient=(64, 0))) == (alone, [alone])
    limited = alone.replace("\n{", f"\n.maxnreg {LIMIT}\n{{")
    first, second = said(a__gradient=(200, 0)), said(a__gradient=(LIMIT, 0))
    assert bounds(together, said(a__gradient=(32, 16)), first, second) == (limited, [alone, limited])
    few = together.replace("m 8", "m 1")
    assert bounds(few, said(a__gradient=(LIMIT + 4, 0)), said(a__gradient=(96, 0))) == (alone, [alone])
