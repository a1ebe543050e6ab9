"""Gradients of random programs; `python -m random_programs` checks them at length, and takes the same numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from random_programs.batch import Outcome, outcomes
from random_programs.programs import IDIOMS_FROM, MUTATED_FROM, PRACTICE_FROM, program
from random_programs.reduce import smaller
from random_programs.tally import cause, recorded

AT_ONCE = 12


FOUND = (
    ("cuda", 101),  # a region of a block that another one led into stopped the compiler
    ("cuda", 105),  # memory for a loop that did not run, inside one of unknown length, ended the process
    ("cuda", 12),
    ("cuda", 607),  # shared memory was read again for a value that a loop hands to its next iteration
    ("cuda", 1213),  # what changes between two loops was kept once, in a kernel with a loop of unknown length
    ("cuda", 345),  # what fills a local array again in the reverse sweep was no valid code
    ("cuda", 977),  # the same
    ("cuda", 1197),  # a loop behind two conditions at once, which had memory for 2^32 iterations when it did not run
    ("cuda", 100043),  # a pointer to one of two local variables, one of which is never read
    ("cpp", 208),  # four ways to one place, which became three: conditions were evaluated that had no values
    ("cpp", 3),  # chunks handed on from round to round: invalid code from Enzyme
)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("language", ["cuda", "cpp"])
@pytest.mark.parametrize("first", [0, IDIOMS_FROM])
def test_gradients(language: str, first: int, tmp_path: Path) -> None:
    found = outcomes(language, first, AT_ONCE, tmp_path)
    assert len(found) == AT_ONCE
    assert [outcome for outcome in found if outcome.bad] == []


@pytest.mark.usefixtures("toolchain")
def test_practice(tmp_path: Path) -> None:
    """What people write; `wrong`, `crashed` and `refused` are defects alike."""
    found = outcomes("cuda", PRACTICE_FROM, AT_ONCE, tmp_path)
    assert [(each.number, each.verdict) for each in found] == [(PRACTICE_FROM + k, "right") for k in range(AT_ONCE)]


@pytest.mark.usefixtures("toolchain")
def test_practice_in_cpp(tmp_path: Path) -> None:
    found = outcomes("cpp", PRACTICE_FROM, 4, tmp_path)
    assert [each.verdict for each in found] == ["right"] * 4


def test_counts_accumulate(tmp_path: Path) -> None:
    path = tmp_path / "soak.json"
    recorded(path, "kernels", "openmp", [Outcome(1, "right"), Outcome(2, "wrong", "x by 1.2e-03: k.cu:12")])
    recorded(path, "kernels", "openmp", [Outcome(3, "wrong", "x by 4.5e+01: k.cu:7"), Outcome(4, "hung")])
    recorded(path, "functions", "openmp", [Outcome(1, "right")])
    kernels, functions = json.loads(path.read_text("utf-8"))["rows"]
    assert (kernels["drawn"], kernels["right"], kernels["wrong"], kernels["hung"]) == (4, 1, 2, 1)
    assert kernels["causes"] == {"wrong": {"x by #:": 2}, "hung": {"": 1}}
    assert (functions["drawn"], functions["right"], functions["causes"]) == (1, 1, {})


def test_a_cause_is_the_last_line_without_numbers_and_places() -> None:
    assert (
        cause("Traceback\n  ...\nRefusedError: a/b.cu:12:3: p17 has 3 barriers\n") == "RefusedError:  p# has # barriers"
    )


@pytest.mark.usefixtures("toolchain")
def test_what_is_written_down_in_another_way(tmp_path: Path) -> None:
    found = outcomes("cuda", MUTATED_FROM, AT_ONCE // 2, tmp_path)
    assert [each.verdict for each in found] == ["right"] * (AT_ONCE // 2)


def test_another_way_is_another_text_with_the_same_blocks() -> None:
    pairs = [(program(PRACTICE_FROM + k, cuda=True), program(MUTATED_FROM + k, cuda=True)) for k in range(40)]
    assert all(other.source.count("{") == other.source.count("}") for _, other in pairs)
    bodies = [(one.source.partition("{")[2], other.source.partition("{")[2]) for one, other in pairs]
    assert sum(one != other for one, other in bodies) > len(bodies) // 2


def test_reducing_leaves_out_blocks_and_lines() -> None:
    lines = ["head", "{", "    a;", "    while (b) {", "        c;", "    }", "}"]
    assert ["head", "{", "    a;", "}"] in list(smaller(lines))
    assert ["head", "{", "    a;", "        c;", "}"] in list(smaller(lines))
    assert all(each[:2] == lines[:2] and each[-1] == "}" for each in smaller(lines))


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize(("language", "number"), FOUND)
def test_what_was_found(language: str, number: int, tmp_path: Path) -> None:
    assert [outcome.verdict for outcome in outcomes(language, number, 1, tmp_path)] == ["right"]


@pytest.mark.usefixtures("toolchain")
def test_what_is_refused_by_caution(tmp_path: Path) -> None:
    """Two ways out of a loop around loops: Enzyme reads a count at a place of which it does not know the number."""
    (found,) = outcomes("cuda", 350, 1, tmp_path)
    assert found.verdict == "refused"
    assert "a value that was not kept before it" in found.why


def test_a_number_means_the_same_program_always() -> None:
    assert program(7, cuda=True) == program(7, cuda=True)
    assert program(7, cuda=True).source != program(8, cuda=True).source
