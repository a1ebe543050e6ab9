"""What verifying costs: compilation, the first gradient with and without it, and those after it, over the collection.

    python -m benchmarks.first_call [NAME ...]

Each kernel of cuda_kernels is compiled twice for the host, without the cache, and its gradient is called, once with
`verify="first"` and once with `verify="never"`, each in turn. Writes results/first_call.json beside itself; leaves with
status 1 where a gradient is found wrong, or is not verified without a reason that is known here.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import io
import json
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

import click

import enzyme_driver as adgen
from cuda_kernels.case import Case, Pointers
from cuda_kernels.check import problem
from cuda_kernels.suite import CASES
from enzyme_driver.runtime.transforms.guard import VERDICTS

RESULTS = Path(__file__).resolve().parent / "results" / "first_call.json"
LATER = 20
"""Calls behind the first, of which the median counts."""


@dataclass(frozen=True)
class Row:
    """Seconds of one kernel; `found` is what verifying said, `said` what it printed without having been asked."""

    name: str
    compile: float
    first: float
    first_unverified: float
    later: float
    later_unverified: float
    found: str
    said: str

    @property
    def verifying(self) -> float:
        return self.first - self.first_unverified


def measured(case: Case) -> Row:
    compiling, kernel = seconds(lambda: compiled(case, "first"))
    plain = compiled(case, "never")
    call, plain_call = (gradient(case, each) for each in (kernel, plain))
    with contextlib.redirect_stderr(io.StringIO()) as said:
        first, _ = seconds(call)
    first_unverified, _ = seconds(plain_call)
    pairs = [(seconds(call)[0], seconds(plain_call)[0]) for _ in range(LATER)]
    later, later_unverified = (median(column) for column in zip(*pairs, strict=True))
    known = kernel.guard._folder / VERDICTS  # noqa: SLF001
    found = next(iter(json.loads(known.read_text("utf-8")).values()), "") if known.is_file() else "undecided"
    return Row(case.name, compiling, first, first_unverified, later, later_unverified, found, said.getvalue().strip())


def compiled(case: Case, verify: Literal["first", "never"]) -> Any:  # noqa: ANN401
    return adgen.compile(case.path, kernel=case.kernel, activity=dict(case.activity), cache=False, verify=verify)


def gradient(case: Case, kernel: Any) -> Callable[[], None]:  # noqa: ANN401
    """A call of the gradient on arguments of its own."""
    given = problem(case, 0)
    args = [{**v.values, **v.arrays} if isinstance(v, Pointers) else v for v in given.args.values()]
    shadows = {name: v.arrays if isinstance(v, Pointers) else v for name, v in given.shadows.items()}
    return lambda: kernel.gradient[case.launch](*args, shadows=shadows)


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    done = work()
    return time.perf_counter() - start, done


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", help="kernels whose names hold one of these; nothing is written then")
    names = parser.parse_args().names
    cases = [case for case in CASES if not names or any(name in case.name for name in names)]
    compiled(cases[0], "never")  # reads tools and files into memory
    rows = []
    for case in cases:
        rows.append(measured(case))
        row = rows[-1]
        later = f"later {row.later * 1e3:8.3f} ms ({row.later_unverified * 1e3:.3f})"
        times = f"compile {row.compile:6.2f} s, verify {row.verifying:6.2f} s, {later}"
        click.echo(f"{row.name:70} {times}  {row.found} {row.said}")
    share = [row.verifying / row.compile for row in rows]
    click.echo(f"verifying takes {median(share):.2f} of compiling (median), {max(share):.2f} at most")
    if not names:
        about = {
            "machine": platform.processor() or platform.machine(),
            "python": platform.python_version(),
            "adgen": adgen.__version__,
            "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "command": "python -m benchmarks.first_call",
        }
        listed = [{key: round(x, 6) if isinstance(x, float) else x for key, x in asdict(row).items()} for row in rows]
        RESULTS.write_text(json.dumps({**about, "kernels": listed}, indent=1) + "\n", encoding="utf-8")
    return 0 if all(row.found == "right" and not row.said for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
