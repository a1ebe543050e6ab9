"""`adgen pipeline --stats` and `--debug-only`: what the passes have counted, and of what; which changed something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from enzyme_driver import cli, pipeline, request
from enzyme_driver.settings import Settings
from enzyme_driver.stages.inspection import Inspection

SOURCE = """
__global__ void squares(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * x[i];
}
"""

LOG_SUM_EXP = """
#include <algorithm>
#include <cmath>

double log_sum_exp(const double *x, int n)
{
    double top = x[0], sum = 0;
    for (int i = 1; i < n; i++)
        top = std::max(top, x[i]);
    for (int i = 0; i < n; i++)
        sum += std::exp(x[i] - top);
    return top + std::log(sum);
}
"""


def test_passes_count_what_they_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "squares.cu"
    source.write_text(SOURCE, encoding="utf-8")
    words = ["pipeline", str(source), "-t", "cuda", "--stats", "--debug-only", "relax-private-atomics", "--json"]
    assert cli.run(words) == 0
    runs = json.loads(capsys.readouterr().out)
    (count,) = [each for run in runs for each in run["counts"] if each["name"] == "adgen-relax-private-atomics"]
    notes = [note for run in runs for note in run["notes"]]
    if not notes:
        pytest.skip("this LLVM was built without assertions")
    assert count["number"] == len(notes) == 2
    assert sorted("atomicrmw fadd" in note for note in notes) == [False, True]  # the other takes y's cotangent


def test_a_maximum_is_cached(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is a selection, computed again behind its loop: no iteration of the reverse sweep has to do that."""
    source = tmp_path / "log_sum_exp.cpp"
    source.write_text(LOG_SUM_EXP, encoding="utf-8")
    assert cli.run(["pipeline", str(source), "-k", "log_sum_exp", "-t", "openmp", "--stats", "--json"]) == 0
    counts = [each for run in json.loads(capsys.readouterr().out) for each in run["counts"]]
    if not counts:
        pytest.skip("this LLVM was built without assertions")
    assert {"adgen-rematerialize-selections", "adgen-cache-phis"} <= {each["name"] for each in counts}


def test_passes_that_change_something_are_known(tmp_path: Path) -> None:
    source = tmp_path / "squares.cu"
    source.write_text(SOURCE, encoding="utf-8")
    inspection = Inspection(comparing=True)
    wanted = request.new(source, targets=["cuda"], archs=["sm_90"])
    pipeline.inspected(wanted, inspection, settings=Settings.from_environment(), progress=None)
    changed = {name for run in inspection.runs for name in run.changed}
    assert {"adgen-make-bodies", "adgen-relax-private-atomics", "adgen-make-kernels"} <= changed
    assert not {"adgen-lower-tensor-cores", "adgen-strip-mine-recurrences"} & changed


def test_only_passes_can_be_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["pipeline", str(tmp_path / "no.cu"), "--debug-only", "no-such-pass"]) != 0
    assert "there is no pass adgen-no-such-pass" in capsys.readouterr().err
