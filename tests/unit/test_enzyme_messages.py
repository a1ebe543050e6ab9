"""Enzyme's messages in the user's words. The texts are those of Enzyme 0.0.238."""

from __future__ import annotations

from pathlib import Path

import pytest

from enzyme_driver.errors import Location
from enzyme_driver.stages import enzyme_messages


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Enzyme: Cannot deduce type of copy   call void @llvm.memcpy.p0.p0.i64(", "a copy of memory whose type"),
        ("in function f void (ptr): Enzyme: <analysis>", "memory that holds a number at one time and an address"),
        ("Enzyme: Cannot deduce type of load %5 = load i64, ptr %3", "a value whose type cannot be seen"),
        (
            "define void @f()\n\ncannot handle (reverse) unknown intrinsic\nllvm.nvvm.shfl.sync.down.f32\n",
            "no derivative rule (llvm.nvvm.shfl.sync.down.f32)",
        ),
        ("cannot handle (reverse) unknown intrinsic\nllvm.smax.i32\n", "bits of floating point (smax)"),
        (
            "Enzyme: No augmented forward pass found for _Z5outerPKfi(outer(float const*, int))\n at context:  %call",
            "a function whose body is not in this file (outer(float const*, int))",
        ),
        ("No augmented forward pass found for adgen_hidden_bits_rounded_f32", "on the bits of floating point"),
        ("No augmented forward pass found for _setjmp", "a jump out of functions (setjmp)"),
        ("No reverse pass found for cblas_ddot", "a function whose body is not in this file (cblas_ddot)"),
        ("Error: cannot compute with global variable that doesn't have marked shadow global", "has no shadow"),
        (
            "Enzyme: ; Function Attrs\ncannot handle unknown binary operator:   %and = and i32 %4, 15",
            "integer arithmetic on the bits of floating point (and)",
        ),
        ("in function f\n Active atomic inst not yet handled", "a change of floating point by atomics"),
        (
            "Enzyme: could not statically determine size of realloc   %call = tail call ptr @realloc(",
            "grows by realloc",
        ),
        ("SIGABRT: LLVM ERROR: Performed illegal updateAnalysis", "both as integers and as floating"),
        ("Illegal updateAnalysis prev:{[-1]:Integer} new: {[-1]:Float@float}", "both as integers and as floating"),
        (
            "in Mode: ReverseModeCombined\ncannot handle unknown instruction\n  %4 = fence",
            "an instruction without a derivative",
        ),
    ],
)
def test_known_messages(said: str, reason: str) -> None:
    message = enzyme_messages.translate(f"enzyme-error: {said}\n")
    assert message.reason.startswith("Enzyme cannot differentiate ")
    assert reason in message.reason
    assert message.hint


def test_what_is_known_of_crashes() -> None:
    said = "catalyst was ended by SIGABRT: LLVM ERROR: function failed verification (4)"
    assert enzyme_messages.is_known(said)
    assert "this nest of loops and branches" in enzyme_messages.translate(said).reason
    said = "GradientUtils.cpp:563: getOrInsertConditionalIndex(): Assertion `red->getType() == PN->getType()' failed."
    assert enzyme_messages.is_known(said)
    assert "a choice between vectors of numbers" in enzyme_messages.translate(said).reason
    said = 'ScalarEvolution.cpp:716: CompareSCEVComplexity(): Assertion `DT.dominates(RHead, LHead) && "No dominance '
    assert "a sort by merging" in enzyme_messages.translate(said + "between recurrences used by one SCEV?\"'").reason
    assert not enzyme_messages.is_known("catalyst was ended by SIGSEGV")


def test_a_log_says_more_than_the_last_words_of_a_crash(tmp_path: Path) -> None:
    said = "catalyst was ended by SIGABRT: LLVM ERROR: function failed verification (4)"
    log = tmp_path / "enzyme.log"
    log.write_text("atomic memory access' operand must have a power-of-two size\n x86_fp80  %1 = atomicrmw fadd\n")
    assert "a long double that all threads of a team share" in enzyme_messages.translate_crash(said, log).reason
    assert "this nest of loops" in enzyme_messages.translate_crash(said, tmp_path / "none.log").reason


def test_the_place_in_the_users_file() -> None:
    message = enzyme_messages.translate("enzyme-error: /home/u/k.cu:12:7: in function f: Cannot deduce type of copy\n")
    assert message.location == Location("/home/u/k.cu", 12, 7)


def test_a_place_in_a_path_with_spaces() -> None:
    message = enzyme_messages.translate("enzyme-error: /my files/k.cu:12:7: in function f: something\n")
    assert message.location == Location("/my files/k.cu", 12, 7)


def test_without_debug_information_there_is_no_place() -> None:
    said = "enzyme-error: <unknown>:0:0: in function preprocess_f void (ptr): Enzyme: Cannot deduce type of copy\n"
    assert enzyme_messages.translate(said).location is None


def test_warnings_before_the_error_do_not_count() -> None:
    said = "warning: /home/u/other.h:1:1: slow\nenzyme-error: /home/u/k.cu:2:3: something new\n"
    message = enzyme_messages.translate(said)
    assert message.location == Location("/home/u/k.cu", 2, 3)
    assert "something new" in message.reason
    assert "full output" in message.hint


@pytest.mark.parametrize("said", ["", "\n", "Killed\n"])
def test_anything_is_a_message(said: str) -> None:
    message = enzyme_messages.translate(said)
    assert message.reason.startswith("Enzyme cannot differentiate this: ")
    assert message.location is None
