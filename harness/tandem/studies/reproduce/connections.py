"""Rows of the kind `connections`: each implementation's ladder of connections in one fresh start. Pure."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from tandem.record.request import Variant
from tandem.record.store import file_name
from tandem.record.trial import Trial, TrialSpec, WindowSpec
from tandem.record.window import Finding, Verdict, Window
from tandem.studies.reproduce.conclusions import Facts, Reproduced, RowTrial
from tandem.studies.reproduce.experiment import ExperimentRow
from tandem.studies.reproduce.kinds import RowsOf, begun, with_findings
from tandem.studies.reproduce.plots import PlotPoint
from tandem.studies.reproduce.saturation import limit
from tandem.studies.reproduce.tools import TOPOLOGY, loaded, not_connected, oha_figures

SCENARIO = "index"
SILENT = "silent"
"""The generator of idle rows: it opens connections and sends nothing (tandem.lab.idle_window)."""
KIB, MIB = 1024, 1024**2
IDLE_S = 6
"""For the estimate: opening thousands of silent connections, one after the other."""
SPARE_THREADS = 64
"""Beside one for each connection: those that wait for the next, and the harness's own connections."""


class ConnectionsSpec(BaseModel):
    """A row's `run`: a load of so many busy connections, or so many silent ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    implementation: str
    connections: Annotated[int, Field(ge=1)]
    idle: bool = False
    """Silent connections, whose memory is measured; no load."""
    thread_each: bool = False
    """The implementation has a thread for each connection: THREADS is set to what is needed, and counted."""

    @property
    def settings(self) -> dict[str, str]:
        """For people."""
        return {
            "implementation": self.implementation,
            "connections": str(self.connections),
            "load": "none" if self.idle else "oha",
        }

    @property
    def group(self) -> str:
        """Rows of a group share a fresh start; silent connections have one of their own, whose memory is untouched."""
        return f"{self.implementation} idle" if self.idle else self.implementation

    @property
    def threads(self) -> int:
        return self.connections + SPARE_THREADS if self.thread_each else 0


def window_figures(window: Window) -> dict[str, float]:
    """The figures of a load, by the experiments' names."""
    app = window.roles["app"]
    told = oha_figures(window) | {"cpu_percent": app.cpu_cores * 100}
    if window.app_memory_peak_bytes is not None:
        told["anonymous_memory_mib"] = window.app_memory_peak_bytes / MIB
    return told


def too_few_threads(spec: ConnectionsSpec, window: Window) -> list[Finding]:
    """A thread for each connection was claimed: were there so many? The kernel keeps connections that nobody has
    accepted established as well."""
    threads = window.app_threads or 0
    if not spec.thread_each or threads >= spec.connections:
        return []
    text = f"only {threads:,} threads for {spec.connections:,} connections: the other connections waited to be accepted"
    return [Finding.of("too-few-threads", "invalid", text)]


class ConnectionsRows(RowsOf[ConnectionsSpec]):
    """Kind `connections`."""

    form = ConnectionsSpec

    def accept(self, row: ExperimentRow, spec: ConnectionsSpec) -> None:
        self.possible(spec.implementation, SCENARIO, TOPOLOGY, self.placement, {})
        self.groups.setdefault(spec.group, []).append(row.label)

    @property
    def variants(self) -> list[Variant]:
        names = dict.fromkeys(spec.implementation for spec in self.specs.values())
        return [
            Variant(label=name, implementation=name, scenario=SCENARIO, settings=self._settings(name))
            for name in names
        ]

    def _settings(self, implementation: str) -> dict[str, str]:
        """THREADS where the model is a thread for each connection."""
        own = [spec.threads for spec in self.specs.values() if spec.implementation == implementation]
        return {"THREADS": str(max(own))} if max(own) else {}

    def started(self, group: str) -> str:
        return self.specs[self.groups[group][0]].implementation

    def trial(self, group: str, block: int, labels: Sequence[str]) -> TrialSpec:
        # What a load has touched stays with the allocator: ascending, so that memory is each load's own.
        return super().trial(group, block, sorted(labels, key=lambda label: self.specs[label].connections))

    def window(self, variant: str, label: str) -> WindowSpec:
        spec = self.specs[label]
        if not spec.idle:
            seconds = self.plan.window_s or 10
            return loaded(file_name(label), variant, seconds, spec.connections)
        return WindowSpec(
            name=file_name(label),
            variants=[variant],
            seconds=IDLE_S,
            generator=SILENT,
            scenario_changes={"idle_connections": spec.connections},
            trim_start_s=0,
            trim_end_s=0,
        )

    def facts(self, label: str) -> Facts:
        spec = self.specs[label]
        return Facts({**spec.settings, **self._settings(spec.implementation)})

    def needs(self, label: str) -> tuple[int, int]:
        return self.specs[label].connections, self.specs[label].threads

    def row_trial(self, label: str, trial: Trial) -> RowTrial:
        spec = self.specs[label]
        made = begun(label, trial, file_name(label))
        record = next(
            (one for one in trial.windows if one.spec.name == file_name(label) and one.windows), None
        )
        if record is None:
            return made
        window = record.only
        if spec.idle:
            if made.verdict is Verdict.OK:
                told = record.told or {}
                grown = told["memory_after_bytes"] - told["memory_before_bytes"]
                opened = float(window.idle_connections or 0)
                made.figures = {"memory_per_idle_kib": grown / spec.connections / KIB, "established": opened}
            return made
        figures = window_figures(window)
        found = not_connected(window, spec.connections, figures["connect_errors"])
        made = with_findings(made, [*found, *too_few_threads(spec, window)])
        if made.verdict is Verdict.OK:
            made.figures = figures
            made.bottleneck, made.evidence = limit(window, None)
        return made


def curves(found: Reproduced) -> list[PlotPoint]:
    """What the plots show: every load's means, of a reproduction of this kind."""
    return [
        PlotPoint(
            row.settings["implementation"],
            int(row.settings["connections"]),
            {name: mean.mean for name, mean in row.figures.items()},
        )
        for row in found.rows
        if row.settings.get("load") != "none"
    ]
