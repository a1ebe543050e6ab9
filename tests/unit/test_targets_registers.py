"""Kernels that take too many registers are assembled again with fewer, unless a loop spills or much is spilled."""

from __future__ import annotations

from enzyme_driver.targets.registers import LIMIT, MOST_SPILLED, MOST_SPILLED_WITH_LOOPS, bounded

STRAIGHT = (
    ".visible .entry a__gradient(\n\t.param .u64 p\n)\n{\n$L__BB0_1:\n\tbra.uni \t$L__BB0_2;\n$L__BB0_2:\n\tret;\n}\n"
)
LOOP = ".visible .entry b__gradient(\n\t.param .u64 p\n)\n{\n$L__BB1_1:\n\t@%p1 bra \t$L__BB1_1;\n\tret;\n}\n"
PRIMAL = STRAIGHT.replace("a__gradient", "a")


def said(**kernels: tuple[int, int]) -> str:
    """As `ptxas -v` says it; registers and bytes spilled of each kernel."""
    return "".join(
        f"ptxas info    : Function properties for {name}\n"
        f"    0 bytes stack frame, {spilled} bytes spill stores, 0 bytes spill loads\n"
        f"ptxas info    : Used {used} registers, used 0 barriers\n"
        for name, (used, spilled) in kernels.items()
    )


def assembled(ptx: str, *reports: str) -> list[str]:
    """What is given to ptxas after the first time, which `reports[0]` is about."""
    given: list[str] = []
    answers = iter(reports[1:])

    def assemble(text: str) -> str:
        given.append(text)
        return next(answers)

    bounded(ptx, reports[0], assemble)
    return given


def test_only_gradients_beyond_the_limit_are_bounded() -> None:
    few = said(a=(255, 0), a__gradient=(LIMIT, 0), b__gradient=(40, 0))
    assert assembled(PRIMAL + STRAIGHT + LOOP, few) == []
    many = said(a=(255, 0), a__gradient=(200, 0), b__gradient=(40, 0))
    limit = f")\n.maxnreg {LIMIT}\n{{"
    bounded_once = PRIMAL + STRAIGHT.replace(")\n{", limit) + LOOP
    assert assembled(PRIMAL + STRAIGHT + LOOP, many, said(a__gradient=(LIMIT, 64))) == [bounded_once]


def test_a_loop_that_spills_keeps_its_registers() -> None:
    many, much = said(a__gradient=(200, 0), b__gradient=(200, 0)), MOST_SPILLED_WITH_LOOPS + 8
    both, one = assembled(STRAIGHT + LOOP, many, said(a__gradient=(128, much), b__gradient=(128, much)), said())
    assert both.count(".maxnreg") == 2
    assert one.count(".maxnreg") == 1
    assert one.endswith(LOOP)
    assert assembled(LOOP, said(b__gradient=(200, 0)), said(b__gradient=(128, much)), said())[-1] == LOOP
    assert len(assembled(LOOP, said(b__gradient=(200, 0)), said(b__gradient=(128, MOST_SPILLED_WITH_LOOPS)))) == 1


def test_what_spills_more_than_its_registers_hold_keeps_them() -> None:
    many = said(a__gradient=(255, 300))
    assert len(assembled(STRAIGHT, many, said(a__gradient=(LIMIT, MOST_SPILLED)))) == 1
    assert assembled(STRAIGHT, many, said(a__gradient=(LIMIT, MOST_SPILLED + 8)), many)[-1] == STRAIGHT
