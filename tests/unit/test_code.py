"""What the watch over the code of programs counts, and what it calls grown."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from programs import code
from programs.code import Code
from programs.table import GPU_PROGRAMS

PTX = """
.visible .entry f(
	.param .u64 f_param_0
)
{
	ld.param.b64 	%rd1, [f_param_0];
	ret;
}
.visible .entry f__gradient(
	.param .u64 f__gradient_param_0
)
{
	.local .align 8 .b8 	__local_depot0[16];
	.reg .pred 	%p<2>;
	ld.param.b64 	%rd1, [f__gradient_param_0];
	atom.global.add.f32 	%r1, [%rd1], %r2;
	@%p1 red.global.add.f32 	[%rd1], %r2;
	atom.shared.add.f32 	%r1, [%r2], %r2;
$L__BB0_2:
	st.local.b32 	[%rd2], %r1;
	ld.local.v2.b32 	{%r1, %r2}, [%rd2];
	ret;
}
.visible .entry f__gradient__block1024(
)
{
	ret;
}
"""


def test_only_the_gradient_is_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "f.ptx").write_text(PTX)
    entry = SimpleNamespace(targets={"cuda": SimpleNamespace(gradient="f__gradient")})
    binaries = SimpleNamespace(cuda={"sm_90": SimpleNamespace(ptx="f.ptx")})
    manifest = SimpleNamespace(entries=(entry,), binaries=binaries)
    monkeypatch.setattr(code, "read", lambda _: SimpleNamespace(manifest=manifest))
    assert code.code_of(tmp_path) == Code(instructions=7, atomics=2, local=2)


@pytest.mark.parametrize(
    ("now", "grown"),
    [
        (Code(1500, 10, 0), False),
        (Code(1600, 10, 0), True),
        (Code(1000, 24, 0), True),
        (Code(1000, 10, 8), False),
        (Code(1000, 10, 9), True),
        (Code(500, 5, 0), False),
    ],
)
def test_half_as_much_again_is_grown(now: Code, grown: bool) -> None:
    assert now.grown(Code(1000, 10, 0)) == grown


def test_a_program_that_grows_fails_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = GPU_PROGRAMS[0]
    monkeypatch.setattr(code, "code_of", lambda _: Code(10**6, 0, 0))
    with pytest.raises(AssertionError, match="instructions 1000000"):
        code.assert_not_grown(program, tmp_path)


def test_every_program_is_recorded() -> None:
    assert set(code.recorded()) == {program.name for program in GPU_PROGRAMS}
