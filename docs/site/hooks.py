"""Hooks of MkDocs: the documents of the top folder become pages, and links between all of them hold on the site."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "examples/README.md": "examples.md",
}
"""Documents outside of docs/, and the pages that they become."""

_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)#:\s]+)(?P<anchor>#[^)]*)?\)")
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the documents of the top folder."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Links to documents lead to their pages; what is not on the site is text."""
    source = next((path for path, name in PAGES.items() if name == page.file.src_uri), f"docs/{page.file.src_uri}")
    parts = _FENCE.split(markdown)
    parts[::2] = [_LINK.sub(lambda link: _rewritten(link, source, page.file.src_uri), part) for part in parts[::2]]
    return "".join(parts)


def _rewritten(link: re.Match[str], source: str, page: str) -> str:
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link["target"]))
    place = PAGES.get(target) or PAGES.get(f"{target}/README.md")
    if place is None and target.startswith("docs/"):
        place = target.removeprefix("docs/")
    if place is None:
        return link["text"]
    there = posixpath.relpath(place, posixpath.dirname(page) or ".")
    return f"{link['image']}[{link['text']}]({there}{link['anchor'] or ''})"
