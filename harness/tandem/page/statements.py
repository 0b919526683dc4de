"""The statements as the first page has them: a sentence, a figure with its basis, and a picture of the sessions. Pure but for
lock files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tandem.catalog.catalog import Catalog
from tandem.catalog.pins import moved, pins_of
from tandem.facts.session import SessionRecord
from tandem.facts.statement import (
    Draw,
    Key,
    Known,
    Side,
    StatedAnswer,
    StatedAnswers,
    Statements,
    defaults_now,
    every_statement,
    hit_rate,
    key_now,
    known,
    newest,
    unlike,
)
from tandem.page.data import AddedFigure
from tandem.page.result import PageTable
from tandem.report.forest import cpu_names, forest, rows
from tandem.wording import basis_told, expected_range, metric_told, times


@dataclass(frozen=True)
class StatementsSection:
    """Section of the first page."""

    main: dict[str, AddedFigure | None]
    """Title of a main statement -> its picture; None without a session."""
    further: PageTable
    conditions: dict[str, str]
    """Id of a picture -> under what its sessions were made."""
    answers: StatedAnswers

    @property
    def figures(self) -> list[AddedFigure]:
        """The pictures of the main statements."""
        return [one for one in self.main.values() if one is not None]


FURTHER = ("statement", "conditions", "ratio", "next session", "basis")
FURTHER_LEAST = 2
"""Sessions of a further statement that is listed."""


def section(sessions: Sequence[SessionRecord], statements: Statements, catalog: Catalog) -> StatementsSection:
    """The section of the statements. sessions: all, in order of time."""
    cpus, taken = cpu_names(sessions), set[Key]()
    main: dict[str, AddedFigure | None] = {}
    conditions, answers = {}, list[StatedAnswer]()
    for one in statements.statement:
        key = key_now(statements, catalog, one.metric, one.of, one.to)
        taken |= {key, key.turned}
        found = newest(sessions, key)
        together = known(found, key)
        title = _title(key, catalog)
        main[title] = None
        if together is None:
            continue
        name, sentence = f"statement-{one.name}", _sentence(key, together)
        spec = forest(rows(found, cpus), together)
        main[title] = AddedFigure(name, title, sentence, spec, read="reference/sessions")
        conditions[name] = f"{_conditions(key)}. {_when(found, together)}."
        made, older = found[-1].key, _older(found[-1], catalog)
        conditions[name] += f" Measured on older versions: {'; '.join(older)}." if older else ""
        told: dict[str, Any] = one.model_dump(include={"name", "metric", "of", "to"})
        told |= {"sentence": sentence, "conditions": conditions[name], "finding": together.finding}
        versions, address = (made.of.version, made.to.version), f"index.html#figure-{name}"
        answers.append(StatedAnswer(address=address, versions=versions, older=older, known=together, **told))
    stated = StatedAnswers(answers=answers, hit_rate=hit_rate(every_statement(sessions).values()))
    return StatementsSection(main, _further(sessions, taken, catalog), conditions, stated)


def _older(newest: Draw, catalog: Catalog) -> list[str]:
    """What has moved since a draw, of both its programs."""
    programs = [newest.session.programs[one] for one in (newest.contrast.of, newest.contrast.to)]
    names = {one.implementation: one.pins or {} for one in programs}
    there = [(name, pins) for name, pins in names.items() if name in catalog.implementations]
    told = (one for name, pins in there for one in moved(pins, pins_of(catalog.root, name)))
    return list(dict.fromkeys(told))


def badge(one: StatedAnswer) -> tuple[str, str]:
    """What a statement is of, and its figure with its basis."""
    expected = f" ({expected_range(one.known)})" if one.known.finding else ""
    of = f"{metric_told(one.metric)}, {one.of} by {one.to}"
    older = ", measured on older versions" if one.older else ""
    return of, f"{times(one.known.ratio)}{expected}, {basis_told(one.known)}{older}"


def _title(key: Key, catalog: Catalog) -> str:
    name = metric_told(key.metric)
    of, to = (_variant(side, key.placement, catalog) for side in (key.of, key.to))
    return f"{name[0].upper()}{name[1:]}: {of} by {to}"


def _variant(side: Side, placement: str, catalog: Catalog) -> str:
    name = side.implementation
    now = defaults_now(catalog, name, placement) if name in catalog.implementations else {}
    other = ",".join(unlike(side.settings, now))
    return f"{name}:{other}" if other else name


def _sentence(key: Key, known: Known) -> str:
    """Sentence with the ratio, where the next session is expected, and the basis."""
    name = metric_told(key.metric)
    begin = f"{name[0].upper()}{name[1:]} of {key.of.implementation} is {times(known.ratio)} that of {key.to.implementation}"
    if known.expected is not None:
        begin += f"; in {known.next_one} it is expected within {expected_range(known)}"
    return f"{begin} ({basis_told(known)})."


def _conditions(key: Key) -> str:
    distance = "" if key.db_rtt_ms is None else f", database {key.db_rtt_ms} ms away"
    arriving = "" if key.arrivals is None else f", {key.arrivals}"
    newer = "" if key.services is None else f", services of {key.services}"
    return f"scenario {key.scenario}, topology {key.topology}, placement {key.placement}{distance}{newer}{arriving}"


def _when(found: Sequence[Draw], known: Known) -> str:
    means = "; ".join(f"{one.model}: {times(one.ratio)} in {one.sessions}" for one in known.models)
    commits = list(dict.fromkeys((draw.session.commit or "unknown")[:8] for draw in found))
    last = f" to {known.last}" if known.last != known.first else ""
    return f"{known.first}{last}; means by CPU model: {means}; commits {', '.join(commits[-6:])}"


def _further(sessions: Sequence[SessionRecord], taken: set[Key], catalog: Catalog) -> PageTable:
    """Table of all other statements that more than one session measured, by name."""
    out = list[list[str]]()
    for key, found in every_statement(sessions).items():
        together = None if key in taken else known(found)
        if together is not None and together.sessions >= FURTHER_LEAST:
            figures = times(together.ratio), expected_range(together), basis_told(together)
            out.append([_title(key, catalog), _conditions(key), *figures])
    return PageTable("", list(FURTHER), sorted(out), [False] * len(FURTHER))
