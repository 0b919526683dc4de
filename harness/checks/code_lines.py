"""Lines of code of the programs for `recipes`: without tests, comments, docstrings and blank lines."""

import ast
import re
import tokenize
from io import StringIO
from pathlib import Path

from checks.changed import sources
from checks.house import tracked

LIMITS = {
    **dict.fromkeys(("python-async", "python-sync", "falcon-async", "falcon-sync"), 500),
    **dict.fromkeys(("rust-async", "rust-sync"), 800),
    **{"node": 600, "go": 750, "java-threads": 870},
    **dict.fromkeys(("cpp-async", "cpp-sync"), 1_700),
}
"""Program -> the most lines that it may have."""
OTHERS = re.compile(r"(users?|work|index|adding|offload)")
"""Modules that only other scenarios than `recipes` use."""
TEST = re.compile(r"(^|/)tests?(/|\.rs$)|\.test\.ts$|_test\.go$")
ENDINGS = (".py", ".rs", ".ts", ".cpp", ".hpp", ".go", ".java")
QUOTED = r'"(?:\\.|[^"\\])*"' + r"|'(?:\\[^'\n]+|[^'\\\n])'" + r"|`(?:\\.|[^`\\])*`"
"""Literals of Rust, C++ and TypeScript, in which nothing is a comment or a brace."""


def code_lines(text: str, ending: str) -> int:
    """The number of lines of one file that hold code. ending: such as `.rs`."""
    if ending == ".py":
        tokens = [one for one in tokenize.generate_tokens(StringIO(text).readline) if one.string.strip()]
        code = {
            n for one in tokens if one.type != tokenize.COMMENT for n in range(one.start[0], one.end[0] + 1)
        }
        alone = [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Expr)]
        docstrings = [one for one in alone if isinstance(one.value, ast.Constant)]
        return len(code - {row for one in docstrings for row in range(one.lineno, (one.end_lineno or 0) + 1)})

    def masked(match: re.Match[str]) -> str:
        return "" if match[0].startswith(("//", "/*")) else re.sub(r"\S", "x", match[0])

    bare = re.sub(rf"{QUOTED}|//[^\n]*|/\*.*?\*/", masked, text, flags=re.DOTALL)
    while (start := bare.find("#[cfg(test)]")) >= 0:
        bare = bare[:start] + bare[_item_end(bare, start) :]
    return sum(bool(line.strip()) for line in bare.splitlines())


def _item_end(text: str, start: int) -> int:
    """The end of the Rust item that begins at `start`: behind its semicolon or its last brace."""
    depth = 0
    for match in re.compile(r"[{};]").finditer(text, start):
        depth += {"{": 1, "}": -1, ";": 0}[match[0]]
        if depth == 0:
            return match.end()
    return len(text)


def files(root: Path, program: str) -> list[Path]:
    """The program's sources: all below the `src` of every folder that its image is built from."""
    places = [place for place in sources(root, f"{program}/Dockerfile") if not place.startswith("contract")]
    return [
        file
        for file in tracked(root, *places)
        if file.suffix in ENDINGS
        and ("src" in file.relative_to(root).parts or file.suffix == ".go")
        and not TEST.search(str(file.relative_to(root)))
        and not OTHERS.fullmatch(file.stem)
    ]


def counted(root: Path) -> dict[str, int]:
    """Program -> its lines of code for `recipes`."""
    return {
        name: sum(code_lines(file.read_text(), file.suffix) for file in files(root, name)) for name in LIMITS
    }


def excesses(sizes: dict[str, int]) -> list[str]:
    """Programs with more lines than they may have."""
    return [
        f"{name}: {size:,} lines of code for `recipes`; its limit is {LIMITS[name]:,}"
        for name, size in sizes.items()
        if size > LIMITS[name]
    ]
