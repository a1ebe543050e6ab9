"""PTX as the compiler writes it, and what ptxas says of it."""

from __future__ import annotations

STRAIGHT = (
    ".visible .entry a__gradient(\n\t.param .u64 p\n)\n{\n$L__BB0_1:\n\tbra.uni \t$L__BB0_2;\n$L__BB0_2:\n\tret;\n}\n"
)
OTHER = STRAIGHT.replace("a__gradient", "b__gradient")
PRIMAL = STRAIGHT.replace("a__gradient", "a")
TAPES = "".join(STRAIGHT.replace("a__gradient", name) for name in ("a__tape", "b__tape"))


def said(**kernels: tuple[int, int]) -> str:
    """As `ptxas -v` says it; registers and bytes spilled of each kernel."""
    return "".join(
        f"ptxas info    : Function properties for {name}\n"
        f"    0 bytes stack frame, {spilled} bytes spill stores, 0 bytes spill loads\n"
        f"ptxas info    : Used {used} registers, used 0 barriers\n"
        for name, (used, spilled) in kernels.items()
    )
