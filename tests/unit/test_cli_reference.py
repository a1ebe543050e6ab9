"""docs/cli.md is the command's own help."""

from pathlib import Path

from enzyme_driver import cli
from enzyme_driver.cli import reference

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == reference.cli_page(), "python -m enzyme_driver.cli.reference docs"


def test_the_page_has_every_command() -> None:
    text = PAGE.read_text()
    for name in (*cli.COMMANDS, "toolchain install", "cache prune", "cache explain"):
        assert f"## `adgen {name}`" in text
