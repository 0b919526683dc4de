"""The releases of the services, and the advisories that Debian's changelogs name as mended in them.

`python3 -m documents.services` asks Debian's archive, which takes seconds, and writes compose/services.json anew.
"""

import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from email.utils import parsedate_to_datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from documents.records import Records
from tandem.report.markdown import table

FILE = "compose/services.json"
RELEASES = ("trixie", "forky")
"""Debian's releases, as `--services` calls them."""
CHANGELOGS = r"""
set -e
sed -i "s/trixie/$1/" /etc/apt/sources.list.d/*.sources
apt-get -qq -o Acquire::Check-Valid-Until=false update >&2
cd "$(mktemp -d)"
apt-get -qq download "$(apt-cache depends postgresql-client | grep -o 'postgresql-client-[0-9]*')" pgbouncer haproxy >&2
for package in *.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -xO --wildcards './usr/share/doc/*/changelog.Debian.gz' | zcat
done"""
ENTRY = re.compile(r"(?m)^(?=\S+ \([^)]+\) )")
HEAD = re.compile(r"(\S+) \((?:\d+:)?([^)]+)\) ")
NAMED_MOST = 8
"""Longer lists are counted in the table; the file has them."""


def packages(changelogs: str) -> list[dict[str, Any]]:
    """The newest version of each package, with its day, the advisories (CVE) that the entries of its branch
    name (`mended`), and those that older entries name (`before`).

    changelogs: one or several, each from its newest entry on. A branch has all but the last number of a version in common.
    """
    entries = [(match[1], match[2], text) for text in ENTRY.split(changelogs) if (match := HEAD.match(text))]
    return [_package(package, list(own)) for package, own in groupby(entries, lambda entry: entry[0])]


def _package(package: str, entries: list[tuple[str, str, str]]) -> dict[str, Any]:
    _, version, newest = entries[0]
    branch = version.partition("-")[0].rpartition(".")[0] + "."
    mended = _advisories(text for _, own, text in entries if own.startswith(branch))
    before = [one for one in _advisories(text for *_, text in entries) if one not in mended]
    day = parsedate_to_datetime(newest.rstrip().rpartition(">  ")[2]).date()
    return {"package": package, "version": version, "day": f"{day}", "mended": mended, "before": before}


def _advisories(texts: Iterable[str]) -> list[str]:
    found = {one for text in texts for one in re.findall(r"CVE-\d+-\d+", text)}
    return sorted(found, key=lambda one: [int(number) for number in one.split("-")[1:]])


def services(records: Records) -> str:
    """A row for each service and release: its advisories, and those that the service of the other release names besides."""
    releases: dict[str, list[dict[str, Any]]] = json.loads((records.root / FILE).read_text())
    rows = [
        (f"`{one['package']}`", release, one["version"], one["day"], *_told(one, other))
        for pair in zip(*releases.values(), strict=True)
        for release, one, other in zip(releases, pair, reversed(pair), strict=True)
    ]
    headings = (
        "package",
        "release",
        "version",
        "of",
        "advisories mended",
        "mended in the other release alone",
    )
    return table(headings, rows)


def _told(one: dict[str, Any], other: dict[str, Any]) -> Iterator[str]:
    known = {*one["mended"], *one["before"]}
    for advisories in (one["mended"], [name for name in other["mended"] if name not in known]):
        yield ", ".join(advisories) if len(advisories) <= NAMED_MOST else f"{len(advisories)} advisories"


def ask(release: str) -> list[dict[str, Any]]:
    """The packages of a release, from Debian's archive, in a container of the base image. Raises CalledProcessError."""
    container = ["docker", "run", "--rm", "--label", "dev.tandem=services", "debian:trixie-slim"]
    command = [*container, "sh", "-c", CHANGELOGS, "sh", release]
    return packages(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


if __name__ == "__main__":
    Path(FILE).write_text(json.dumps({release: ask(release) for release in RELEASES}, indent=1) + "\n")
