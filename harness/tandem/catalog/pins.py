"""The versions that an implementation's own lock file pins, of what it names itself. Pure but for reading."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree import ElementTree

OURS = ("common", "shared")
"""Folders of this repository that implementations share."""
POM = "{http://maven.apache.org/POM/4.0.0}"


def _of_uv(text: str, name: str) -> dict[str, str]:
    packages = {one["name"]: one for one in tomllib.loads(text)["package"]}
    [own] = [one for one in packages.values() if "." in one["source"].values()]
    return {one["name"]: packages[one["name"]].get("version", "") for one in own.get("dependencies", [])}


def _of_cargo(text: str, name: str) -> dict[str, str]:
    packages = tomllib.loads(text)["package"]
    versions = {one["name"]: one["version"] for one in packages}
    [own] = [one for one in packages if one["name"] == name]
    named = [one.split() for one in own.get("dependencies", [])]
    return {one[0]: one[1] if len(one) > 1 else versions[one[0]] for one in named}


def _of_npm(text: str, name: str) -> dict[str, str]:
    packages = json.loads(text)["packages"]
    return {one: packages[f"node_modules/{one}"]["version"] for one in packages[""]["dependencies"]}


def _of_go(text: str, name: str) -> dict[str, str]:
    return dict(re.findall(r"^\t(\S+) v(\S+)$", text, re.MULTILINE))


def _of_maven(text: str, name: str) -> dict[str, str]:
    found = ElementTree.fromstring(text).iterfind(f"{POM}dependencies/{POM}dependency")
    return {one.findtext(f"{POM}artifactId", ""): one.findtext(f"{POM}version", "") for one in found}


LOCKS: dict[str, Callable[[str, str], dict[str, str]]] = {
    "uv.lock": _of_uv,
    "Cargo.lock": _of_cargo,
    "package-lock.json": _of_npm,
    "go.mod": _of_go,
    "pom.xml": _of_maven,
}


def pins_of(root: Path, name: str) -> dict[str, str]:
    """Dependency -> version of an implementation as it is in a repository. Empty where Debian's packages are all it has."""
    found: dict[str, str] = {}
    for lock, parse in LOCKS.items():
        if (file := root / name / lock).is_file():
            found |= parse(file.read_text(), name)
            if lock == "pom.xml":  # whose libraries are those of its parts
                found |= parse((root / "common/java/pom.xml").read_text(), name)
    return {one: version for one, version in sorted(found.items()) if one not in OURS}


def moved(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What moved by a minor version or more: `falcon 4.3.1, now 4.4.0`."""
    return [
        f"{name} {before[name]}, now {now[name]}"
        for name in sorted(before.keys() & now.keys())
        if before[name].split(".")[:2] != now[name].split(".")[:2]
    ]
