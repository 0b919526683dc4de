"""One word has one meaning: no two classes or types of the package have the same name."""

import ast
from collections import defaultdict
from pathlib import Path


def twice(package: Path) -> dict[str, list[str]]:
    """Names of module-level classes and types that stand in more than one place, with these places."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted(package.rglob("*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(f"{file.relative_to(package)}:{node.lineno}")
            elif isinstance(node, ast.TypeAlias):
                found[node.name.id].append(f"{file.relative_to(package)}:{node.lineno}")
    return {name: places for name, places in found.items() if len(places) > 1}


def test_no_class_name_twice(root: Path) -> None:
    assert twice(root / "harness/tandem") == {}


def test_a_name_that_stands_twice_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("class Window: ...\n")
    (tmp_path / "other.py").write_text("type Window = int\n")
    assert twice(tmp_path) == {"Window": ["one.py:1", "other.py:1"]}
