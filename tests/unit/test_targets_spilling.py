"""Which kernels ask ptxas for shared memory in place of registers: those of which it knows how much there is."""

from __future__ import annotations

import pytest
from ptxas_support import OTHER, PRIMAL, STRAIGHT

from enzyme_driver.targets.spilling import ASKS, MUCH_SPILLED, to_shared_memory

HEAD = ".version 8.1\n.target sm_90\n.address_size 64\n\n"
MUCH = MUCH_SPILLED + 1


def kernel(directives: str = ".maxntid 64\n", body: str = "") -> str:
    return STRAIGHT.replace(")\n{\n", f")\n{directives}{{\n{body}")


def asks(ptx: str, spilled: int = MUCH, name: str = "a__gradient") -> bool:
    made = to_shared_memory(HEAD + ptx, {name: spilled})
    return ASKS in made


def test_a_kernel_that_spills_much_asks() -> None:
    made = to_shared_memory(HEAD + kernel() + OTHER, {"a__gradient": MUCH, "b__gradient": MUCH})
    first, second = made.split(".visible .entry b__gradient")
    assert f"\n.maxntid 64\n{{\n\t{ASKS}\n$L__BB0_1:" in first
    assert ASKS not in second
    assert made.replace(f"\n\t{ASKS}", "", 1).replace(".version 9.0", ".version 8.1") == HEAD + kernel() + OTHER


def test_one_that_spills_little_does_not() -> None:
    assert not asks(kernel(), MUCH_SPILLED)
    assert to_shared_memory(HEAD + kernel(), {}) == HEAD + kernel()


@pytest.mark.parametrize(
    ("directives", "whole"),
    [
        (".maxntid 64\n", True),
        (".maxntid 8, 8\n", True),
        (".maxntid 4, 4, 4\n.maxnreg 128\n", True),
        (".maxntid 25\n", False),
        (".maxntid 80\n", False),
        (".maxntid 33, 2\n", False),
        ("", False),
        (".maxnreg 128\n", False),
    ],
)
def test_the_largest_block_has_to_be_known_and_to_consist_of_whole_warps(directives: str, whole: bool) -> None:
    """ptxas finds a thread's part by its warp, and has taken memory for the threads that there are."""
    assert asks(kernel(directives)) == whole


@pytest.mark.parametrize(
    "body",
    [
        "\tmov.u32 \t%r1, given;\n",
        "\tmov.u32 \t%r1, %dynamic_smem_size;\n",
        "\tcall.uni (retval0), malloc, (param0);\n",
        "\tsetmaxnreg.inc.sync.aligned.u32 \t128;\n",
        "\tmov.u32 \t%r1, %envreg1;\n",
    ],
)
def test_what_else_needs_shared_memory_or_the_stack_does_not_ask(body: str) -> None:
    declared = ".extern .shared .align 16 .b8 given[];\n"
    assert asks(declared + kernel())
    assert not asks(declared + kernel(body=body))


def test_only_derivatives_ask() -> None:
    assert not asks(kernel().replace("a__gradient", "a"), name="a")
    assert asks(PRIMAL + kernel())


@pytest.mark.parametrize(("had", "has"), [("8.1", "9.0"), ("9.0", "9.0"), ("9.1", "9.1"), ("10.0", "10.0")])
def test_ptx_is_of_a_version_that_has_the_pragma(had: str, has: str) -> None:
    made = to_shared_memory(HEAD.replace("8.1", had) + kernel(), {"a__gradient": MUCH})
    assert made.startswith(f".version {has}\n")
