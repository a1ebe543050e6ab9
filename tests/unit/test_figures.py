"""What is counted in PTX; of registers, the toolchain's tests see whether they are those that ptxas says."""

from __future__ import annotations

from enzyme_driver.cli.figures import Figures, figures, registers

PTX = """
.visible .entry k__gradient(
	.param .u64 k_param_0
)
{
	ld.param.b64 	%rd1, [k_param_0];
	ld.global.nc.v2.b32 	{%r1, %r2}, [%rd1];
	@%p1 ld.volatile.global.b32 	%r3, [%rd1];
	ld.shared.b32 	%r4, [%r9];
	ld.local.b32 	%r4, [%rd2];
	st.global.b32 	[%rd1], %r4;
	st.shared.b32 	[%r9], %r4;
	red.global.add.f32 	[%rd1], %f1;
	atom.shared.add.f32 	%f2, [%r9], %f1;
	ret;
}
.visible .entry other()
{
	ld.global.b32 	%r1, [%rd1];
	ret;
}
"""


def test_instructions_are_counted_by_what_they_do() -> None:
    expected = Figures(registers=0, reads=2, writes=1, additions=1, local=1, instructions=10, tape=True)
    assert figures("k__gradient", PTX, b"no cubin", tape=True) == expected
    assert figures("other", PTX, b"no cubin", tape=False).instructions == 2


def test_what_is_no_cubin_says_nothing_of_registers() -> None:
    assert registers(b"") == {}
