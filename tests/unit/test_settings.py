"""The environment is read once, in one place, and bad values are named."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from enzyme_driver.errors import UsageError
from enzyme_driver.settings import Settings, settings_table, with_environment

ROOT = Path(__file__).resolve().parents[2]


def test_defaults_of_an_empty_environment() -> None:
    settings = Settings.from_environment({})
    assert settings.home.name == "adgen"
    assert settings.cache_dir.name == "adgen"
    assert settings.home != settings.cache_dir
    assert (settings.timeout, settings.device_heap) == (60.0, 2**30)
    chosen = (settings.enzyme, settings.keep, settings.clang, settings.opt, settings.ptxas, settings.cuda_path)
    assert chosen == (None,) * 6


def test_every_variable_is_read() -> None:
    paths = {
        "ADGEN_HOME": "home",
        "ADGEN_CACHE_DIR": "cache_dir",
        "ADGEN_ENZYME": "enzyme",
        "ADGEN_KEEP": "keep",
        "ADGEN_CLANG": "clang",
        "ADGEN_OPT": "opt",
        "ADGEN_PTXAS": "ptxas",
        "ADGEN_CUDA_PATH": "cuda_path",
    }
    environment = {variable: f"/somewhere/{field}" for variable, field in paths.items()}
    environment |= {"ADGEN_TIMEOUT": "2.5", "ADGEN_DEVICE_HEAP": "4096", "ADGEN_DISABLE": "tape, zero-last"}
    settings = Settings.from_environment(environment)
    assert {field: getattr(settings, field) for field in paths.values()} == {
        field: Path(f"/somewhere/{field}") for field in paths.values()
    }
    assert (settings.timeout, settings.device_heap) == (2.5, 4096)
    assert settings.disable == {"lower-caches", "sink-zero-stores"}
    table = settings_table()
    assert all(f"`{variable}`" in table for variable in environment)


def test_places_to_search_are_read() -> None:
    environment = {"PATH": "/a::/b", "HOME": "/h", "SPACK_ROOT": "/s", "CONDA_PREFIX": "/c"}
    settings = Settings.from_environment(environment)
    assert settings.search == (Path("/a"), Path("/b"))
    assert (settings.user_home, settings.spack_root, settings.conda_prefix) == (Path("/h"), Path("/s"), Path("/c"))


def test_relative_paths_become_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert Settings.from_environment({"ADGEN_KEEP": "kept"}).keep == tmp_path / "kept"


def test_an_empty_variable_counts_as_not_set() -> None:
    assert Settings.from_environment({"ADGEN_TIMEOUT": "", "ADGEN_ENZYME": " "}) == Settings.from_environment({})


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("ADGEN_TIMEOUT", "soon"),
        ("ADGEN_TIMEOUT", "0"),
        ("ADGEN_TIMEOUT", "-1"),
        ("ADGEN_TIMEOUT", "nan"),
        ("ADGEN_TIMEOUT", "inf"),
        ("ADGEN_DEVICE_HEAP", "8 MiB"),
        ("ADGEN_DEVICE_HEAP", "1.5"),
        ("ADGEN_DEVICE_HEAP", "0"),
        ("ADGEN_DISABLE", "tape,hope"),
        ("ADGEN_HOME", "~no-such-user-of-adgen/x"),
    ],
)
def test_bad_values_name_their_variable(variable: str, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        Settings.from_environment({variable: text})
    assert variable in caught.value.reason
    assert text in caught.value.reason
    assert variable in caught.value.hint
    assert caught.value.exit_code == 2


def test_settings_cannot_be_changed() -> None:
    settings = Settings.from_environment({})
    with pytest.raises(FrozenInstanceError):
        settings.timeout = 1.0  # type: ignore[misc]


def test_a_process_inherits_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEPT", "1")
    environment = with_environment({"ADDED": "2"})
    assert (environment["KEPT"], environment["ADDED"]) == ("1", "2")


def test_the_documentation_has_the_table() -> None:
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert settings_table() in text, f"docs/settings.md should contain\n{settings_table()}"


def test_nothing_else_reads_the_environment() -> None:
    package = ROOT / "enzyme_driver"
    readers = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if any(word in path.read_text(encoding="utf-8") for word in ("os.environ", "getenv", "import environ"))
    }
    assert readers == {"settings.py"}


@pytest.mark.parametrize("text", ["0", "-1", "many", "2,0", "99999999999999999999999", "1.5", "4,"])
def test_no_number_of_threads(text: str) -> None:
    with pytest.raises(UsageError, match="OMP_NUM_THREADS"):
        Settings.from_environment({"OMP_NUM_THREADS": text})


@pytest.mark.parametrize("text", ["", "1", "4", " 8 ", "4,2"])
def test_a_number_of_threads(text: str) -> None:
    Settings.from_environment({"OMP_NUM_THREADS": text})
