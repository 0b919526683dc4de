"""The record of a study, one schema for all of them: result.json. Its trials stand beside it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, PlainSerializer

from tandem.record.conclusion import Contrast, Estimate, Position, found_at
from tandem.record.host import HostSeen
from tandem.record.part import Number, Part
from tandem.record.request import Request, Variant
from tandem.record.window import Finding, Verdict


def common(alike: Sequence[Any]) -> Any:
    """The keys that all have, each with its most frequent value."""
    if not all(isinstance(one, dict) for one in alike):
        return max(alike, key=alike.count)
    keys = dict.fromkeys(key for one in alike for key in one)
    return {key: common([one[key] for one in alike]) for key in keys if all(key in one for one in alike)}


def difference(one: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """What has to be laid over `shared`, which `common` made of this and others, to get it back."""
    out = {}
    for key, value in one.items():
        if key not in shared or value != shared[key]:
            nested = isinstance(value, dict) and isinstance(shared.get(key), dict)
            out[key] = difference(value, shared[key]) if nested else value
    return out


def laid_over(shared: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """A copy of `shared` in which the values of `own` stand."""
    out = dict(shared)
    for key, value in own.items():
        nested = isinstance(value, dict) and isinstance(out.get(key), dict)
        out[key] = laid_over(out[key], value) if nested else value
    return out


SCHEMA_VERSION: Literal[3] = 3
"""A record of another version is refused, with the name of its file."""


class Environment(Part):
    """What is needed to know what was measured, and to do it again."""

    tandem_version: str
    git_commit: str | None
    git_dirty: bool | None
    host: dict[str, str | int | float | None]
    """Host of the application."""
    hosts: dict[str, dict[str, str | int | float | None]] = Field(default_factory=dict)
    """Each host of a lab by its name: its roles, what it is, by how much its clock is ahead of the harness's and how well that is
    known, the quickest question to it, and the quickest TCP handshakes with the services elsewhere that its roles ask. Empty
    where everything runs on one."""
    images: dict[str, str]
    """Role -> image id."""
    taken: dict[str, str] = Field(default_factory=dict)
    """Role -> where its image was taken from, with the digest; the others were built."""
    versions: dict[str, str]
    settings: dict[str, str]
    """Effective settings, and as SQL that a program sends statements of its own, which nobody can choose."""
    variables: dict[str, str]
    """What compose/stack.yaml was given: topology, placement, settings."""
    hashes: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of every lock file, and of the contract as a whole."""
    configuration: dict[str, str] = Field(default_factory=dict)
    """Component -> its effective configuration, as text."""


class Environments(Part):
    """The environments of all variants as result.json has them: what most of them share stands once."""

    common: Environment | None = None
    own: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    """Label of a variant -> what is laid over `common`, key by key, to get its environment."""


def per_variant(stored: Any) -> Any:
    """Label -> environment, from the form of result.json or from one that is whole already, as in older records."""
    if not isinstance(stored, dict) or not stored.keys() or stored.keys() - {"common", "own"}:
        return stored
    Environments.model_validate(stored)
    return {label: laid_over(stored["common"] or {}, own) for label, own in stored["own"].items()}


def shared_once(environments: dict[str, Environment]) -> Environments:
    """The form of result.json."""
    every = {label: one.model_dump(mode="json") for label, one in environments.items()}
    if not every:
        return Environments()
    alike = common([*every.values()])
    own = {label: difference(one, alike) for label, one in every.items()}
    return Environments(common=Environment.model_validate(alike), own=own)


class CeilingLook(Part):
    """A short look at what a stand-in reaches."""

    block: int
    attempt: int = 1
    """Attempt at the block: it is made again where the host disturbed a trial of it."""
    goodput_rps: Number | None
    """Goodput of the stand-in; null where the host disturbed the look."""


class Baselines(Part):
    """What stands beside every result."""

    ceilings_rps: dict[str, Number | None] = Field(default_factory=dict)
    """What the stand-ins reached in the same session, mean of the looks; empty where the plan has none."""
    looks: dict[str, list[CeilingLook]] = Field(default_factory=dict)
    """Stand-in -> the looks at it, which are in the blocks. Empty in records with one look before all blocks."""
    selftest: str | None = None
    """What the harness's self-test said of the harness that day."""


class Described(BaseModel):
    """What a reader of a published experiment, or of a claim that people quote, is told of it."""

    model_config = ConfigDict(use_attribute_docstrings=True)
    title: str
    origin: str
    """The document or the quote, and its section."""
    source: str | None = None
    """Address of a quoted claim; null for an experiment."""
    hypothesis: str = ""
    """Hypothesis of a quoted claim: what would have to be seen."""
    published_host: str
    """Where its figures were measured."""
    sentence: str = ""
    """What changed when it was measured again, and whether the conclusion stands; empty until somebody wrote it."""


class Publication(Described):
    """What a reader is told of a publication, with its name."""

    name: str
    """Name by which `reproduce` knows it."""

    @classmethod
    def of(cls, name: str, described: Described) -> Self:
        """The publication, without what else is known of it."""
        return cls(name=name, **{field: getattr(described, field) for field in Described.model_fields})


class Conclusions(Part):
    """What a study makes of its trials: figures and ratios in one form for all studies. What only one study has, such as a fit
    or a map, are further fields of its own kind."""

    estimates: list[Estimate] = Field(default_factory=list)
    contrasts: list[Contrast] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    """Sentences about all estimates and contrasts."""

    @property
    def publication(self) -> Publication | None:
        """What was measured again; its claims are the contrasts with a text. None: nothing that was published."""
        return None

    def estimate_of(self, metric: str, position: Position) -> Estimate | None:
        """A metric of a variant; None: it was not estimated."""
        return found_at((one for one in self.estimates if one.metric == metric), position)

    def mean_of(self, metric: str, position: Position) -> float | None:
        """The mean of a metric of a variant; None: it was not estimated, or has none."""
        found = self.estimate_of(metric, position)
        return None if found is None else found.mean

    def contrast_of(self, metric: str, position: Position) -> Contrast | None:
        """A variant by the one that it is compared with; None: it is not."""
        key = metric, *position
        return next((one for one in self.contrasts if (one.metric, one.of, one.coordinates) == key), None)


class Concluded[C: Conclusions](Part):
    """A study's answer."""

    verdict: Verdict
    reasons: list[str] = Field(default_factory=list)
    """Why the verdict is not ok."""
    findings: list[Finding] = Field(default_factory=list)
    """What else a reader has to know."""
    conclusions: C
    headline: str = ""
    """The main figure in a few words, for lists of results."""
    variants: list[Variant] | None = None
    """What trials and estimates name, where that is more than the study's variants."""
    complete: bool = False
    """Whether the conclusions have every estimate that there is, because the windows of a variant differ; False: those that all
    windows of a variant give together are added."""


class RawFiles(Part):
    """Where the files of a record are that it is not judged from: rows, logs, what the stack was given."""

    sha256: str
    """SHA-256 of the files' tar archive (tandem.record.packed), before compression."""
    commit: str | None = None
    """A commit whose tree has them; null where none has."""


class Result[C: Conclusions](Part):
    """result.json"""

    schema_version: Literal[3] = SCHEMA_VERSION
    id: str
    """Id of its folder, unless it was copied."""
    request: Request
    started_at: datetime
    finished_at: datetime
    verdict: Verdict
    headline: str = ""
    """The main figure in a few words, for lists of results, which read no farther than this."""
    reasons: list[str]
    findings: list[Finding]
    trials: dict[Verdict, int]
    """How many trials there are of each verdict, repeated ones included."""
    compared: dict[str, str] = Field(default_factory=dict)
    """Variant -> how many answers of its load were read on the wire and compared, in words."""
    made_again: dict[str, int] = Field(default_factory=dict)
    """Variant -> how many of its starts were made once more, because the host disturbed one of their block."""
    host: HostSeen | None = None
    """What the windows say of the host; null where there was none."""
    baselines: Baselines
    variants: list[Variant] = Field(default_factory=list)
    """Everything that appears in a trial: what its labels stand for, with coordinates."""
    conclusions: C
    phases_s: dict[str, Number] = Field(default_factory=dict)
    """Phase -> its seconds: where the time went."""
    environments: Annotated[
        dict[str, Environment],
        BeforeValidator(per_variant),
        PlainSerializer(shared_once, return_type=Environments),
    ] = Field(default_factory=dict)
    """Label of a variant -> its environment. On disk what they share stands once (Environments)."""
    packed_sha256: str | None = None
    """SHA-256 of a committed record's trials.jsonl.xz, which has its environments and its trials."""
    raw: RawFiles | None = None
    """Files of a committed record that are not committed. Null where they stand beside it."""
