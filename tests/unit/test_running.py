"""What is said of a compilation that takes long: the tool, and the function that is longest in what it is given."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from enzyme_driver.cli import output
from enzyme_driver.stages.running import Running, in_full, readable

IR = """target triple = "nvptx64-nvidia-cuda"

define void @_Z5shortPf(ptr %x) {
  ret void
}

define internal void @adgen_body__ZN4deep4longEPf(ptr %x) #0 {
  %1 = load float, ptr %x
  store float %1, ptr %x
  ret void
}

define void @adgen_hold_f32_reverse() {
  call void @f()
  call void @f()
  call void @f()
  call void @f()
  call void @f()
  ret void
}
"""
PTX = """.visible .entry _Z4longPf__gradient(
    .param .u64 x
)
{
    ret;
}
.func  (.param .b32 out) helper(
)
{
}
"""


def test_the_longest_function_of_a_module_is_named(tmp_path: Path) -> None:
    module, assembly = tmp_path / "k.sm_90.prepared.ll", tmp_path / "k.ptx"
    module.write_text(IR)
    assembly.write_text(PTX)
    said = in_full("enzyme", [Path("/opt"), module])
    assert said == "Enzyme differentiates deep::long (6 lines) and 1 more"
    assert in_full("ptxas", [assembly]) == "ptxas assembles long (6 lines) and 1 more"
    assert in_full("kernels", [tmp_path / "none.ll"]) == "kernels: opt rewrites the file"


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_Z4axpyIfEvPT_", "axpy"),
        ("adgen_body__ZN2ns3addEf", "ns::add"),
        ("diffeadgen_body__Z3addf", "add"),
        ("__enzyme_autodiff_adgen_body__Z3addf", "add"),
        ("axpy_c", "axpy_c"),
    ],
)
def test_names_are_the_users(symbol: str, name: str) -> None:
    assert readable(symbol) == name


def test_what_runs_is_said_and_later_what_takes_long(tmp_path: Path) -> None:
    module = tmp_path / "k.ll"
    module.write_text(IR)
    said: list[str] = []
    running = Running(said.append, patience=0.02)
    with running.doing("emit", [module]):
        with running.doing("ptxas", []):
            pass
        while len(said) < 4:
            time.sleep(0.005)
    short = "machine code is made of the file"
    assert said[:3] == [short, "ptxas assembles the file", short]
    assert said[3].startswith("machine code is made of deep::long (6 lines) and 1 more (")


def test_a_line_is_written_only_where_it_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr(output, "time", SimpleNamespace(monotonic=lambda: now))
    with output.progress() as progress:
        progress("first")
        assert not capsys.readouterr().err
        now += output.SILENCE
        progress("second")
        progress("third")
    assert capsys.readouterr().err == f"adgen: {output.SILENCE:.0f} s: second\n"


def test_an_interruption_says_what_was_being_done(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        _interrupted()
    assert capsys.readouterr().err == "adgen: 0 s: Enzyme differentiates add\n"


def _interrupted() -> None:
    with output.progress() as progress:
        progress("Enzyme differentiates add")
        raise KeyboardInterrupt
