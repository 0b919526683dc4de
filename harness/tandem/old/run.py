"""The records of versions 1 and 2, and of the commands that are not on the engine yet."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from tandem.analysis.ceilings import CENSORED_SHARE as CENSORED_SHARE
from tandem.analysis.ceilings import reaches_ceiling as reaches_ceiling
from tandem.analysis.ceilings import share_of_ceiling as share_of_ceiling
from tandem.record.host import Hiccup as Hiccup
from tandem.record.host import Host as Host
from tandem.record.host import PerSecond as PerSecond
from tandem.record.part import Number as Number
from tandem.record.part import Part as Part
from tandem.record.window import DbRtt as DbRtt
from tandem.record.window import Finding as Finding
from tandem.record.window import Pooler as Pooler
from tandem.record.window import Proxy as Proxy
from tandem.record.window import Role as Role
from tandem.record.window import Statement as Statement
from tandem.record.window import Times as Times
from tandem.record.window import Verdict as Verdict
from tandem.record.window import Window as Window

SCHEMA_VERSION: Literal[2] = 2
"""Version 1 lacked what has a default here; its records stay readable."""


class Phase(Part):
    name: str
    duration_s: Number


class Trial(Part):
    """One fresh start."""

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
    """Duration of the visit without its warm-up and windows."""


class ResponseTime(Part):
    p50: Number | None
    p90: Number | None
    p99: Number | None
    p999: Number | None


class Summary(Part):
    """The figures of the good trials; all null unless the verdict is ok."""

    goodput_rps: Number | None = None
    goodput_rps_interval: tuple[Number, Number] | None = None
    """95 % Student t interval of the mean over fresh starts."""
    response_time_ms: ResponseTime = ResponseTime(p50=None, p90=None, p99=None, p999=None)
    response_time_samples: int = 0
    offered_rps: Number | None = None
    """The rate at which the response time was taken."""
    app_cpu_us_per_request: Number | None = None
    app_cpu_us_per_request_interval: tuple[Number, Number] | None = None
    app_memory_peak_bytes: int | None = None
    trials_ok: int = 0


class Environment(Part):
    """What is needed to know what was measured, and to do it again."""

    tandem_version: str
    git_commit: str | None
    git_dirty: bool | None
    host: dict[str, str | int | float | None]
    images: dict[str, str]
    """Role -> image id."""
    versions: dict[str, str]
    knobs: dict[str, str]
    variables: dict[str, str]
    """What compose/stack.yaml was given: topology, placement, knobs."""
    hashes: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of every lock file, and of the contract as a whole."""
    configuration: dict[str, str] = Field(default_factory=dict)
    """Component -> its effective configuration, as text."""
    selftest: str | None = None
    """What the harness's self-test said of the harness that day."""


class Warning(Part):
    code: str
    text: str


class Run(Part):
    """One cell of a campaign: an implementation under a scenario, a topology and a placement."""

    schema_version: Literal[1, 2] = SCHEMA_VERSION
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
    reasons: list[str] = Field(description="Why the verdict is not ok")
    bottleneck: str | None
    bottleneck_evidence: list[str]
    warnings: list[Warning]
    summary: Summary
    ceilings_rps: dict[str, Number | None] = Field(default_factory=dict)
    """What the parts around the application reached in the same session; empty where the plan has no such look."""
    trials: list[Trial]
    environment: Environment

    @property
    def ceiling_share(self) -> float | None:
        """The goodput's share of the lowest ceiling."""
        return share_of_ceiling(self.summary.goodput_rps, self.ceilings_rps)
