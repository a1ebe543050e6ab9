"""Gradients of random programs; `python -m random_programs` checks them at length, and takes the same numbers."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from random_programs import soak
from random_programs.batch import Ended, Outcome, Patience, each_of, outcomes, trial
from random_programs.grammar import Written
from random_programs.mutations import mutated
from random_programs.on_gpu import narrowest
from random_programs.programs import IDIOMS_FROM, MUTATED_FROM, PRACTICE_FROM, Drawn, program
from random_programs.reduce import smaller
from random_programs.tally import added, cause, recorded

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


def test_counts_of_two_files_add_up(tmp_path: Path) -> None:
    path, other = tmp_path / "soak.json", tmp_path / "other.json"
    recorded(path, "kernels", "cuda", [Outcome(1, "wrong", "x by 1.2e-03"), Outcome(2, "right")])
    recorded(other, "kernels", "cuda", [Outcome(3, "wrong", "x by 3.4e-05"), Outcome(4, "race", "of a store")])
    recorded(other, "functions", "openmp", [Outcome(5, "right")])
    added(path, json.loads(other.read_text("utf-8"))["rows"])
    kernels, functions = json.loads(path.read_text("utf-8"))["rows"]
    assert (kernels["drawn"], kernels["right"], kernels["wrong"], kernels["race"]) == (4, 1, 2, 1)
    assert kernels["causes"] == {"wrong": {"x by #": 2}, "race": {"of a store": 1}}
    assert (functions["drawn"], functions["right"]) == (1, 1)


def test_a_process_that_ends_is_followed_by_one_for_the_rest() -> None:
    """It may say what became of the program with which it ended, or only that it began."""
    runs = []

    def run(first: int, count: int) -> Ended:
        runs.append((first, count))
        bad = {3: "began", 5: "crashed"}
        lines: list[dict[str, object]] = []
        for number in range(first, first + count):
            lines.append({"number": number, "verdict": bad.get(number, "right")})
            if number in bad:
                return Ended(tuple(lines), "failed", "signal")
        return Ended(tuple(lines), "", "")

    found = each_of(run, 1, 7)
    assert [(each.number, each.verdict) for each in found] == [
        *((number, "right") for number in (1, 2)),
        *((3, "crashed"), (4, "right"), (5, "crashed"), (6, "right"), (7, "right")),
    ]
    assert runs == [(1, 7), (4, 4), (6, 2)]


def test_no_process_begins_when_the_time_is_over() -> None:
    assert outcomes("cuda", 1, 1, Path(), Patience(until=time.monotonic() - 1)) == []


def test_what_was_checked_before_the_time_was_over_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = tmp_path / "slow.py"
    said = '{"number": 1, "verdict": "right"}'
    began = '{"number": 2, "verdict": "began"}'
    module.write_text(f"import time\nprint({said!r}, {began!r}, sep='\\n', flush=True)\ntime.sleep(60)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    patience = Patience(until=time.monotonic() + 3)
    found = each_of(lambda *_: trial("slow", [], patience), 1, 2)
    assert found == [Outcome(1, "right")]
    assert time.monotonic() < patience.until + 20


def test_soak_counts_leaves_what_is_not_right_and_ends_in_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def drawn(language: str, first: int, count: int, _folder: Path, patience: Patience) -> list[Outcome]:
        time.sleep(0.05)
        if time.monotonic() > patience.until:
            return []
        word = "wrong" if language == "gpu" else "right"
        return [Outcome(first, word, "y 0: 1.0e-02 apart of 1.0e+00")] + [
            Outcome(first + k, "right") for k in range(1, count)
        ]

    monkeypatch.setattr(soak, "outcomes", drawn)
    record = tmp_path / "soak.json"
    found = soak.Soak(tmp_path, record, gpu_share=0.5, at_once=3, until=time.monotonic() + 1.5)
    found.work(seed=1)
    host, gpu = found.found["openmp", "right"], found.found["cuda", "wrong"]
    assert 0 < gpu < host // 2
    assert len(list(tmp_path.glob("cuda_wrong_*.txt"))) == gpu
    assert sum(each["drawn"] for each in json.loads(record.read_text("utf-8"))["rows"]) == sum(found.found.values())
    assert capsys.readouterr().out.count("wrong: y #: # apart of #") == gpu
    assert [each for each in tmp_path.iterdir() if each.is_dir()] == []


def test_what_is_computed_in_fewer_digits_has_another_tolerance() -> None:
    def of(source: str) -> str:
        return narrowest(Drawn(1, source, "double", 32))

    assert of("y[i] = sin(x[i]);") == "double"
    assert of("y[i] = float(x[i]);") == of("y[i] = __expf(x[i]);") == of("y[i] = turned(x[i]);") == "float"
    assert of("__half h = __float2half((float)x[i]);") == "half"


def test_a_cause_is_the_last_line_without_numbers_and_places() -> None:
    assert (
        cause("Traceback\n  ...\nRefusedError: a/b.cu:12:3: p17 has 3 barriers\n") == "RefusedError:  p# has # barriers"
    )


def test_lines_that_belong_together_stay_together() -> None:
    lines = [
        *("void p1(const double *x, double *y)", "{", "double a = x[0];"),
        *("if (a > 0) a *= 2;", "else a -= 3 * x[1];", "double u = x[2], v = u;", "a = v;", "y[0] = a;", "}"),
    ]
    kernel = Written("\n".join((*lines, "")), "double", None, packed=False)
    for seed in range(200):
        found = [" ".join(each.split()) for each in mutated(kernel, seed).source.splitlines()]
        assert found[found.index("a = v;") - 1].endswith("v = u;"), seed
        (other,) = (at for at, line in enumerate(found) if line.startswith("else"))
        assert found[other - 1].startswith("if (a > 0)"), seed


@pytest.mark.usefixtures("toolchain")
def test_what_is_written_down_in_another_way(tmp_path: Path) -> None:
    found = outcomes("cuda", MUTATED_FROM, AT_ONCE // 2, tmp_path)
    assert [each.verdict for each in found] == ["right"] * (AT_ONCE // 2)


def test_another_way_is_another_text_with_the_same_blocks() -> None:
    pairs = [(program(PRACTICE_FROM + k, cuda=True), program(MUTATED_FROM + k, cuda=True)) for k in range(40)]
    assert all(other.source.count("{") == other.source.count("}") for _, other in pairs)
    bodies = [(one.source.partition("{")[2], other.source.partition("{")[2]) for one, other in pairs]
    assert sum(one != other for one, other in bodies) > len(bodies) // 2


def test_rows_of_threads_step_over_those_of_all_blocks() -> None:
    """Otherwise two threads come to one point, which is a race."""
    rows = [each for k in range(300) if isinstance((each := program(PRACTICE_FROM + k, cuda=True)).block, tuple)]
    strided = [each.source for each in rows if "i += gridDim.x" in each.source]
    assert strided
    assert all("i += gridDim.x * blockDim.x * blockDim.y)" in source for source in strided)


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
def test_two_ways_out_of_a_loop_around_loops(tmp_path: Path) -> None:
    """Enzyme reads a count at a place of which it does not know the number, unless the ways are one before."""
    (found,) = outcomes("cuda", 350, 1, tmp_path)
    assert found.verdict == "right"


def test_a_number_means_the_same_program_always() -> None:
    assert program(7, cuda=True) == program(7, cuda=True)
    assert program(7, cuda=True).source != program(8, cuda=True).source
