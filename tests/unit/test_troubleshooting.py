"""docs/troubleshooting.md: the messages in its headings are messages of adgen."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")


def source() -> str:
    """All of adgen's code, with string literals that are continued on the next line joined."""
    folder = ROOT / "enzyme_driver"
    files = [path for ending in ("py", "cpp", "h") for path in sorted(folder.rglob(f"*.{ending}"))]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return re.sub(r'"\s*\n\s*f?"', "", text)


def test_every_message_is_one_that_adgen_says() -> None:
    messages = re.findall(r"^### `(.+)`$", PAGE, re.MULTILINE)
    assert len(messages) > 20
    code = source()
    missing = {
        message: part
        for message in messages
        for part in (each.strip(" :,") for each in message.split("…"))
        if part.removeprefix("cannot differentiate ") not in code
    }
    assert missing == {}
