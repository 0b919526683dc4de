"""Compares entrants: blocks of fresh starts, all up and warm, short windows in turn while the others are frozen."""

import os
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

from tandem.analysis.schedule import Block as Planned
from tandem.analysis.schedule import alternation
from tandem.catalog.catalog import Pairing, Plan
from tandem.catalog.entrant import Entrant
from tandem.ceiling.around import ceilings_of, look_s
from tandem.compare import comparison
from tandem.compare.comparison import Block, Comparison, Shot, second
from tandem.compare.duet import duet, rates
from tandem.errors import TandemError, UsageError
from tandem.lab.lab import BenchLab
from tandem.lab.prepare import Conditions, Prepared
from tandem.lab.session import Session
from tandem.record.run import Verdict, Window
from tandem.record.store import Store, write_atomically

START_S, AROUND_WINDOW_S, AROUND_DUET_S = 3.5, 1.3, 2
"""What a start, a window and one of all at once cost besides warm-up and load, for the estimate."""
AWAKE_S = 0.2
"""A thawed application gets so long to read what came in while it was frozen."""


def pairing_of(under: Conditions) -> Pairing:
    """The plan's table [compare]. Raises UsageError if it has none."""
    if under.plan.compare is None:
        having = ", ".join(name for name, plan in under.catalog.plans.items() if plan.compare)
        raise UsageError(f"the plan {under.plan.name} has no [compare]; these have: {having}")
    return under.plan.compare


def estimate_s(plan: Plan, entrants: int) -> float:
    """How long a session of a plan with a table [compare] takes, without builds. entrants: without the reference's
    second start."""
    assert plan.compare is not None
    pairing, starts = plan.compare, entrants + 1
    windows = starts * pairing.rounds * (pairing.window_s + AROUND_WINDOW_S)
    duets = pairing.duet_s + AROUND_DUET_S if pairing.duet_s else 0
    return look_s(plan) + pairing.blocks * (starts * (START_S + pairing.warm_up_s) + windows + duets)


@dataclass
class ComparisonSession(Session):
    """One run of `tandem compare`."""

    def run(self, store: Store, entrants: list[Entrant]) -> Comparison:
        """Makes the blocks that the store does not have yet and concludes. Raises TandemError."""
        began, pairing = time.monotonic(), pairing_of(self.under)
        trims = {"trim_start_s": pairing.trim_start_s, "trim_end_s": pairing.trim_end_s}
        self.under = replace(self.under, plan=self.under.plan.model_copy(update=trims))
        labels = [entrant.label for entrant in entrants]
        prepared = self._prepare(store, entrants)
        done = {block.number: block for block in _read_blocks(store)}
        if done:
            self.view.note(f"{len(done)} of {pairing.blocks} blocks are there already")
        images = {one.cell.implementation.name: one for one in prepared.values()}
        with self.stack(list(images.values()), store.folder):
            self.phases_s["build, start the stack"] = time.monotonic() - began
            described = self.environment(prepared[labels[0]])
            with self.timed("ceilings"):
                ceilings_rps = ceilings_of(self, store.folder) if self.under.plan.ceilings else {}
            for planned in alternation(labels, labels[0], pairing.rounds, pairing.blocks, self.seed):
                if planned.index in done:
                    continue
                starts = ", ".join(entrant.label for entrant in planned.starts)
                self.view.trial(f"block {planned.index} of {pairing.blocks}: {starts}")
                block = self._block(planned, prepared, pairing, store.folder)
                _write_block(store, block)
                done[planned.index] = block
        blocks = [done[number] for number in sorted(done)]
        unfit = self.under.plan.unfit(os.cpu_count() or 1)
        found = Comparison(
            campaign=store.campaign.id,
            started_at=store.campaign.started_at,
            finished_at=datetime.now(UTC),
            scenario=self.scenario.name,
            topology=self.under.topology,
            placement=self.under.placement,
            plan=store.campaign.request.plan,
            seed=self.seed,
            blocks=len(blocks),
            findings=comparison.conclude(
                blocks, {label: prepared[label].knobs for label in labels}, ceilings_rps
            ),
            warnings=[unfit] if unfit else [],
            duration_s=time.monotonic() - began,
            phases_s=comparison.phases(blocks, self.phases_s),
            environment=described,
        )
        write_atomically(store.folder / "compare.json", found.model_dump_json(indent=1) + "\n")
        store.finish()
        return found

    def _prepare(self, store: Store, entrants: list[Entrant]) -> dict[str, Prepared]:
        """Label -> what is measured; the reference is there twice, each in a slot of its own."""
        reference = entrants[0]
        named = [(entrant.label, entrant) for entrant in entrants] + [(second(reference.label), reference)]
        out = {}
        for number, (label, entrant) in enumerate(named, start=1):
            under = self.under.with_knobs(entrant.knobs)
            folder = store.run_folder(f"slot-{number}")
            out[label] = under.prepare(entrant.implementation, self.scenario, folder, f"slot-{number}")
        return out

    # ---- one block ----

    def _block(
        self, planned: Planned, prepared: dict[str, Prepared], pairing: Pairing, folder: Path
    ) -> Block:
        began, phases = datetime.now(UTC), self.phases_s
        self.phases_s = defaultdict(float)
        labs: dict[str, BenchLab] = {}
        refused: dict[str, str] = {}
        shots: list[Shot] = []
        duets: list[Shot] = []
        first, starts = next(iter(prepared.values())), [entrant.label for entrant in planned.starts]
        try:
            with self.timed("start"):
                first.stack.stop("app", grace_s=1)
                first.stack.execute("db", ["reset"])
            labs = {name: self.lab(one, folder / (one.stack.slot or "")) for name, one in prepared.items()}
            labs[starts[0]].delay_database()
            for name in starts:
                try:
                    self._start(labs[name], pairing)
                except TandemError as error:
                    refused[name] = str(error)
                    self.view.note(f"  {name}: {error}")
            for number, order in enumerate(planned.rounds, start=1):
                for name in (entrant.label for entrant in order):
                    if name not in refused:
                        shots += self._shots(number, name, labs[name], pairing)
            self.view.note(f"  {_told(shots)}")
            if pairing.duet_s:
                duets = self._duets(
                    {name: labs[name] for name in _honest(starts, shots)}, shots, pairing.duet_s
                )
        finally:
            with self.timed("stop"):
                for lab in labs.values():
                    _end(lab)
        block = Block(
            number=planned.index,
            started_at=began,
            starts=starts,
            shots=shots,
            duets=duets,
            refused=refused,
            phases_s=dict(self.phases_s),
        )
        self.phases_s = phases
        return block

    def _start(self, lab: BenchLab, pairing: Pairing) -> None:
        with self.timed("start"):
            lab.launch()
            lab.wait_ready()
            wrong = lab.verify()
            if wrong:
                raise TandemError(wrong[0].text)
        with self.timed("warm up"):
            lab.warm_up(pairing.warm_up_s)
        lab.stack.pause()

    def _shots(self, number: int, name: str, lab: BenchLab, pairing: Pairing) -> list[Shot]:
        """A window; a second one at once if the host spoiled the first."""
        out = [self._shot(number, name, lab, pairing)]
        window = out[0].window
        if window is not None and window.verdict is Verdict.VOID:
            out.append(self._shot(number, name, lab, pairing))
        return out

    def _shot(self, number: int, name: str, lab: BenchLab, pairing: Pairing) -> Shot:
        began = time.monotonic()
        window: Window | None = None
        refused = None
        try:
            lab.stack.unpause()
            lab.select()
            time.sleep(AWAKE_S)
            window = lab.measure("closed", pairing.window_s, None, settled=False)
        except TandemError as error:
            refused = str(error)
        finally:
            with suppress(TandemError):
                lab.stack.pause()
        seconds = time.monotonic() - began
        self.phases_s["windows"] += pairing.window_s
        self.phases_s["around windows"] += seconds - pairing.window_s
        return Shot(round=number, entrant=name, window=window, refused=refused, seconds=seconds)

    def _duets(self, labs: dict[str, BenchLab], shots: list[Shot], seconds: int) -> list[Shot]:
        """One window of all at once; a second one if the host spoiled the first. None where one has no rate alone."""
        alone = {
            name: [rate for shot in shots if shot.entrant == name and (rate := _rate_rps(shot))]
            for name in labs
        }
        if not all(alone.values()):
            return []
        rates_rps = rates([fmean(found) for found in alone.values()])
        for lab in labs.values():
            lab.stack.unpause()
        time.sleep(AWAKE_S)
        out: list[Shot] = []
        for number in (1, 2):
            began = time.monotonic()
            windows: dict[str, Window] = {}
            refused = None
            with self.timed("all at once"):
                try:
                    windows = duet(labs, seconds, rates_rps)
                except TandemError as error:
                    refused = str(error)
            took_s = time.monotonic() - began
            out += [
                Shot(round=number, entrant=name, window=windows.get(name), refused=refused, seconds=took_s)
                for name in labs
            ]
            if all(window.verdict is not Verdict.VOID for window in windows.values()):
                break
        return out


def _end(lab: BenchLab) -> None:
    with suppress(TandemError):
        lab.stack.unpause()
    with suppress(TandemError):
        lab.collect()
    with suppress(TandemError):
        lab.stop()


def _honest(starts: list[str], shots: list[Shot]) -> list[str]:
    """Who may take part in a duet, whose statements are counted together: all that had windows, and none invalid."""
    found = {name: [shot.window for shot in shots if shot.entrant == name] for name in starts}
    return [
        name
        for name, windows in found.items()
        if windows and all(window and window.verdict is not Verdict.INVALID for window in windows)
    ]


def _rate_rps(shot: Shot) -> float | None:
    window = shot.window
    return window.goodput_rps if window is not None and window.verdict is Verdict.OK else None


def _told(shots: list[Shot]) -> str:
    rates: dict[str, list[float]] = {}
    for shot in shots:
        if shot.window and shot.window.verdict is Verdict.OK:
            rates.setdefault(shot.entrant, []).append(shot.window.goodput_rps)
    return ", ".join(f"{name} {sum(r) / len(r):,.0f}/s ({len(r)})" for name, r in sorted(rates.items()))


def _read_blocks(store: Store) -> list[Block]:
    blocks = []
    for file in sorted(store.folder.glob("blocks/*.json")):
        try:
            blocks.append(Block.model_validate_json(file.read_text()))
        except (ValueError, OSError) as error:
            raise TandemError(
                f"{file} cannot be read: {error}. Move it away to make that block anew."
            ) from None
    return blocks


def _write_block(store: Store, block: Block) -> None:
    file = store.folder / "blocks" / f"block-{block.number}.json"
    file.parent.mkdir(exist_ok=True)
    write_atomically(file, block.model_dump_json() + "\n")
