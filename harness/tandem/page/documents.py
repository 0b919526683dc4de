"""The documents of the repository as pages of the site."""

import base64
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

FURTHER = ("README.md", "results/README.md", "contract/README.md", "contract/tests/README.md")
MARK = re.compile(r"<!-- /?figure.*?-->", re.DOTALL)
FOLDER = "docs"
"""Folder of the documents in the site."""


@dataclass(frozen=True)
class SitePage:
    """A page. path: in the site, below its root."""

    path: str
    title: str
    html: str
    text: str
    """Text for the search."""


def address(name: str) -> str:
    """Address of a document in the site: `docs/how-to/README.md` is `docs/how-to/index.html`."""
    if name == "README.md":
        return f"{FOLDER}/readme.html"
    stem = name.removeprefix("docs/").removesuffix(".md")
    return f"{FOLDER}/{re.sub('/README$', '/index', stem)}.html"


def documents(root: Path) -> Iterable[SitePage]:
    """All documents, rendered."""
    own = sorted(file.relative_to(root).as_posix() for file in (root / "docs").rglob("*.md"))
    known = {name: address(name) for name in (*FURTHER, *own) if (root / name).is_file()}
    return (_document(root, name, known) for name in known)


def _document(root: Path, name: str, known: dict[str, str]) -> SitePage:
    # Sources of this repository: their HTML is a `<br>` here and there. Records never come this way.
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    text = MARK.sub("", (root / name).read_text())
    tokens = parser.parse(text)
    title, words = "", []
    for at, token in enumerate(tokens):
        inline = tokens[at + 1] if token.type == "heading_open" else None
        if inline is not None:
            plain = "".join(child.content for child in inline.children or [])
            token.attrSet("id", slug(plain))
            title = title or plain
        if token.type in ("th_open", "td_open") and token.attrs.pop("style", None) == "text-align:right":
            token.attrSet("class", "number")  # the policy allows no style of an element's own
        if token.type == "inline":
            words.append("".join(child.content or " " for child in token.children or []))
            for child in token.children or []:
                _link(child, root, name, known)
    html = str(parser.renderer.render(tokens, parser.options, {}))
    return SitePage(known[name], title or name, html, re.sub(r"\s+", " ", " ".join(words)))


def slug(heading: str) -> str:
    """The name that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _link(token: Token, root: Path, name: str, known: dict[str, str]) -> None:
    """A link to another document leads to its page; one to a source is not kept, a picture is put in."""
    here = posixpath.dirname(name)
    if token.type == "link_open":
        target, _, heading = str(token.attrGet("href") or "").partition("#")
        if not target or "://" in target:
            return
        path = posixpath.normpath(posixpath.join(here, target))
        if path in known:
            to = posixpath.relpath(known[path], posixpath.dirname(known[name]))
            token.attrSet("href", to + (f"#{heading}" if heading else ""))
        else:
            token.attrs.pop("href")
            token.attrSet("title", path)
    elif token.type == "image":
        file = root / posixpath.normpath(posixpath.join(here, str(token.attrGet("src") or "")))
        kind = {".svg": "svg+xml", ".png": "png"}.get(file.suffix)
        if kind and file.is_file() and file.is_relative_to(root):
            data = base64.b64encode(file.read_bytes()).decode()
            token.attrSet("src", f"data:image/{kind};base64,{data}")
