"""A statement: a contrast that README, page and documents quote, and what all sessions say of it. Pure."""

import math
import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from tandem.analysis.prediction import next_value
from tandem.analysis.ratios import ALPHA, t_interval
from tandem.catalog.catalog import Catalog
from tandem.catalog.placement import cpus_in
from tandem.catalog.toml import parsed, read_toml
from tandem.errors import UsageError, unknown
from tandem.facts.session import SessionMachine, SessionRecord
from tandem.record.conclusion import Contrast
from tandem.record.part import Number, Part
from tandem.record.request import Services

FILE = "loadgen/statements.toml"
MOST = 12
"""Main statements: more than a reader would keep in mind, and an hour would measure."""
SESSIONS_LEAST = 5
MODELS_LEAST = 2
MODELS_OF_ANY = 5
"""From so many CPU models on, the next machine may be spoken of, and not only the next session on such a machine."""
MEMORY = "memory"
"""Metrics with this in their key are of one version of control groups: the two count different things."""

type Settings = tuple[tuple[str, str], ...]


class Side(NamedTuple):
    """A program of a statement."""

    implementation: str
    version: int
    settings: Settings
    """All that it ran with, so that a default which changes makes another statement. Where nobody knows them, those that were
    chosen: such a side is equal to none whose settings are known."""


class Key(NamedTuple):
    """What two contrasts must have in common to be two draws of one statement. Images are no part of it: they are built anew
    everywhere."""

    metric: str
    of: Side
    to: Side
    scenario: str
    scenario_version: int
    topology: str
    placement: str
    db_rtt_ms: int | None = None
    arrivals: str | None = None
    services: Services | None = None
    cgroup_version: int | None = None
    """Version of control groups; null for all metrics but those of memory."""

    @property
    def turned(self) -> "Key":
        """The key of the reciprocal ratio."""
        return self._replace(of=self.to, to=self.of)


def key_of(record: SessionRecord, contrast: Contrast) -> Key:
    """The statement that a contrast is a draw of."""

    def side(label: str) -> Side:
        ran = record.programs[label]
        settings = ran.settings if ran.effective is None else ran.effective
        return Side(ran.implementation, ran.version, tuple(sorted(settings.items())))

    return Key(
        metric=contrast.metric,
        of=side(contrast.of),
        to=side(contrast.to),
        scenario=record.scenario,
        scenario_version=record.scenario_version,
        topology=record.topology,
        placement=record.placement,
        db_rtt_ms=record.db_rtt_ms,
        arrivals=record.arrivals,
        services=record.services,
        cgroup_version=record.machine.cgroup_version if MEMORY in contrast.metric else None,
    )


def defaults_now(catalog: Catalog, implementation: str, placement: str) -> dict[str, str]:
    """The settings that an implementation has today where none is chosen. One that follows from the number of CPUs is left out
    where the placement does not tell it."""
    one, place = catalog.implementation(implementation), catalog.placements.get(placement)
    cpus = cpus_in(place.variables.get("APP_CPUSET", "")) if place else None
    found = catalog.effective_settings(one, cpus or 1, {})
    open_ = {name for name, formula in one.defaults.items() if cpus is None and "cpus" in formula}
    return {name: value for name, value in found.items() if name not in open_}


def unlike(had: Settings, now: Mapping[str, str]) -> list[str]:
    """What differs in a program's settings from others: `DB_PREPARE=0`. A setting that a session does not say is unknown."""
    found = [f"{name}={value}" for name, value in had if now.get(name) != value]
    missing = sorted(now.keys() - dict(had).keys())
    return found + ([f"{missing[0] if len(missing) == 1 else 'other settings'} unknown"] if missing else [])


# ---- the main statements ----


class MainStatement(BaseModel):
    """One of the contrasts that are quoted."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    metric: str
    of: str
    """An implementation with its defaults."""
    to: str


class Statements(BaseModel):
    """loadgen/statements.toml"""

    model_config = ConfigDict(extra="forbid", frozen=True)
    plan: str
    scenario: str
    topology: str
    placement: str
    baseline: str
    """The implementation that is started twice in each block."""
    statement: list[MainStatement] = Field(min_length=1, max_length=MOST)

    @property
    def implementations(self) -> list[str]:
        """All that take part, the baseline first."""
        every = [self.baseline, *(name for one in self.statement for name in (one.to, one.of))]
        return list(dict.fromkeys(every))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """(of, to) of each statement, once."""
        return list(dict.fromkeys((one.of, one.to) for one in self.statement))

    @property
    def groups(self) -> list[list[str]]:
        """The implementations, those of one pair together; pairs that share one are one group."""
        found: list[set[str]] = [{self.baseline}]
        for pair in self.pairs:
            joined = {*pair}.union(*(group for group in found if group & {*pair}))
            found = [group for group in found if not group & joined] + [joined]
        order = self.implementations.index
        return sorted((sorted(group, key=order) for group in found), key=lambda group: order(group[0]))


def read_statements(root: Path, other: Path | None = None) -> Statements:
    """The main statements of a repository, or those of another such file. Raises UsageError, with the key, for one that is not as
    it must be."""
    file = other or root / FILE
    return parsed(Statements, read_toml(file), file)


def key_now(
    statements: Statements,
    catalog: Catalog,
    metric: str,
    of: str,
    to: str,
    scenario: str | None = None,
    topology: str | None = None,
) -> Key:
    """The key of two implementations with their defaults, in their present versions. scenario, topology: those of the main
    statements where none is given. Raises UsageError for a name that there is not."""
    asked = catalog.scenario(scenario or statements.scenario)

    def side(name: str) -> Side:
        now = defaults_now(catalog, name, statements.placement)
        return Side(name, catalog.implementation(name).version, tuple(sorted(now.items())))

    where = asked.name, asked.version, topology or statements.topology, statements.placement
    return Key(metric, side(of), side(to), *where)


def keys_now(
    statements: Statements, catalog: Catalog, metrics: Collection[str], file: str = FILE
) -> list[Key]:
    """The key of each statement, in their order. metrics: all that there are. Raises UsageError, naming the file, for a name that
    there is not."""
    try:
        catalog.implementation(statements.baseline)
        for one in statements.statement:
            if one.metric not in metrics:
                raise unknown("metric", one.metric, metrics)
        return [key_now(statements, catalog, one.metric, one.of, one.to) for one in statements.statement]
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from None


# ---- what sessions say together ----


@dataclass(frozen=True)
class Draw:
    """What one session said."""

    session: SessionRecord
    contrast: Contrast

    @property
    def key(self) -> Key:
        """The statement that it is a draw of."""
        return key_of(self.session, self.contrast)

    @property
    def turned(self) -> "Draw":
        """The draw of the reciprocal statement."""
        return Draw(self.session, turned(self.contrast))

    @property
    def control_failed(self) -> bool:
        control = self.session.control
        return control is not None and self.contrast.metric in control.failed

    @property
    def ln(self) -> float:
        """The ratio's logarithm."""
        assert self.contrast.ratio is not None
        return math.log(self.contrast.ratio)


class OfModel(Part):
    """The sessions of one CPU model."""

    model: str
    sessions: int
    ratio: Number
    """Geometric mean over the model's sessions."""
    interval: tuple[Number, Number] | None
    """95 % interval; null below two sessions."""


class Known(Part):
    """What all sessions say of a statement together."""

    sessions: int
    first: str
    """The day of the earliest session."""
    last: str
    """The day of the latest session."""
    models: list[OfModel]
    ratio: Number
    """Geometric mean over the CPU models' means."""
    interval: tuple[Number, Number] | None
    """95 % interval of `ratio` over CPU models; null below two models."""
    sd_ln: Number | None
    """Standard deviation of the sessions' logarithms."""
    expected: tuple[Number, Number] | None
    """95 % prediction interval for the ratio that the next session will print; null below two sessions."""
    control_failed: int = 0
    """Sessions whose control failed."""
    earlier: bool = False
    """Whether a program has another version or other defaults today, and nobody has measured these yet."""

    @property
    def finding(self) -> bool:
        """Whether it may be quoted without saying how little it rests on."""
        return self.sessions >= SESSIONS_LEAST and len(self.models) >= MODELS_LEAST

    @property
    def basis(self) -> str:
        """What it rests on, in words: `9 sessions, 2 CPU models`."""
        sessions = "one session" if self.sessions == 1 else f"{self.sessions} sessions"
        models = "one CPU model" if len(self.models) == 1 else f"{len(self.models)} CPU models"
        return f"{sessions}, {models}{', of earlier versions' if self.earlier else ''}"

    @property
    def any_machine(self) -> bool:
        """Whether the prediction interval is about the next machine, and not only the next session on such a machine."""
        return len(self.models) >= MODELS_OF_ANY

    @property
    def next_one(self) -> str:
        """What the prediction interval is about."""
        return "the next machine" if self.any_machine else "the next session on such a machine"


class HitRate(Part):
    """How often a later session lay in the 95 % prediction interval of those before it."""

    predicted: int
    """Ratios that at least two earlier sessions had an interval for."""
    inside: int


class StatedAnswer(Part):
    """What is known of a main statement."""

    name: str
    address: str
    """Address of its picture, from the folder of this file."""
    sentence: str
    conditions: str
    metric: str
    of: str
    to: str
    versions: tuple[int, int]
    """Versions of the two programs' work; `known.earlier` says whether one has another today."""
    finding: bool
    """Whether it may be quoted without saying how little it rests on."""
    older: list[str]
    """What the two programs depend on that has moved by a minor version since its newest session. Empty: nothing, as far as is noted."""
    known: Known


class StatedAnswers(Part):
    """The file answers.json of a site: the main statements that have sessions."""

    schema_version: Literal[1] = 1
    answers: list[StatedAnswer]
    hit_rate: HitRate
    """Hit rate of all statements, not of the main ones alone."""


def draws(sessions: Iterable[SessionRecord], key: Key) -> list[Draw]:
    """The draws of a statement in order of time; those that were made the other way round are turned."""
    either = key, key.turned
    every = ((draw, draw.key) for draw in _every_draw(sessions) if draw.contrast.metric == key.metric)
    return [draw if own == key else draw.turned for draw, own in every if own in either]


def _every_draw(sessions: Iterable[SessionRecord]) -> Iterator[Draw]:
    """The draws of all statements, in order of time."""
    yield from (Draw(record, one) for record in sessions for one in record.contrasts if one.ratio is not None)


def newest(sessions: Sequence[SessionRecord], key: Key) -> list[Draw]:
    """The draws of a statement in order of time. Where no session has it with today's versions and defaults, those of before."""
    return draws(sessions, key) or of_before(sessions, key)


def of_before(sessions: Iterable[SessionRecord], key: Key) -> list[Draw]:
    """The draws of a statement with the other versions and defaults that the newest session with its contrast has."""
    earlier: dict[Key, list[Draw]] = {}
    for draw in _of_any_day(sessions, key):
        if draw.contrast.ratio is not None and draw.key != key:
            earlier.setdefault(draw.key, []).append(draw)
    return max(earlier.values(), key=lambda same: same[-1].session.started_at, default=[])


def kept_apart(sessions: Iterable[SessionRecord], key: Key) -> Counter[str]:
    """How many sessions have a statement's contrast in another version or with other defaults, by what differs:
    `rust-async version 0`, `falcon-sync with THREADS=40`. Settings that were chosen are asked for, not kept apart."""
    keys = [draw.key for draw in _of_any_day(sessions, key)]
    return Counter(", ".join(_apart(own, key)) for own in keys if own != key)


def _of_any_day(sessions: Iterable[SessionRecord], key: Key) -> Iterator[Draw]:
    """The draws of a statement in whichever versions and with whichever defaults, in order of time and turned to its side."""
    for record in sessions:
        for contrast in record.contrasts:
            of, to = record.programs[contrast.of], record.programs[contrast.to]
            if of.settings or to.settings:
                continue
            draw = Draw(record, contrast)
            draw = draw if of.implementation == key.of.implementation else draw.turned
            if _of_whichever_version(draw.key) == _of_whichever_version(key):
                yield draw


def _of_whichever_version(key: Key) -> Key:
    of, to = (Side(side.implementation, 0, ()) for side in (key.of, key.to))
    return key._replace(scenario_version=0, of=of, to=to)


def _apart(own: Key, key: Key) -> Iterator[str]:
    if own.scenario_version != key.scenario_version:
        yield f"{own.scenario} version {own.scenario_version}"
    sides = (own.of, key.of), (own.to, key.to)
    for had, now in sides:
        if had.version != now.version:
            yield f"{had.implementation} version {had.version}"
    for had, now in sides:
        if had.settings != now.settings:
            yield f"{had.implementation} with {' and '.join(unlike(had.settings, dict(now.settings)))}"


def turned(contrast: Contrast) -> Contrast:
    """The reciprocal ratio; its word is left out, as it would be another."""
    interval = contrast.interval
    return contrast.model_copy(
        update={
            "of": contrast.to,
            "to": contrast.of,
            "ratio": 1 / contrast.ratio if contrast.ratio else None,
            "interval": (1 / interval[1], 1 / interval[0]) if interval else None,
            "word": None,
        }
    )


def by_model(machines: Sequence[SessionMachine]) -> list[str]:
    """The CPU model of each machine, for people. A machine of unknown generation (an old record) counts as the one model of
    its name that is known, so that it never adds a model; it is one of its own where there is none, or more than one."""
    of_name: dict[str | None, list[tuple[str, ...]]] = {}
    for machine in machines:
        models = of_name.setdefault(machine.cpu_model, [])
        if machine.model is not None and machine.model not in models:
            models.append(machine.model)
    unknown = {machine.cpu_model for machine in machines if machine.model is None}
    found = []
    for machine in machines:
        models = of_name[machine.cpu_model]
        if len(models) < 2:
            # One model, or none that is known: with old records among them the name is all that is known of each.
            found.append(machine.plain_name if machine.cpu_model in unknown else machine.name)
        elif machine.model is None:
            found.append(f"{machine.plain_name}, generation unknown")
        else:
            alike = [one.model for one in machines if one.name == machine.name]
            number = list(dict.fromkeys(alike)).index(machine.model) + 1
            found.append(machine.name if number == 1 else f"{machine.name}, other caches ({number})")
    return found


def known(found: Sequence[Draw], today: Key | None = None) -> Known | None:
    """What the draws of a statement say together; None without any. today: the statement with today's versions and defaults,
    where the draws may be of others.

    The mean for each CPU model, the mean over the models with its Student t interval, and the prediction interval over the
    sessions (tandem.analysis.prediction).
    """
    if not found:
        return None
    groups: dict[str, list[float]] = {}
    for draw, model in zip(found, by_model([draw.session.machine for draw in found]), strict=True):
        groups.setdefault(model, []).append(draw.ln)
    means = [statistics.fmean(own) for own in groups.values()]
    every = [draw.ln for draw in found]
    return Known(
        sessions=len(found),
        first=f"{found[0].session.started_at:%Y-%m-%d}",
        last=f"{found[-1].session.started_at:%Y-%m-%d}",
        models=[
            OfModel(
                model=model,
                sessions=len(own),
                ratio=math.exp(statistics.fmean(own)),
                interval=_of_ln(t_interval(own)),
            )
            for model, own in groups.items()
        ],
        ratio=math.exp(statistics.fmean(means)),
        interval=_of_ln(t_interval(means)),
        sd_ln=statistics.stdev(every) if len(every) > 1 else None,
        expected=_of_ln(next_value(every)),
        control_failed=sum(draw.control_failed for draw in found),
        earlier=today is not None and found[0].key != today,
    )


def _of_ln(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    """An interval of logarithms as one of ratios."""
    return None if interval is None else (math.exp(interval[0]), math.exp(interval[1]))


def every_statement(sessions: Iterable[SessionRecord]) -> dict[Key, list[Draw]]:
    """All statements that sessions are draws of, with their draws in order of time: of two that are each other's reciprocal
    the first."""
    found: dict[Key, list[Draw]] = {}
    for draw in _every_draw(sessions):
        key = draw.key
        if key not in found and key.turned in found:
            found[key.turned].append(draw.turned)
        else:
            found.setdefault(key, []).append(draw)
    return found


def hit_rate(statements: Iterable[Sequence[Draw]]) -> HitRate:
    """Hold each draw against the interval that those before it gave. statements: the draws of each, in order of time."""
    inside = list[bool]()
    for own in statements:
        every = [draw.ln for draw in own]
        for number, ln in enumerate(every):
            if (expected := next_value(every[:number])) is not None:
                inside.append(expected[0] <= ln <= expected[1])
    return HitRate(predicted=len(inside), inside=sum(inside))


# ---- a new session beside the others ----


class Beside(Part):
    """A contrast of a new session beside what the others say."""

    contrast: Contrast
    known: Known
    limits: tuple[Number, Number]
    """The prediction interval with the confidence that all contrasts of the session share."""
    outside_alone: bool
    """Whether it is outside its own 95 % interval; of many some are, by chance."""
    outcome: Literal["as expected", "outside"]


def beside(record: SessionRecord, sessions: Sequence[SessionRecord]) -> list[Beside]:
    """Each contrast of a session that others have measured at least twice, beside what they say. One limit for the family:
    each has 1 - ALPHA / (how many there are)."""
    others = [one for one in sessions if one.id != record.id]
    pairs = [(draw.contrast, draws(others, draw.key)) for draw in _every_draw([record])]
    comparable = [(contrast, found) for contrast, found in pairs if len(found) > 1]
    told = []
    for contrast, found in comparable:
        summary = known(found)
        limits = _of_ln(next_value([draw.ln for draw in found], 1 - ALPHA / len(comparable)))
        assert contrast.ratio is not None
        assert limits is not None
        assert summary is not None
        assert summary.expected is not None
        told.append(
            Beside(
                contrast=contrast,
                known=summary,
                limits=limits,
                outside_alone=not summary.expected[0] <= contrast.ratio <= summary.expected[1],
                outcome="as expected" if limits[0] <= contrast.ratio <= limits[1] else "outside",
            )
        )
    return told
