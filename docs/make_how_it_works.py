"""Writes docs/how-it-works.md: the prose is in how-it-works.md.j2, all text between it is made here by adgen itself."""

from __future__ import annotations

import contextlib
import io
import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import jinja2

from enzyme_driver import artifact, pipeline, request, resources
from enzyme_driver.artifact import Artifact
from enzyme_driver.settings import Settings

HERE = Path(__file__).resolve().parent
PAGE = HERE / "how-it-works.md"
SOURCE = HERE / "decay.cu"

CALL = """\
import numpy as np
import enzyme_driver as adgen

decay = adgen.load("decay.adgen").decay
x = np.linspace(0, 2, 5, dtype=np.float32)
y = np.zeros(5, np.float32)
decay[1, 32](x, y, 0.5, 5)
print("y      =", y.round(3))

g = decay.vjp[1, 32](x, y, 0.5, 5, cotangents={"y": np.ones(5, np.float32)}, wrt=("x", "rate"))
print("d_x    =", g["x"].round(3))
print("d_rate =", g["rate"].round(3))
print("exact  =", ((1 - 0.5 * x) * np.exp(-0.5 * x)).round(3), (-x * x * np.exp(-0.5 * x)).sum().round(3))
"""

_METADATA = re.compile(r",? !(?:dbg|tbaa|alias\.scope|noalias|llvm\.\w+|enzyme_\w+|srcloc) !\d+|,? #\d+\b(?! =)| ;.*$")
_NOISE = ("tail ", "dso_local ", "local_unnamed_addr ", "unnamed_addr ", "noundef ", "captures(none) ")


def page(settings: Settings) -> str:
    """The whole page, as it should be."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copied = folder / SOURCE.name
        copied.write_bytes(SOURCE.read_bytes())
        wanted = request.new(copied, targets=["openmp", "cuda"], activity={"rate": "active"})
        stages = folder / "stages"
        made = pipeline.build(wanted, folder / "decay.adgen", settings=replace(settings, keep=stages))
        decay, differences = (entry.signature for entry in made.entries)
        return _template().render(
            source=_source("decay"),
            tile=_source("differences"),
            stage=lambda end: (stages / f"decay.sm_90.{end}").read_text(encoding="utf-8"),
            symbol=decay.symbol,
            other=differences.symbol,
            manifest=_manifest(made),
            header=_declaration((made.folder / "decay.h").read_text(encoding="utf-8"), "decay_gradient"),
            runtime=_runtime("adgen_run_blocks"),
            call=CALL,
            output=_printed(CALL, folder),
        )


def _template() -> jinja2.Template:
    loader = jinja2.FileSystemLoader(HERE)
    environment = jinja2.Environment(  # noqa: S701 - Markdown is written, not HTML
        loader=loader, undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    environment.filters |= {"function": function, "entry": entry, "globals": global_names, "only": only}
    return environment.get_template("how-it-works.md.j2")


def _source(name: str) -> str:
    """The kernel of that name, as it stands in the file."""
    found = re.search(
        rf"^__global__ void {name}\(.*?^}}$", SOURCE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    return _must(found, name)


def _must(found: re.Match[str] | None, name: str) -> str:
    if found is None:
        raise LookupError(name)
    return found[0]


def function(ir: str, name: str) -> str:
    """The definition of a function in LLVM IR, without metadata and what says nothing to a reader."""
    found = re.search(rf"^define [^\n]*@{re.escape(name)}\(.*?^}}$", ir, re.MULTILINE | re.DOTALL)
    lines = (_plain(line) for line in _must(found, name).splitlines())
    return "\n".join(line for line in lines if line is not None)


def _plain(line: str) -> str | None:
    if "#dbg_" in line or "llvm.lifetime" in line or "noalias.scope.decl" in line:
        return None
    text = _METADATA.sub("", line)
    for word in _NOISE:
        text = text.replace(word, "")
    return re.sub(r" {2,}(?=\S)", lambda gap: gap[0] if gap.start() == 0 else " ", text).rstrip()


def global_names(ir: str, word: str) -> str:
    """The global variables with this word in their names."""
    lines = (line for line in ir.splitlines() if line.startswith("@") and word in line.partition("=")[0])
    return "\n".join(plain for line in lines if (plain := _plain(line)))


def only(text: str, *words: str) -> str:
    """The lines that hold one of these words; dots stand for what lies between."""
    kept: list[str] = []
    for line in text.splitlines():
        if any(word in line for word in words):
            kept.append(line)
        elif kept[-1:] != ["  ..."]:
            kept.append("  ...")
    return "\n".join(kept)


def entry(ptx: str, name: str) -> str:
    """A kernel in PTX, without declarations of registers."""
    found = re.search(rf"^\.visible \.entry {re.escape(name)}\(.*?^}}$", ptx, re.MULTILINE | re.DOTALL)
    lines = _must(found, name).expandtabs(4).splitlines()
    return "\n".join(line for line in lines if line.strip() and not line.strip().startswith(".reg"))


def _manifest(made: Artifact) -> str:
    """What the manifest says of the first entry, without what differs from machine to machine."""
    manifest = json.loads((made.folder / artifact.MANIFEST).read_text(encoding="utf-8"))
    first = manifest["entries"][0]
    signature = {key: first["signature"][key] for key in ("name", "kind", "symbol")}
    parameters = [_short(parameter) for parameter in first["signature"]["parameters"]]
    shown = {
        "format": manifest["format"],
        "version": manifest["version"],
        "options": manifest["options"],
        "entries": [{"signature": signature | {"parameters": parameters}, "targets": first["targets"]}],
    }
    return _compact(shown)


def _short(parameter: Mapping[str, object]) -> dict[str, object]:
    dtype = parameter["dtype"]
    kept = {key: parameter[key] for key in ("name", "form", "const", "activity", "reads", "writes")}
    return kept | {"dtype": dtype["name"] if isinstance(dtype, dict) else dtype}


def _compact(value: object) -> str:
    """JSON with the innermost objects on one line each."""
    text = json.dumps(value, indent=2)
    return re.sub(r"\{[^{}]*\}", lambda inner: re.sub(r"\s+", " ", inner[0]), text)


def _declaration(header: str, name: str) -> str:
    """The comment and the parameters of a function in the C header."""
    found = re.search(rf"/\*[^/]*\*/\nstatic inline int {name}\([^)]*\)", header)
    return _must(found, name)


def _runtime(name: str) -> str:
    """A function of the host runtime, as it stands in its source."""
    text = next(path for path in resources.own_sources("host_runtime") if path.name == "runtime.cpp").read_text("utf-8")
    return _must(re.search(rf"^[^\n]*int {name}\(.*?^}}$", text, re.MULTILINE | re.DOTALL), name)


def _printed(code: str, folder: Path) -> str:
    """What a program prints that finds the artifact in `folder`."""
    output = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(output):
        exec(compile(code, "call.py", "exec"), {})  # noqa: S102 - our own text
    return output.getvalue()


if __name__ == "__main__":
    PAGE.write_text(page(Settings.from_environment()), encoding="utf-8")
