"""Errors: one exit code a class, everything a user needs in the text and in the JSON."""

import inspect
from pathlib import Path

import enzyme_driver
from enzyme_driver import errors
from enzyme_driver.cli import reference
from enzyme_driver.errors import AdgenError, Location, SourceError

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_exit_codes_and_kinds_are_unique() -> None:
    assert len({kind.exit_code for kind in errors.ALL_ERRORS}) == len(errors.ALL_ERRORS)
    assert len({kind.kind for kind in errors.ALL_ERRORS}) == len(errors.ALL_ERRORS)
    assert all(0 < kind.exit_code < 126 for kind in errors.ALL_ERRORS)


def test_every_class_is_listed_and_public() -> None:
    defined = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, AdgenError)]
    assert set(defined) == set(errors.ALL_ERRORS)
    assert {kind.__name__ for kind in defined} <= set(enzyme_driver.__all__)


def test_text_has_place_reason_hint_and_log() -> None:
    problem = SourceError("no such thing", hint="add it", location=Location("a.cu", 3, 7), log=Path("/log"))
    assert str(problem) == "a.cu:3:7: no such thing\n  what to do: add it\n  full output: /log"
    assert str(SourceError("no such thing")) == "no such thing"


def test_json_has_the_documented_keys() -> None:
    told = SourceError("no such thing", location=Location("a.cu", 3)).to_json()
    page = (DOCS / "errors.md").read_text()
    assert all(f"`{key}`" in page for key in told)
    assert (told["error"], told["file"], told["line"], told["column"], told["log"]) == ("source", "a.cu", 3, 0, None)


def test_the_page_is_up_to_date() -> None:
    assert (DOCS / "errors.md").read_text() == reference.errors_page(), "python -m enzyme_driver.cli.reference docs"
