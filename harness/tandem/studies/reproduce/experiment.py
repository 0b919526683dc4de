"""Reads loadgen/experiments/*.toml and loadgen/claims/*.toml: what was published, and what is run to see it again. Pure but for reading."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tandem.catalog.toml import parsed, read_toml
from tandem.errors import UsageError, unknown
from tandem.facts.metric import METRICS
from tandem.record.result import Described, Publication
from tandem.record.store import explained, file_name

EXPERIMENTS, CLAIMS = "loadgen/experiments", "loadgen/claims"
"""Folders of the repository that have a TOML file for each."""
PlanName = Literal["smoke", "core", "wide", "full"]
PLANS: tuple[PlanName, ...] = get_args(PlanName)
CORE_STARTS, WIDE_STARTS = 10, 3
Published = dict[str, float]
"""Figure -> value, as the document has it (converted to the figure's unit)."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ExperimentRow(_Part):
    """One line of a published table, or one of our own beside it."""

    label: Annotated[str, Field(min_length=1, max_length=80)]
    variant: dict[str, Any] = {}
    """The program that is started (tandem.record.request.Variant), laid over the experiment's own. Rows of equal variants share a fresh
    start."""
    window: dict[str, Any] = {}
    """The part of the load that is this row's alone (tandem.studies.reproduce.windows.RowWindow), laid over the experiment's own."""
    round_trips: Annotated[int, Field(ge=1)] | None = None
    """Round trips to the database for one request, as our program makes them."""
    published: Published = {}
    """The figures of `published_host`."""
    published_elsewhere: dict[str, Published] = {}
    """The figures of the document's other hosts, by the name that the document gives them."""
    smoke: bool = False
    """Whether the plans smoke and core measure the row."""
    note: str = ""


class Claim(_Part):
    """A conclusion of the document, in our words, as a ratio of two rows."""

    text: str
    figure: str = "goodput_rps"
    of: str
    to: str
    """Labels: the ratio is `of` / `to`."""
    says: Literal["more", "less", "same"] | None = None
    """The claimed direction; None: what the published figures say."""
    host: str | None = None
    """The host whose published figures count, one of `published_elsewhere`; None: `published_host`."""
    ratio: Annotated[float, Field(gt=0)] | None = None
    """The ratio, where the document has no figures."""


class ExperimentPlan(_Part):
    """Lengths and numbers of measurements."""

    starts: Annotated[int, Field(ge=1)]
    """Fresh starts of every row."""
    warm_up_s: Annotated[int, Field(ge=0)] = 0
    window_s: Annotated[int, Field(ge=1)] | None = None
    """The shortest window."""
    requests: Annotated[int, Field(ge=1)] | None = None
    """Requests for which a window is long enough at the row's ceiling, where `cap_s` allows it."""
    cap_s: Annotated[int, Field(ge=1)] | None = None
    """The longest window; None: no limit."""
    limits: dict[str, int] = {}
    """Limits of programs with a measure of their own: `drill_s`, `lines_percent`."""


class Plans(_Part):
    """smoke: proves that it works. full: what may be quoted. Between them, with the short windows of smoke: core, the
    rows of smoke in CORE_STARTS fresh starts, so that its claims are decided in minutes; wide, every row in WIDE_STARTS.
    """

    smoke: ExperimentPlan
    full: ExperimentPlan


class Experiment(_Part, Described):
    """loadgen/experiments/NAME.toml, or loadgen/claims/NAME.toml"""

    name: str
    source: Annotated[str, Field(pattern=r"^https://")] | None = None
    figures: Annotated[list[str], Field(min_length=1)]
    """The columns of its table; the record holds all that were measured."""
    variant: dict[str, Any] = {}
    window: dict[str, Any] = {}
    """Keys that all rows have in common."""
    ascending: bool = False
    """The windows of a start ascend in their connections, so that the memory is that of each; False: their order is random."""
    app_cpus_least: Annotated[int, Field(ge=1)] = 1
    """CPUs that the application needs: where the host's placement gives it fewer, nothing is pinned."""
    rows: Annotated[list[ExperimentRow], Field(min_length=1)]
    claims: list[Claim] = []
    plans: Plans

    @property
    def publication(self) -> Publication:
        """The part of an experiment that a reader needs who knows no rows."""
        return Publication.of(self.name, self)

    def plan(self, name: PlanName) -> ExperimentPlan:
        smoke = self.plans.smoke
        starts = {"smoke": smoke.starts, "core": CORE_STARTS, "wide": WIDE_STARTS}
        return self.plans.full if name == "full" else smoke.model_copy(update={"starts": starts[name]})

    def measured(self, plan: PlanName) -> list[ExperimentRow]:
        """The rows that a plan measures, in the order of the file."""
        return [row for row in self.rows if plan in ("wide", "full") or row.smoke]

    def row(self, label: str) -> ExperimentRow:
        """The row with a label. Raises UsageError for a label that there is not."""
        for row in self.rows:
            if row.label == label:
                return row
        raise unknown("row", label, (row.label for row in self.rows))

    def only(self, labels: Collection[str]) -> "Experiment":
        """Leave out all rows but these, and the claims that compare others."""
        rows = [row for row in self.rows if row.label in labels]
        claims = [claim for claim in self.claims if claim.of in labels and claim.to in labels]
        return self.model_copy(update={"rows": rows, "claims": claims})

    def digest(self, plan: PlanName) -> str:
        """Changes when what is measured under a plan changes; texts do not count."""
        texts = {"claims", "figures", "name", *Described.model_fields}
        own = self.model_dump(mode="json", exclude={"rows", "plans", *texts})
        shown = {"published", "published_elsewhere", "note", "smoke"}
        rows = [row.model_dump(mode="json", exclude=shown) for row in self.measured(plan)]
        parts = [own, self.plan(plan).model_dump(mode="json"), rows]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def read(file: Path) -> Experiment:
    """The experiment in a TOML file, named after it. Raises UsageError with the file and the key."""
    data = read_toml(file)
    if "name" in data:
        raise UsageError(f"{file}: name: follows from the file's name and cannot be given")
    found = parsed(Experiment, {"name": file.stem, **data}, file)
    try:
        check(found)
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from None
    if file.match(f"{CLAIMS}/*") and (found.source is None or not found.hypothesis):
        raise UsageError(f"{file}: a claim needs `source`, an address, and `hypothesis`")
    return found


def read_all(root: Path) -> dict[str, Experiment]:
    """Every experiment of the repository, by name. Raises UsageError for one that cannot be read."""
    return {file.stem: read(file) for file in sorted((root / EXPERIMENTS).glob("*.toml"))}


def read_claims(root: Path) -> dict[str, Experiment]:
    """Every claim that people quote, by name. Raises UsageError for one that cannot be read, or lacks its source."""
    return {file.stem: read(file) for file in sorted((root / CLAIMS).glob("*.toml"))}


def pick(root: Path, name: str) -> Experiment:
    """The experiment or claim of that name, or the one in a TOML file that the name is the path of. Raises UsageError."""
    if name.endswith(".toml"):
        return read(Path(name))
    for folder in (EXPERIMENTS, CLAIMS):
        if (file := root / folder / f"{name}.toml").is_file():
            return read(file)
    raise unknown("experiment", name, [*read_all(root), *read_claims(root)])


def check(experiment: Experiment) -> None:
    """Raises UsageError for what does not fit together."""
    twice = [label for label, n in Counter(row.label for row in experiment.rows).items() if n > 1]
    if twice:
        raise UsageError(f"rows: '{twice[0]}' is given twice; every row needs a label of its own")
    files = Counter(file_name(row.label) for row in experiment.rows)
    same = [row.label for row in experiment.rows if files[file_name(row.label)] > 1]
    if same:
        raise UsageError(f"rows: the labels '{same[0]}' and '{same[1]}' would share one file")
    _known("figures", experiment.figures)
    for row in experiment.rows:
        for published in (row.published, *row.published_elsewhere.values()):
            _known(f"row '{row.label}': published", published)
            if not all(value > 0 for value in published.values()):
                raise UsageError(f"row '{row.label}': published: a figure must be above 0")
    if not experiment.measured("smoke"):
        raise UsageError("rows: none is marked `smoke = true`, so the plan smoke would measure nothing")
    for number, claim in enumerate(experiment.claims, start=1):
        try:
            _check_claim(experiment, claim)
        except UsageError as error:
            raise UsageError(f"claim {number} ('{claim.text}'): {error}") from None


def _known(where: str, names: Iterable[str]) -> None:
    for name in names:
        if name not in METRICS:
            raise UsageError(f"{where}: {unknown('figure', name, METRICS)}")


def _check_claim(experiment: Experiment, claim: Claim) -> None:
    _known("figure", [claim.figure])
    if claim.of == claim.to:
        raise UsageError("`of` and `to` are the same row")
    of, to = experiment.row(claim.of), experiment.row(claim.to)
    if claim.host is not None:
        hosts = {**of.published_elsewhere, **to.published_elsewhere}
        if claim.host not in hosts:
            raise unknown("host", claim.host, hosts)
    if claim.says is None and published_ratio(experiment, claim) is None:
        raise UsageError("nothing says what is claimed: give `says`, `ratio` or both published figures")


def published_ratio(experiment: Experiment, claim: Claim) -> float | None:
    """The claim's ratio as published, or in the published figures; None where one of them is missing."""
    if claim.ratio is not None:
        return claim.ratio
    values = []
    for label in (claim.of, claim.to):
        row = experiment.row(label)
        known = row.published if claim.host is None else row.published_elsewhere.get(claim.host, {})
        values.append(known.get(claim.figure))
    of, to = values
    return None if of is None or to is None else of / to


def parse[T: BaseModel](where: str, table: dict[str, Any], into: type[T]) -> T:
    """A table in its own type. Raises UsageError with the key."""
    try:
        return into.model_validate(table)
    except ValidationError as error:
        raise UsageError(explained(error, where)) from None


def plan_named(name: str) -> PlanName:
    """Raises UsageError for a plan that no experiment has."""
    for plan in PLANS:
        if plan == name:
            return plan
    raise unknown("plan of an experiment", name, PLANS)
