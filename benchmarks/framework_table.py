"""The tables beside JAX and PyTorch in README.md and docs/comparison.md, and those of operators in docs/frameworks.md,
made from benchmarks/results.

    python -m benchmarks.framework_table

writes the documents; a test fails where one is older than the data.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.page import HERE, measured_on, read, read_object
from benchmarks.performance_page import figures
from benchmarks.report import Compared, compared

RESULTS = HERE / "results"
BEGIN, END = "<!-- frameworks: begin -->", "<!-- frameworks: end -->"
NAMES = {"jax": "jax.jit", "pytorch": "PyTorch"}


def documents() -> dict[Path, str]:
    """Each document that holds a table, with its present one."""
    rows = read(RESULTS, "frameworks.json")
    cases, where = compared(rows), measured_on(rows)
    return {
        HERE.parent / "README.md": short_table(cases, where),
        HERE.parent / "docs" / "comparison.md": long_table(cases, where),
        HERE.parent / "docs" / "frameworks.md": f"{costs()}\n\n{matrix()}",
    }


def short_table(cases: list[Compared], where: str) -> str:
    """Gradient over primal of each library, at the largest size of every case."""
    heads = ["", "size", "adgen", *NAMES.values()]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for case in _largest(cases):
        rows = [case.times[library] for library in ("adgen", *NAMES)]
        cells = [f"{row['gradient_ms'] / row['forward_ms']:.2f} ({figures(row['gradient_ms'])} ms)" for row in rows]
        lines.append(f"| {case.case} | {case.size} | {' | '.join(cells)} |")
    return "\n".join([f"Gradient over primal, each library's own, and the gradient's time ({where}):", "", *lines])


def long_table(cases: list[Compared], where: str) -> str:
    """All cases in milliseconds, and how much longer the frameworks take than adgen."""
    heads = ["case", "size", "adgen", *(head for name in NAMES.values() for head in (name, f"{name} over adgen"))]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for case in cases:
        own = case.times["adgen"]["gradient_ms"]
        cells = [case.case, case.size, figures(own)]
        for library in NAMES:
            time = case.times[library]["gradient_ms"]
            cells += [figures(time), figures(time / own)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([f"Gradients in milliseconds ({where}):", "", *lines])


def costs() -> str:
    """What a call of an operator costs, each way."""
    found = read_object(RESULTS, "operators_frameworks.json")
    torch, jax = found["torch"], found["jax"]
    rows = {
        "the operator, PyTorch eager": (torch["operator forward"], torch["operator backward"]),
        "an `autograd.Function` by hand over PyTorch's own operators": (
            torch["by hand forward"],
            torch["by hand backward"],
        ),
        "an `autograd.Function` that does nothing": (
            torch["function that does nothing forward"],
            torch["function that does nothing backward"],
        ),
        "PyTorch's own `addcmul`": (torch["PyTorch's addcmul forward"], torch["PyTorch's addcmul backward"]),
        "`torch.ops.adgen.NAME`, as in graphs": (torch["torch.ops forward"], torch["torch.ops backward"]),
        "the operator without autograd": (torch["without autograd"], None),
        "PyTorch's `addcmul` without autograd": (torch["PyTorch's addcmul without autograd"], None),
        "a launch alone, prepared, through cuda-core": (torch["launch alone"], None),
        "a replay of a CUDA graph with it": (torch["replay of a CUDA graph with it"], None),
        "the operator in a loop of `jax.jit`": (jax["operator in a loop of jit"], jax["its gradient in a loop of jit"]),
        "the same, one of twenty in the body": (
            jax["operator, one of many in a loop of jit"],
            jax["its gradient, one of many in a loop of jit"],
        ),
        "XLA's own code, one of twenty in the body": (
            jax["XLA's own code, one of many in a loop of jit"],
            jax["its own gradient, one of many in a loop of jit"],
        ),
        "XLA's own code in a loop of `jax.jit`": (
            jax["XLA's own code in a loop of jit"],
            jax["its own gradient in a loop of jit"],
        ),
        "the same, in two kernels": (jax.get("XLA's own code in a loop of jit, in two kernels"), None),
    }
    lines = ["| | forward | backward |", "|---|---|---|"]
    for name, times in rows.items():
        if times == (None, None):
            continue
        lines.append(f"| {name} | {' | '.join('' if each is None else figures(each) for each in times)} |")
    where = f"{found['device']}, {found['date']}, {found['elements']} elements"
    return "\n".join([f"Microseconds a call ({where}):", "", *lines])


def matrix() -> str:
    """Which check each kernel of the collection has passed as an operator."""
    found = read_object(RESULTS, "operators_matrix.json")
    checks = list(next(iter(found["matrix"].values())))
    lines = [f"| | {' | '.join(checks)} |", "|---" * (len(checks) + 1) + "|"]
    for kernel, words in found["matrix"].items():
        lines.append(f"| `{kernel}` | {' | '.join(words[check] for check in checks)} |")
    head = f"Checks of twenty kernels as operators ({found['device']}, {found['date']}):"
    return "\n".join([head, "", *lines, "", on_host()])


def on_host() -> str:
    """How many of the checks pass there."""
    found = read_object(RESULTS, "operators_matrix_cpu.json")
    words = [word for row in found["matrix"].values() for word in row.values()]
    ok, refused = words.count("ok"), words.count("refused")
    others = f", {len(words) - ok - refused} fail" if ok + refused < len(words) else ""
    where = f"{found['device']}, {found['date']}, `benchmarks/results/operators_matrix_cpu.json`"
    return f"Of {len(words)} such checks on the host {ok} pass, {refused} are refused{others}\n({where})."


def with_table(page: str, table: str) -> str:
    """The page with its present table."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}"


def _largest(cases: list[Compared]) -> list[Compared]:
    """The last size of each case; what leaves the primal's outputs out has no counterpart in the frameworks."""
    found = {each.case: each for each in cases if "derivatives alone" not in each.size}
    return list(found.values())


if __name__ == "__main__":
    for path, table in documents().items():
        path.write_text(with_table(path.read_text(encoding="utf-8"), table), encoding="utf-8")
