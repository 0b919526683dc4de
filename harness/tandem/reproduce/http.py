"""Experiments over HTTP: fresh starts, verified and warmed up, with closed windows."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tandem.errors import TandemError
from tandem.load.client import BEFORE_LOAD
from tandem.load.rows import Rows, read_rows
from tandem.old.lab import BenchLab
from tandem.old.prepare import Prepared
from tandem.old.run import Environment
from tandem.old.session import Session
from tandem.old.store import file_name, write_atomically
from tandem.record.window import Verdict, Window
from tandem.reproduce.experiment import Experiment, PlanName
from tandem.reproduce.http_figures import figures, oha_text, peaks, service_times
from tandem.reproduce.http_run import alone_s, trips_ceiling, trips_implied
from tandem.reproduce.http_setting import WARM_UP_LEAST_S, Setting, groups, settings, usable_connections
from tandem.reproduce.journal import Journal, make_all, ordered
from tandem.reproduce.kinds import Bench
from tandem.reproduce.result import Asked, Reproduction, Start, conclude, steps

STACK_S, START_S, WINDOW_S = 6.0, 4.0, 1.6
"""For the estimate: the shared services once; a start and a window besides their own seconds."""


@dataclass
class HttpSession:
    """Kind `http`. `run` may be called once."""

    bench: Bench
    session: type[Session] = Session
    _runs: dict[str, Prepared] = field(default_factory=dict)
    """By group."""
    _settings: dict[str, Setting] = field(default_factory=dict)
    """By row."""
    _folder: Path = Path()

    def check(self, experiment: Experiment, plan: PlanName) -> None:
        settings(self.bench.catalog, experiment, plan)

    def estimate_s(self, experiment: Experiment, plan: PlanName) -> float:
        own, total = experiment.plan(plan), STACK_S
        for group in groups(settings(self.bench.catalog, experiment, plan)).values():
            first = min(setting.request_s for setting in group)
            alone = alone_s(group[0].run)
            verify = max(BEFORE_LOAD.least * alone, min(BEFORE_LOAD.within_s, BEFORE_LOAD.most * alone))
            start = START_S + max(WARM_UP_LEAST_S, own.warm_up_s) + first + verify
            windows = sum(s.times.seconds + WINDOW_S + s.request_s for s in group)
            total += own.starts * (start + windows)
        return total

    def run(self, experiment: Experiment, asked: Asked, resume: bool) -> Reproduction:
        chosen = settings(self.bench.catalog, experiment, asked.plan)
        self._settings = {setting.row.label: setting for setting in chosen}
        session = self.session(
            chosen[0].under, chosen[0].scenario, self.bench.results, self.bench.view, asked.seed
        )
        started = session.now()
        session.clean_up()
        journal = Journal.begin(self.bench.results, asked, resume, started)
        self._folder = journal.folder
        if resume:
            self.bench.view.note(
                f"going on with {journal.folder.name}: {len(journal.starts())} starts are there"
            )
        together = groups(chosen)
        self._runs = {
            key: group[0].under.prepare(
                group[0].implementation,
                group[0].scenario,
                journal.folder / "raw" / file_name(group[0].row.label),
            )
            for key, group in together.items()
        }
        # The services are those of the first: the latency proxy is up if any row needs it.
        runs = sorted(self._runs.values(), key=lambda prepared: prepared.cell.db_rtt_ms is None)
        began = time.monotonic()
        with session.stack(runs, journal.folder):
            besides = {"builds and stack": time.monotonic() - began}
            environment = self._environments(session)
            order = steps(
                [[s.row.label for s in group] for group in together.values()],
                experiment.plan(asked.plan).starts,
                journal.asked.seed,
            )

            def measure(block: int, rows: Sequence[str], attempt: int) -> list[Start]:
                return self._measure(session, block, rows, attempt)

            make_all(order, journal, self.bench.view, measure, experiment.figures[0])
            facts = {setting.row.label: setting.facts for setting in chosen}
            found = conclude(
                experiment,
                journal.asked,
                ordered(experiment, journal),
                facts,
                environment,
                besides,
                (started, session.now()),
            )
            journal.finish(found)
        return found

    def _environments(self, session: Session) -> dict[str, Environment]:
        """By implementation: its first setting's. The knobs of each row are with the row."""
        found: dict[str, Environment] = {}
        for prepared in self._runs.values():
            name = prepared.cell.implementation.name
            if name not in found:
                found[name] = session.environment(prepared)
        return found

    # ---- one fresh start ----

    def _measure(self, session: Session, block: int, rows: Sequence[str], attempt: int) -> list[Start]:
        wanted = [self._settings[row] for row in rows]
        prepared = self._runs[wanted[0].run.group]
        again = "" if attempt == 1 else "-again"
        folder = self._folder / "raw" / prepared.name / f"start-{block}{again}"
        session.under = wanted[0].under
        made: list[Start] = []
        began = time.monotonic()
        try:
            with session.fresh(prepared, folder) as lab:
                warm_up_s = lab.warm_up_took_s
                fresh_s = time.monotonic() - began - warm_up_s
                for setting in wanted:
                    self._window(lab, prepared, setting, (block, attempt), made)
                ended = time.monotonic()
            stop_s = time.monotonic() - ended
        except TandemError as error:
            done = {start.row for start in made}
            failed = [
                Start(row=row, block=block, verdict=Verdict.FAILED, reason=str(error), attempts=attempt)
                for row in rows
                if row not in done
            ]
            return [*made, *failed]
        seen = peaks(_text(folder / "psrecord.log"))
        for start in made:
            if start.verdict is Verdict.OK:
                start.figures |= seen
            start.spent_s |= {
                "fresh start": fresh_s / len(made),
                "warm-up": warm_up_s / len(made),
                "stop": stop_s / len(made),
            }
        return made

    def _window(
        self,
        lab: BenchLab,
        prepared: Prepared,
        setting: Setting,
        which: tuple[int, int],
        made: list[Start],
    ) -> None:
        """Adds to `made` at once: what was measured before a failure counts. which: block, attempt."""
        cell = replace(prepared.cell, scenario=setting.scenario, plan=setting.under.plan)
        lab.ask_for(cell, cell.load_address)
        self.bench.view.phase(f"closed: {setting.row.label}", setting.times.seconds)
        began = time.monotonic()
        window = lab.measure("closed", setting.times.seconds, None)
        took_s, seconds = time.monotonic() - began, float(setting.times.seconds)
        rows = read_rows(lab.folder / "closed.sqlite")
        last_s = max(0.0, float(rows.end_s.max()) - seconds) if len(rows) else 0.0
        start = self._start(lab, setting, window, rows, *which)
        start.spent_s = {
            "window": seconds,
            "last requests": last_s,
            "around the window": took_s - seconds - last_s,
        }
        made.append(start)

    def _start(
        self, lab: BenchLab, setting: Setting, window: Window, rows: Rows, block: int, attempt: int
    ) -> Start:
        name, folder = file_name(setting.row.label), lab.folder
        lengths, status = lab.cell.answers.lengths(), setting.scenario.status
        service_s = service_times(rows, window, lengths, status, setting.times.trim_start_s)
        for suffix in ("json", "sqlite"):
            (folder / f"closed.{suffix}").rename(folder / f"{name}.{suffix}")
        text = oha_text(window, service_s)
        (folder / f"{name}.txt").write_text(text)
        write_atomically(folder / f"{name}.window.json", window.model_dump_json(indent=1) + "\n")
        texts = [finding.text for finding in window.findings if finding.severity != "warning"]
        found = Start(
            row=setting.row.label,
            block=block,
            verdict=window.verdict,
            reason=texts[0] if texts else None,
            attempts=attempt,
            warnings=[finding.text for finding in window.findings if finding.severity == "warning"],
            raw=str(folder.relative_to(self._folder)),
        )
        if window.verdict is not Verdict.OK:
            return found
        found.figures = figures(window, service_s)
        found.bottleneck, found.evidence = window.bottleneck, window.evidence
        if block == 1:
            found.details = {"histogram": text}
        if window.db_rtt_ms is not None:
            usable, rtt_ms = usable_connections(setting), window.db_rtt_ms.during_p50
            found.models = trips_ceiling(setting.run, usable, rtt_ms)
            implied = trips_implied(usable, rtt_ms, window.goodput_rps)
            if implied is not None:
                found.figures["round_trips"] = implied
        return found


def _text(file: Path) -> str:
    return file.read_text() if file.is_file() else ""
