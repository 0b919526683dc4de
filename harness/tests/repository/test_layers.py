"""The folders of the harness import in one direction only."""

import ast
from pathlib import Path

ORDER = [
    "record",
    "catalog",
    "probes",
    "load",
    "analysis",
    "judge",
    "lab",
    "ceiling",
    "capacity",
    "selftest",
    "campaign",
    "compare",
    "sweep",
    "crosscheck",
    "reproduce",
    "docs",
    "commands",
]
"""A folder imports from those before it; `errors` and `wording` are everybody's."""


def imported(file: Path) -> set[str]:
    """The folders of the package that a module imports from."""
    nodes = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)]
    names = [f"{node.module}.{alias.name}" for node in nodes for alias in node.names]
    return {name.split(".")[1] for name in names if name.startswith("tandem.")} & {*ORDER}


def backwards(package: Path) -> list[str]:
    """Imports from a folder that comes later."""
    return [
        f"{file.relative_to(package)} imports from {other}"
        for file in sorted(package.glob("*/*.py"))
        for other in sorted(imported(file))
        if ORDER.index(other) > ORDER.index(file.parent.name)
    ]


def test_data_moves_forward(root: Path) -> None:
    package = root / "harness/tandem"
    assert {file.parent.name for file in package.glob("*/*.py")} == {*ORDER}
    assert backwards(package) == []


def test_an_import_from_a_later_folder_is_found(tmp_path: Path) -> None:
    for folder, text in (
        ("judge", "from tandem.lab.stack import Stack\n"),
        ("load", "from tandem import record, compare\n"),
        ("lab", "from tandem.judge import judge\nfrom tandem.errors import TandemError\n"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.py").write_text(text)
    assert backwards(tmp_path) == [
        "judge/one.py imports from lab",
        "load/one.py imports from compare",
    ]
