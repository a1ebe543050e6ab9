"""The tables of measured figures in docs/likelihood_ratio.md, docs/tensor.md and docs/scan.md, from the committed data.

    python -m benchmarks.document_tables

A table stands between `<!-- table NAME -->` and `<!-- end -->`; it is written anew, and nothing else is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from benchmarks.lr_report import PUBLISHED
from benchmarks.page import read, read_object

HERE = Path(__file__).resolve().parent
RESULTS, DOCUMENTS = HERE / "results", HERE.parent / "docs"
PAGES = ("likelihood_ratio.md", "tensor.md", "scan.md")
PLACE = re.compile(r"(<!-- table (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
SHOWN = (16, 256, 4096)
LARGEST = 4096
"""Of the products that documents show."""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _figures(value: float) -> str:
    """Three digits that count."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def methods(results: Path) -> str:
    """Training, in the form of the published table."""
    found = read_object(results, "lr.json")
    epochs = {row["model"]: row["epoch_seconds"] for row in found["rows"] if row["method"] == "BP"}
    rows = []
    for row in found["rows"]:
        accuracy, seconds = PUBLISHED[row["model"]][row["method"]]
        settings = "" if row["method"] == "BP" else f"{row['copies']} copies, {row['sigma']}"
        rows.append(
            [
                row["model"].upper(),
                row["method"],
                settings,
                f"{_percent(row['accuracy'])} ({100 * row['least']:.1f} to {100 * row['most']:.1f})",
                f"{_figures(1e3 * row['epoch_seconds'])} ms",
                f"{epochs[row['model']] / row['epoch_seconds']:.2f}",
                f"{accuracy} %, {seconds} s",
            ]
        )
    head = ["model", "method", "copies, sigma", "accuracy (of seeds)", "epoch", "times as fast as BP", "published"]
    return _table(head, rows) + f"\n{found['device']}, {found['date']}; `{found['command']}`.\n"


def cosines(results: Path) -> str:
    """How close estimates come to the gradient, for some numbers of copies."""
    found = read_object(results, "lr.json")["variance"]
    shown = {(row["kind"], row["copies"]): row["cosine"] for row in found}
    rows = [
        [kind, *(f"{shown[kind, copies]:.2f}" for copies in SHOWN)]
        for kind in dict.fromkeys(row["kind"] for row in found)
    ]
    return _table(["noise", *(f"{copies:,} copies" for copies in SHOWN)], rows)


def layers(results: Path) -> str:
    """One layer with noise and its estimate, by precision."""
    found = read_object(results, "lr.json")
    rows = [
        [row["precision"], f"{_figures(row['forward_ms'])} ms", f"{_figures(row['update_ms'])} ms"]
        for row in found["layers"]
    ]
    return _table(["precision", "layer with noise", "estimate of its gradient"], rows)


def products(results: Path) -> str:
    """Products on Tensor Cores, of the largest matrices."""
    rows = [
        [
            row["precision"],
            f"{row['forward_ms']:.2f} ms",
            f"{row['torch_ms']:.2f} ms",
            f"{100 * row['torch_ms'] / row['forward_ms']:.0f} %",
            f"{row['rule_ms'] / row['forward_ms']:.1f}",
            f"{_figures(row['gradient_ms'])} ms",
            f"{_figures(row['gradient_ms'] / row['gradient_forward_ms'])}",
            f"{100 * row['gradient_error']:.2g} %",
        ]
        for row in read(results, "tensor_cores.json")
        if row["size"] == LARGEST
    ]
    head = [
        "precision",
        "forward",
        "PyTorch's product",
        "part of its speed",
        "rule over forward",
        "compiled gradient",
        "over its own forward",
        "its largest error",
    ]
    return _table(head, rows)


def digits(results: Path) -> str:
    """Training in every precision, on the GPU that was measured with all of them."""
    every = read(results, "digits.json")
    model = next(row["model"] for row in every if row["where"] == "cuda in tf32")
    names = ["cuda", "cuda in tf32", "cuda in bfloat16", "cuda in float16", "PyTorch, GPU"]
    sizes = sorted({tuple(row["hidden"]) for row in every if row["model"] == model})
    rows = []
    for hidden in sizes:
        of = {row["where"]: row for row in every if row["model"] == model and tuple(row["hidden"]) == hidden}
        rows.append(
            [
                f"{hidden[0]} and {hidden[1]}",
                *(f"{of[n]['epoch_ms']:.1f} ms, {_percent(of[n]['accuracy'])}" for n in names),
            ]
        )
    return _table(["hidden units", "float32", "tf32", "bfloat16", "float16", "PyTorch, float32"], rows)


def jacobians(results: Path) -> str:
    """CSR Jacobians beside one row at a time, on a GPU."""
    rows = [
        [
            row["operator"].replace("_", " "),
            str(row["directions"]),
            f"{_figures(row['jacobian_ms'])} ms",
            f"{_figures(row['graph_ms'])} ms" if "graph_ms" in row else "-",
            f"{_figures(row['torch_all_rows_ms'] / 1e3)} s",
            f"{row['faster_than_torch']:,.0f}",
            f"{row['torch_all_rows_ms'] / row['graph_ms']:,.0f}" if "graph_ms" in row else "-",
            f"{row['paper_faster']:,.0f}",
        ]
        for row in read(results, "sparsity.json")
        if row["part"] == "gpu"
    ]
    head = ["operator", "directions", "CSR Jacobian", "as a graph", "PyTorch, all rows", "times as fast", "as a graph"]
    return _table([*head, "published"], rows)


TABLES: dict[str, Callable[[Path], str]] = {
    "methods": methods,
    "cosines": cosines,
    "layers": layers,
    "products": products,
    "digits": digits,
    "jacobians": jacobians,
}


def page(text: str, results: Path = RESULTS) -> str:
    """The document with its tables of the data in that folder."""
    return PLACE.sub(lambda found: found[1] + TABLES[found[2]](results) + found[3], text)


def main() -> int:
    for name in PAGES:
        path = DOCUMENTS / name
        path.write_text(page(path.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
