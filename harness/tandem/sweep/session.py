"""Makes the fresh starts of a sweep, keeps every point, goes on where it was interrupted."""

from dataclasses import dataclass, replace
from pathlib import Path

from tandem.catalog.catalog import Catalog, Plan
from tandem.catalog.scenario import Scenario
from tandem.ceiling.around import ceilings_of, look_s
from tandem.errors import TandemError, UsageError
from tandem.old.prepare import Conditions, Prepared
from tandem.old.run import Environment
from tandem.old.session import VISIT_OVERHEAD_S, WINDOW_OVERHEAD_S, Session, folder_for
from tandem.old.store import write_atomically
from tandem.record.window import Verdict
from tandem.sweep.sweep import (
    KNOBS,
    WAIT_SCENARIO,
    Asked,
    Over,
    Point,
    Step,
    Sweep,
    curves,
    point,
    reasons,
    steps,
)

ATTEMPTS = 2
"""A void point is measured once more, after all others."""


@dataclass(frozen=True)
class Level:
    """Under what one value is measured."""

    under: Conditions
    scenario: Scenario


def level(under: Conditions, scenario: Scenario, axis: str, value: int) -> Level:
    """The conditions and the scenario with the axis at a value."""
    if axis in KNOBS:
        return Level(replace(under, knobs={**under.knobs, KNOBS[axis]: str(value)}), scenario)
    if axis == "connections":
        return Level(under, scenario.model_copy(update={"connections": value}))
    path = f"{scenario.path.partition('?')[0]}?delay_ms={value}"
    return Level(under, scenario.model_copy(update={"path": path}))


def check(under: Conditions, scenario: Scenario, over: Over, names: list[str]) -> None:
    """Raises UsageError for what cannot be swept, before anything is built."""
    implementations = [under.catalog.implementation(name) for name in names]
    if over.axis == "wait" and scenario.name != WAIT_SCENARIO:
        raise UsageError(f"--over wait needs the scenario {WAIT_SCENARIO}, not {scenario.name}")
    if KNOBS.get(over.axis) in under.knobs:
        raise UsageError(f"{KNOBS[over.axis]} is what is swept: it cannot be given with --knob as well")
    for value in over.values:
        level(under, scenario, over.axis, value).under.check(scenario.name, implementations)


def default_scenario(catalog: Catalog, over: Over, chosen: str | None) -> Scenario:
    """The scenario that was asked for, or the axis's own. Raises UsageError."""
    name = chosen or (WAIT_SCENARIO if over.axis == "wait" else "recipes")
    return catalog.pick("scenario", name, catalog.scenarios)


def estimate_s(plan: Plan, asked: Asked) -> float:
    """How long a sweep takes, without builds."""
    each = plan.warm_up_s + plan.closed_s + VISIT_OVERHEAD_S + WINDOW_OVERHEAD_S
    return look_s(plan) + each * asked.rounds * len(asked.implementations) * len(asked.values)


def unfinished(results: Path, asked: Asked) -> tuple[Path, Asked]:
    """The newest sweep of the same request, whatever its seed, that has no result yet. Raises UsageError."""
    for file in sorted(results.glob("*-sweep-*/request.json"), reverse=True):
        try:
            found = Asked.model_validate_json(file.read_text())
        except (ValueError, OSError):
            continue
        same = found.model_copy(update={"seed": asked.seed}) == asked
        if same and not (file.parent / "sweep.json").exists():
            return file.parent, found
    names = ", ".join(asked.implementations)
    raise UsageError(
        f"there is no unfinished sweep of {names} over {asked.axis} with these values and conditions"
    )


def read_points(folder: Path) -> dict[str, Point]:
    """The points of a sweep's folder, by file name. Raises TandemError for one that cannot be read."""
    found = {}
    for file in sorted((folder / "points").glob("*.json")):
        try:
            found[file.name] = Point.model_validate_json(file.read_text())
        except (ValueError, OSError) as error:
            raise TandemError(
                f"{file} cannot be read: {error}. Remove it to measure that point anew."
            ) from None
    return found


@dataclass
class SweepSession(Session):
    """One run of `tandem sweep`. under.plan: its warm-up and closed window are those of every point."""

    def run(self, asked: Asked, resume: bool) -> Sweep:
        """Raises UsageError, TandemError; whatever happens, the containers are removed and points are kept."""
        started, catalog = self.now(), self.under.catalog
        self.clean_up()
        if resume:
            folder, asked = unfinished(self.results, asked)
            self.view.note(f"going on with {folder.name}: {len(read_points(folder))} points are there")
        else:
            what = f"sweep-{asked.axis}-{'+'.join(asked.implementations)}-{asked.scenario}"
            folder = folder_for(self.results, what, started)
            (folder / "points").mkdir(parents=True)
            write_atomically(folder / "request.json", asked.model_dump_json(indent=1) + "\n")
        levels = {value: level(self.under, self.scenario, asked.axis, value) for value in asked.values}
        runs = {
            (name, value): own.under.prepare(
                catalog.implementation(name), own.scenario, folder / f"{name.replace('/', '-')}-{value}"
            )
            for name in asked.implementations
            for value, own in levels.items()
        }
        first = {name: runs[name, asked.values[0]] for name in asked.implementations}
        if (
            asked.axis == "pool"
            and "pgbouncer" in next(iter(first.values())).stack.variables["DATABASE_ADDRESS"]
        ):
            self.view.note(
                "PgBouncer has a pool of its own (PGBOUNCER_POOL_SIZE): what is beyond it waits there"
            )
        with self.stack(list(first.values()), folder):
            environments = {name: self.environment(prepared) for name, prepared in first.items()}
            ceilings_rps: dict[str, float | None] = {}
            if self.under.plan.ceilings:
                with self.timed("ceilings"):
                    ceilings_rps = ceilings_of(self, folder)
            self._measure_all(asked, runs, folder)
            found = self._conclude(asked, folder, environments)
            found.started_at, found.ceilings_rps = started, ceilings_rps
            write_atomically(folder / "sweep.json", found.model_dump_json(indent=1) + "\n")
        return found

    def _measure_all(self, asked: Asked, runs: dict[tuple[str, int], Prepared], folder: Path) -> None:
        order = steps(asked)
        for attempt in range(1, ATTEMPTS + 1):
            for number, step in enumerate(order, start=1):
                done = read_points(folder).get(step.file)
                again = done is not None and done.verdict is Verdict.VOID and done.attempts < attempt
                if done is not None and not again:
                    continue
                once_more = ", once more" if again else ""
                self.view.trial(
                    f"{number} of {len(order)}: {step.implementation}, {asked.axis} {step.value}, round {step.round}{once_more}"
                )
                made = self._measure(step, runs[step.implementation, step.value], folder, attempt)
                write_atomically(folder / "points" / step.file, made.model_dump_json(indent=1) + "\n")
                figure = "" if made.goodput_rps is None else f"{made.goodput_rps:,.0f}/s, "
                self.view.note(f"  {figure}{made.verdict}{f': {made.reason}' if made.reason else ''}")

    def _measure(self, step: Step, prepared: Prepared, folder: Path, attempt: int) -> Point:
        plan = self.under.plan
        name = f"{step.implementation.replace('/', '-')}-{step.value}"
        try:
            with self.fresh(prepared, folder / name / f"round-{step.round}") as lab:
                self.view.phase("closed", plan.closed_s)
                return point(step, lab.measure("closed", plan.closed_s, None), attempt)
        except TandemError as error:
            return Point(
                round=step.round,
                implementation=step.implementation,
                value=step.value,
                verdict=Verdict.FAILED,
                reason=str(error),
                attempts=attempt,
            )

    def _conclude(self, asked: Asked, folder: Path, environments: dict[str, Environment]) -> Sweep:
        by_file = read_points(folder)
        points = [by_file[step.file] for step in steps(asked) if step.file in by_file]
        found = curves(asked, points)
        known = all(lv.goodput_rps.mean is not None for own in found for lv in own.levels)
        wrong = [p for p in points if p.verdict in (Verdict.INVALID, Verdict.FAILED)]
        verdict = Verdict.INVALID if wrong else Verdict.OK if known else Verdict.VOID
        return Sweep(
            started_at=self.now(),
            finished_at=self.now(),
            request=asked,
            verdict=verdict,
            reasons=reasons(points),
            points=points,
            curves=found,
            phases_s=dict(self.phases_s),
            environment=environments,
        )
