"""The records of schema 1 and 2, as far as migrating them needs, and what of them is the same for every study.

Windows, findings and verdicts have not changed since; version 1 lacked what has a default here.
"""

from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from tandem.record.part import Number, Part
from tandem.record.request import Conditions, Request, Variant
from tandem.record.result import Environment
from tandem.record.store import read_model
from tandem.record.trial import Phase, Start, Trial, TrialSpec, WarmUp, WindowRecord, WindowSpec
from tandem.record.window import Finding, Verdict, Window

CAMPAIGN, RUN = "campaign.json", "run.json"
TRIMS_S = (2.0, 1.0)
"""At the ends of a window, where a record does not hold its plan: the default of all plans of that time."""


class OldTrial(Part):
    """One fresh start of one implementation."""

    index: int
    retry_of: int | None = None
    started_at: datetime
    verdict: Verdict
    findings: list[Finding]
    warm_up_s: Number | None = None
    warm_up_requests: int | None = None
    closed: Window | None = None
    open: Window | None = None
    phases: list[Phase] = Field(default_factory=list)
    overhead_s: Number | None = None
    """Without its warm-up and all that its windows took."""


class OldEnvironment(Part):
    """As Environment; its settings were called knobs."""

    tandem_version: str
    git_commit: str | None
    git_dirty: bool | None
    host: dict[str, str | int | float | None]
    images: dict[str, str]
    versions: dict[str, str]
    knobs: dict[str, str]
    variables: dict[str, str]
    hashes: dict[str, str] = Field(default_factory=dict)
    configuration: dict[str, str] = Field(default_factory=dict)
    selftest: str | None = None

    def migrated(self) -> Environment:
        """Today's. The line of the self-test stands in Baselines now."""
        return Environment(settings=self.knobs, **self.model_dump(exclude={"knobs", "selftest"}))


class OldWarning(Part):
    code: str
    text: str


class OldRun(Part):
    """run.json: one implementation of a campaign. summary: that of tandem.studies.bench.conclusions."""

    schema_version: Literal[1, 2]
    campaign: str
    run: str
    implementation: str
    scenario: str
    topology: str
    placement: str
    plan: str
    seed: int
    started_at: datetime
    finished_at: datetime
    verdict: Verdict
    reasons: list[str]
    bottleneck: str | None
    bottleneck_evidence: list[str]
    warnings: list[OldWarning]
    summary: dict[str, Any]
    ceilings_rps: dict[str, Number | None] = Field(default_factory=dict)
    trials: list[OldTrial]
    environment: OldEnvironment


class OldRequest(Part):
    """What a campaign was asked for; so was a comparison."""

    kind: Literal["bench", "compare"] = "bench"
    implementations: list[str]
    scenario: str
    topology: str
    placement: str
    plan: str
    seed: int
    knobs: dict[str, str] = Field(default_factory=dict)
    db_rtt_ms: int | None = None

    def migrated(self, variants: list[Variant]) -> Request:
        """Today's. variants: what `implementations` names."""
        return Request(
            study=self.kind,
            variants=variants,
            scenario=self.scenario,
            conditions=Conditions(topology=self.topology, placement=self.placement, db_rtt_ms=self.db_rtt_ms),
            plan=self.plan,
            seed=self.seed,
            settings=self.knobs,
        )


class OldCampaign(Part):
    """campaign.json"""

    schema_version: Literal[1, 2]
    id: str
    request: OldRequest
    started_at: datetime
    finished: bool = False


def read_campaign(folder: Path) -> OldCampaign | None:
    """The campaign of a folder; None if it has none. Raises TandemError, naming the file."""
    file = folder / CAMPAIGN
    return read_model(OldCampaign, file) if file.is_file() else None


def window_spec(name: str, label: str, window: Window, trims_s: tuple[float, float] = TRIMS_S) -> WindowSpec:
    """What a window of one variant was made from."""
    return WindowSpec(
        name=name,
        variants=[label],
        seconds=round(window.duration_s),
        load=window.load,
        rates_rps={label: round(window.offered_rps)} if window.offered_rps is not None else {},
        trim_start_s=trims_s[0],
        trim_end_s=trims_s[1],
    )


def trial_of(old: OldTrial, label: str, warm_up: WarmUp, trims_s: tuple[float, float] = TRIMS_S) -> Trial:
    """A fresh start in today's form. One that was made once more for another is its second attempt."""
    block = old.retry_of or old.index
    took = {phase.name: phase.duration_s for phase in old.phases}
    windows = [
        WindowRecord(
            spec=window_spec(name, label, window, trims_s),
            windows={label: window},
            duration_s=took.get(name, window.duration_s),
        )
        for name, window in (("closed", old.closed), ("open", old.open))
        if window is not None
    ]
    if old.closed is not None and old.open is not None and old.open.offered_rps is not None:
        share = round(old.open.offered_rps / old.closed.goodput_rps, 2)  # a plan's had no more digits
        windows[1].spec.share, windows[1].spec.share_of = share, "closed"
    broke = [finding for finding in old.findings if finding.code == "failed"]
    return Trial(
        spec=TrialSpec(
            name=f"{block}-{label}",
            block=block,
            variants=[label],
            warm_up=warm_up,
            windows=[record.spec for record in windows],
            attempt=2 if old.retry_of else 1,
        ),
        started_at=old.started_at,
        verdict=old.verdict,
        findings=broke,
        starts={
            label: Start(
                warm_up_s=old.warm_up_s,
                warm_up_requests=old.warm_up_requests,
                findings=[finding for finding in old.findings if finding not in broke],
            )
        },
        windows=windows,
        phases=old.phases,
        overhead_s=old.overhead_s,
    )
