"""The command line: what goes where, exit codes, and never a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

import enzyme_driver
from enzyme_driver import artifact, cache, cli, errors
from enzyme_driver.model import DataType, Entry, Parameter, Refusal, Signature, TargetEntry
from enzyme_driver.request import Request
from enzyme_driver.toolchain import doctor
from enzyme_driver.toolchain.doctor import Finding

F32 = DataType("float32", "float", 4)
I32 = DataType("int32", "int", 4)
SPOT = Parameter("spot", "pointer", F32, const=True, activity="duplicated", writes=False)
PRICE = Signature("price", "kernel", "price", (SPOT, Parameter("n", "scalar", I32, const=False, activity="const")))
WHY = Refusal("a barrier in a loop", "use the CUDA target", "a.cu", 7)
WHOLE = Entry(PRICE, {"openmp": TargetEntry("p", "g"), "cuda": TargetEntry("p", "g", 64, dynamic_shared=True)})
PARTLY = Entry(PRICE, {"openmp": TargetEntry("p", None, gradient_refused=WHY), "cuda": TargetEntry("p", "g")})
NO_TANGENT = Entry(PRICE, {"openmp": TargetEntry("p", "g")}, {"openmp": TargetEntry("p", None, gradient_refused=WHY)})
REFUSED = Entry(PRICE, {"openmp": TargetEntry(None, None, primal_refused=WHY, gradient_refused=WHY)})


class Compiler:
    """In place of the cache: makes an artifact with the given entries and remembers what was asked for."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.entries: tuple[Entry, ...] = (WHOLE,)
        self.requests: list[Request] = []
        self.raises: Exception | None = None
        self.use_cache = True
        monkeypatch.setattr(cache, "build", self.build)

    def build(self, wanted: Request, *, use_cache: bool, **_: object) -> Path:
        self.requests.append(wanted)
        self.use_cache = use_cache
        if self.raises:
            raise self.raises
        files: dict[str, bytes | Path] = {"liba.so": b"library", "a.cubin": b"cubin", "a.ptx": b"ptx"}
        contents = artifact.Contents(
            adgen="0.1.0",
            source=artifact.Source("a.cu", "0"),
            options=artifact.Options(),
            entries=self.entries,
            files={**files, artifact.DEPENDENCIES: b"[]"},
            library="liba.so",
            cuda={"sm_90": ("a.cubin", "a.ptx")},
        )
        return artifact.write(self.folder / "cached", contents).folder


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compiler:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.cu").write_text("// kernels")
    (tmp_path / "b.cpp").write_text("// functions")
    return Compiler(tmp_path, monkeypatch)


@pytest.mark.usefixtures("compiler")
def test_compile_publishes_an_artifact(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["compile", "a.cu"]) == 0
    out, err = capsys.readouterr()
    made = artifact.read("a.adgen")
    assert sorted(path.name for path in made.folder.iterdir()) == ["a.cubin", "a.ptx", "liba.so", "manifest.json"]
    assert out.splitlines() == [
        str(made.folder),
        "  price(const float32 *spot, int32 n)",
        "    openmp:  primal, gradient",
        "    cuda:    primal, gradient",
    ]
    assert err.startswith("adgen: compiled in ")


def test_compile_passes_every_option_on(compiler: Compiler, tmp_path: Path) -> None:
    arguments = ["compile", "a.cu", "-k", "f", "-k", "axpy<float>", "-t", "cuda", "--arch", "sm_80", "--arch", "sm_90"]
    arguments += [
        "--activity",
        "n=const",
        "--mode",
        "forward",
        "--inactive",
        "ns::log",
        "--derivative",
        "f=g",
        "--fast-math",
        "--no-cache",
        "-o",
        "out",
        "--",
        "-DN=1",
        "-Iinclude",
    ]
    assert cli.run(arguments) == 0
    assert compiler.requests == [
        Request(
            path=tmp_path / "a.cu",
            names=("f", "axpy<float>"),
            targets=("cuda",),
            archs=("sm_80", "sm_90"),
            activity=(("n", "const"),),
            flags=("-DN=1", "-Iinclude"),
            fast_math=True,
            modes=("reverse", "forward"),
            inactive=("ns::log",),
            derivatives=(("f", "g"),),
        )
    ]
    assert compiler.use_cache is False
    assert artifact.read("out").entries == (WHOLE,)


def test_default_targets_follow_the_language(compiler: Compiler) -> None:
    cli.run(["compile", "a.cu"])
    cli.run(["compile", "b.cpp"])
    assert [wanted.targets for wanted in compiler.requests] == [("openmp", "cuda"), ("openmp",)]


def test_what_has_no_tangent_is_a_warning(compiler: Compiler, capsys: pytest.CaptureFixture[str]) -> None:
    compiler.entries = (NO_TANGENT,)
    assert cli.run(["compile", "a.cu"]) == 0
    out, err = capsys.readouterr()
    assert "warning: a.cu:7: price has no tangent on openmp: a barrier in a loop" in err
    assert "openmp:  primal, gradient\n" in out
    compiler.entries = (replace(NO_TANGENT, forward={"openmp": TargetEntry("p", "t")}),)
    assert cli.run(["compile", "a.cu"]) == 0
    assert "openmp:  primal, gradient, tangent\n" in capsys.readouterr().out


def test_compile_as_json(compiler: Compiler, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["compile", "a.cu", "--json"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert err == ""
    assert told["artifact"] == str(compiler.folder / "a.adgen")
    assert told["targets"] == ["openmp", "cuda"]
    assert told["entries"][0]["parameters"][0]["name"] == "spot"
    assert told["entries"][0]["targets"]["cuda"]["dynamic_shared"] is True
    assert told["seconds"] >= 0


def test_a_partial_refusal_is_a_warning(compiler: Compiler, capsys: pytest.CaptureFixture[str]) -> None:
    compiler.entries = (PARTLY,)
    assert cli.run(["compile", "a.cu"]) == 0
    err = capsys.readouterr().err
    assert "warning: a.cu:7: price has no gradient on openmp: a barrier in a loop" in err
    assert "what to do: use the CUDA target" in err


def test_a_whole_refusal_is_an_error_and_leaves_nothing(compiler: Compiler, capsys: pytest.CaptureFixture[str]) -> None:
    compiler.entries = (REFUSED,)
    assert cli.run(["compile", "a.cu"]) == errors.RefusedError.exit_code
    assert "error: a.cu:7: price has no primal on openmp" in capsys.readouterr().err
    assert not Path("a.adgen").exists()


@pytest.mark.usefixtures("compiler")
def test_another_folder_is_not_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("years of work")
    assert cli.run(["compile", "a.cu", "-o", "mine"]) == errors.CacheError.exit_code
    assert Path("mine/thesis.txt").read_text() == "years of work"
    assert "is no adgen artifact" in capsys.readouterr().err


def test_an_artifact_is_replaced(compiler: Compiler) -> None:
    cli.run(["compile", "a.cu"])
    compiler.entries = (PARTLY,)
    assert cli.run(["compile", "a.cu"]) == 0
    assert artifact.read("a.adgen").entries == (PARTLY,)


def emit(wanted: Request, stage: str, **_: object) -> str:
    return f"; {stage} of {wanted.path.name}\n"


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = SimpleNamespace(STAGES=("primal", "ptx"), emit=emit)
    monkeypatch.setattr(enzyme_driver, "pipeline", fake, raising=False)


@pytest.mark.usefixtures("pipeline", "compiler")
def test_emit_writes_one_stage(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["compile", "a.cu", "--emit", "ptx"]) == 0
    assert capsys.readouterr().out == "; ptx of a.cu\n"
    assert cli.run(["compile", "a.cu", "--emit", "ptx", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"stage": "ptx", "text": "; ptx of a.cu\n"}
    assert not Path("a.adgen").exists()


@pytest.mark.usefixtures("pipeline", "compiler")
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["compile", "a.cu", "--emit", "sass"], "no stage 'sass'"),
        (["compile", "a.cu", "--emit", "ptx", "-o", "out"], "no artifact for -o"),
        (["compile"], "Missing argument 'FILE'"),
        (["compile", "a.cu", "-t", "metal"], "'metal' is not one of"),
        (["compile", "a.cu", "--arch", "90"], "not a GPU architecture"),
        (["compile", "a.cu", "--activity", "n"], "not of the form NAME=VALUE"),
        (["compile", "a.cu", "--activity", "n=const", "--activity", "n=active"], "gives n twice"),
        (["compile", "a.cu", "b.cpp"], "second file"),
        (["compile", "a.py"], "does not know the language"),
        (["compile", "a.cu", "-O2"], "No such option"),
        (["build"], "No such command 'build'"),
        ([], "a command is missing"),
        (["cache", "prune", "--max-age", "soon"], "not understood"),
    ],
)
def test_usage_errors(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(arguments) == errors.UsageError.exit_code
    out, err = capsys.readouterr()
    assert reason in err
    assert "what to do" in err
    assert "Traceback" not in err
    assert out == ""


@pytest.mark.parametrize("kind", errors.ALL_ERRORS)
def test_each_class_has_its_exit_code(
    kind: type[errors.AdgenError], compiler: Compiler, capsys: pytest.CaptureFixture[str]
) -> None:
    compiler.raises = kind("it went wrong", hint="do this", location=errors.Location("a.cu", 3, 5))
    assert cli.run(["compile", "a.cu"]) == kind.exit_code
    assert capsys.readouterr().err == "adgen: error: a.cu:3:5: it went wrong\n  what to do: do this\n"
    assert cli.run(["compile", "a.cu", "--json"]) == kind.exit_code
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert (told["error"], told["exit_code"], told["line"], err) == (kind.kind, kind.exit_code, 3, "")
    assert not Path("a.adgen").exists()


def test_folders_macros_and_the_standard_reach_clang_before_its_other_flags(compiler: Compiler) -> None:
    given = [
        "compile",
        "a.cu",
        "-Iinclude",
        "-I",
        "../common",
        "-DN=1",
        "-D",
        "FAST",
        "--std",
        "c++20",
        "--",
        "-UNDEBUG",
    ]
    assert cli.run(given) == 0
    (made,) = compiler.requests
    assert made.flags == ("-Iinclude", "-I../common", "-DN=1", "-DFAST", "-std=c++20", "-UNDEBUG")


def test_an_internal_error_shows_its_traceback_only_on_demand(
    compiler: Compiler, capsys: pytest.CaptureFixture[str]
) -> None:
    compiler.raises = ZeroDivisionError("oops")
    assert cli.run(["compile", "a.cu"]) == 1
    err = capsys.readouterr().err
    assert "internal error: ZeroDivisionError: oops" in err
    assert "Traceback" not in err
    assert cli.run(["compile", "a.cu", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err
    assert cli.run(["compile", "a.cu", "--", "--debug"]) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_interruption(compiler: Compiler, capsys: pytest.CaptureFixture[str]) -> None:
    compiler.raises = KeyboardInterrupt()  # type: ignore[assignment]
    assert cli.run(["compile", "a.cu"]) == cli.INTERRUPTED
    assert capsys.readouterr().err.strip() == "adgen: interrupted"


def test_inspect_an_artifact(compiler: Compiler, capsys: pytest.CaptureFixture[str]) -> None:
    compiler.entries = (PARTLY,)
    cli.run(["compile", "a.cu"])
    capsys.readouterr()
    assert cli.run(["inspect", "a.adgen"]) == 0
    out = capsys.readouterr().out
    for text in ("spot", "duplicated", "float32 array", "reads", "by value", "a.cubin", "liba.so", "a.cu:7", "refused"):
        assert text in out
    assert cli.run(["inspect", "a.adgen", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["entries"][0]["name"] == "price"


def test_inspect_a_file_compiles_it(compiler: Compiler, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["inspect", "a.cu", "-k", "price"]) == 0
    assert compiler.requests[0].names == ("price",)
    assert "price(" in capsys.readouterr().out


def test_inspect_compiles_gradients_without_a_parameter(compiler: Compiler, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["inspect", "a.cu", "--const", "--fast-math"]) == 0
    whole, without = compiler.requests
    assert (whole.activity, whole.targets) == ((), ("openmp", "cuda"))
    assert (without.activity, without.names, without.targets) == ((("spot", "const"),), ("price",), ("cuda",))
    assert without.fast_math
    shown = capsys.readouterr().out
    assert shown.index("as it is") < shown.rindex("spot")
    assert cli.run(["inspect", "a.cu", "--const", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["const"]["price"]
    assert [(row["parameter"], row["figures"]["tape"]) for row in told] == [("as it is", False), ("spot", False)]


@pytest.mark.usefixtures("compiler")
def test_inspect_refuses_what_it_cannot_do(capsys: pytest.CaptureFixture[str]) -> None:
    cli.run(["compile", "a.cu"])
    assert cli.run(["inspect", "a.adgen", "-k", "prices"]) == errors.NameNotFoundError.exit_code
    assert "there is price" in capsys.readouterr().err
    assert cli.run(["inspect", "a.adgen", "--fast-math"]) == errors.UsageError.exit_code
    assert cli.run(["inspect", "nowhere.adgen"]) == errors.UsageError.exit_code
    assert cli.run(["inspect", "a.adgen", "--const"]) == errors.UsageError.exit_code


FINDINGS = (
    Finding("clang", ok=True, found_by="PATH", version="22.1.8", path="/usr/bin/clang-22"),
    Finding("GPU", ok=False, problem="no GPU", hint="none needed", required=False),
)
BROKEN = Finding("Enzyme", ok=False, problem="Enzyme is missing", hint="run `adgen toolchain install`")


@pytest.mark.parametrize(("findings", "code"), [(FINDINGS, 0), ((*FINDINGS, BROKEN), 6)])
def test_doctor(
    findings: tuple[Finding, ...], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "doctor", lambda _: findings)
    assert cli.run(["doctor"]) == code
    out = capsys.readouterr().out
    assert "22.1.8" in out
    assert ("what to do: run `adgen toolchain install`" in out) == (code == 6)
    assert cli.run(["doctor", "--json"]) == code
    assert [finding["ok"] for finding in json.loads(capsys.readouterr().out)] == [each.ok for each in findings]


def test_json_before_the_last_command_is_not_ignored(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["cache", "--json", "info"]) == errors.UsageError.exit_code
    assert json.loads(capsys.readouterr().out)["hint"] == "info --json"


def test_cache_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("ADGEN_CACHE_DIR", str(tmp_path / "cache"))
    for arguments in (["cache"], ["cache", "info"], ["cache", "clear"], ["cache", "prune", "--max-age", "30d"]):
        assert cli.run(arguments) == 0
        assert "0 entries" in capsys.readouterr().out
    assert cli.run(["cache", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["path"] == str(tmp_path / "cache" / "v1")


def test_prune_reads_sizes_and_ages(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[dict[str, Any]] = []

    def prune(settings: object, **limits: Any) -> cache.Summary:  # noqa: ANN401
        del settings
        asked.append(limits)
        return cache.Summary(Path("c"), 2, 3_000_000)

    monkeypatch.setattr(cache, "prune", prune)
    assert cli.run(["cache", "prune", "--max-age", "2w", "--max-size", "3g"]) == 0
    assert asked == [{"max_age": 14 * 86400, "max_size": 3 * 2**30}]
    assert capsys.readouterr().out == "c: deleted 2 entries, 3.0 MB\n"


@pytest.mark.usefixtures("compiler")
def test_explain(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = [cache.Difference("source", "1234", "5678")]
    monkeypatch.setattr(cache, "explain", lambda *_, **__: tuple(found))
    assert cli.run(["cache", "explain", "a.cu"]) == 0
    assert capsys.readouterr().out == "source: 1234 -> 5678\n"
    found.clear()
    assert cli.run(["cache", "explain", "a.cu"]) == 0
    assert capsys.readouterr().out == "in the cache\n"


def adgen(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401
    return subprocess.run(
        [sys.executable, "-m", "enzyme_driver", *arguments], capture_output=True, text=True, check=False, **options
    )


def test_as_a_process(tmp_path: Path) -> None:
    assert adgen("--version").stdout == f"adgen, version {enzyme_driver.__version__}\n"
    missing = adgen("compile", str(tmp_path / "a.cu"))
    assert missing.returncode == errors.SourceError.exit_code
    assert missing.stdout == ""
    assert "\x1b" not in missing.stderr
    assert "Traceback" not in missing.stderr


def test_version_imports_little() -> None:
    code = "import sys; from enzyme_driver import cli; cli.run(['--version']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "rich", "llvmlite", "jinja2", "platformdirs"} & set(done.stdout.split())


def test_a_reader_that_goes_away_gets_no_traceback() -> None:
    code = "import sys; from enzyme_driver import cli; sys.exit(cli.run(['compile', '--help']))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        err = process.stderr.read().decode()
        assert (process.wait(timeout=20), err) == (1, "")


def test_every_command_takes_json_and_debug() -> None:
    for path, command in all_commands():
        names = {name for parameter in command.params for name in parameter.opts}
        assert {"--json", "--debug"} <= names or path == "adgen", path


def all_commands() -> list[tuple[str, click.Command]]:
    found: list[tuple[str, click.Command]] = []

    def visit(path: str, command: click.Command) -> None:
        found.append((path, command))
        if isinstance(command, click.Group):
            for name in command.list_commands(click.Context(command)):
                inner = command.get_command(click.Context(command), name)
                assert inner is not None
                visit(f"{path} {name}", inner)

    visit("adgen", cli.adgen)
    return found
