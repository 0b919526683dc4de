"""Loads one application in turn with oha and with vegeta, in one warm fresh start."""

from dataclasses import dataclass, replace
from pathlib import Path

from tandem.crosscheck.crosscheck import CrossCheck, Pair, compare_all, conclude, disturbances
from tandem.errors import TandemError
from tandem.load.generator import OHA, Generator, check_version
from tandem.load.vegeta import VEGETA
from tandem.old.fresh import accepted
from tandem.old.lab import BenchLab
from tandem.old.session import Session, folder_for
from tandem.old.store import write_atomically
from tandem.record.window import Verdict, Window

RATE_SHARE = 0.5
"""The rate is this share of the goodput of a short closed window, unless it is given."""
TRIM_START_S, TRIM_END_S = 1.0, 0.5
"""Both open their connections when a window begins."""


@dataclass
class CrossCheckSession(Session):
    """One run of `tandem crosscheck`. under.plan: its warm-up is used."""

    pairs: int
    window_s: int
    rate_rps: int | None

    def run(self, name: str) -> CrossCheck:
        """Makes the pairs and compares. Raises UsageError, TandemError."""
        catalog, started = self.under.catalog, self.now()
        implementation = catalog.implementation(name)
        self.under.check(self.scenario.name, [implementation])
        folder = folder_for(self.results, f"crosscheck-{name}", started)
        self.clean_up()
        trims = {"trim_start_s": TRIM_START_S, "trim_end_s": TRIM_END_S}
        self.under = replace(self.under, plan=self.under.plan.model_copy(update=trims))
        prepared = self.under.prepare(implementation, self.scenario, folder)
        with self.stack([prepared], folder):
            versions = {
                "oha": check_version(prepared.stack.execute("loadgen", ["oha", "--version"])),
                "vegeta": _version(prepared.stack.execute("loadgen", ["vegeta", "-version"])),
            }
            with self.fresh(prepared, folder) as lab:
                rate = self.rate_rps or self._rate(lab)
                every = [self._pair(lab, folder, number, rate) for number in range(1, self.pairs + 1)]
        pairs = [pair for pair in every if not pair.disturbed]
        comparisons = compare_all(pairs)
        verdict, reasons = conclude(pairs, comparisons)
        found = CrossCheck(
            started_at=started,
            implementation=name,
            scenario=self.scenario.name,
            topology=self.under.topology,
            placement=self.under.placement,
            rate_rps=rate,
            window_s=self.window_s,
            pairs=len(pairs),
            disturbed=len(every) - len(pairs),
            versions=versions,
            comparisons=comparisons,
            verdict=verdict,
            reasons=[*reasons, *disturbances(every)],
            windows=[{"oha": pair.oha, "vegeta": pair.vegeta} for pair in every],
            phases_s=dict(self.phases_s),
        )
        write_atomically(folder / "crosscheck.json", found.model_dump_json(indent=1) + "\n")
        return found

    def _rate(self, lab: BenchLab) -> int:
        """Half of what a closed loop reaches, on a disturbed host too. Raises TandemError if it is wrong or nothing."""
        closed = lab.measure("closed", self.window_s, None)
        if closed.verdict is Verdict.INVALID:
            accepted(closed)
        rate = int(closed.goodput_rps * RATE_SHARE)
        if rate < 1:
            raise TandemError("too few right answers to derive a rate from: give one with --rate")
        return rate

    def _pair(self, lab: BenchLab, folder: Path, number: int, rate: int) -> Pair:
        """oha first in odd pairs, vegeta first in even ones: what drifts meets both alike."""
        self.view.trial(f"pair {number} of {self.pairs}, {rate:,}/s")
        order: list[Generator] = [OHA, VEGETA] if number % 2 else [VEGETA, OHA]
        windows: dict[str, Window] = {}
        for generator in order:
            lab.load_generator, lab.folder = generator, folder / f"pair-{number}-{generator.name}"
            lab.folder.mkdir(parents=True, exist_ok=True)
            self.view.phase(generator.name, self.window_s)
            windows[generator.name] = lab.measure("open", self.window_s, rate)
        lab.folder = folder
        return Pair(windows[OHA.name], windows[VEGETA.name])


def _version(text: str) -> str:
    """The version in the output of `vegeta -version`."""
    words = text.split()
    return words[words.index("Version:") + 1] if "Version:" in words else "unknown"
