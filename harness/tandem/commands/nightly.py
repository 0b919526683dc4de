"""`tandem nightly`: measures, appends to the history, judges it, and confirms what it raises and what an event may have moved."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from tandem.analysis import change
from tandem.catalog.catalog import OWN_SERVICE, Catalog
from tandem.cli import options as cli
from tandem.cli.measure import begun, make, page_of, sentence, tell_places, view_for
from tandem.cli.shared import CONDITIONS, Asked, Default, measuring
from tandem.engine.journal import BEGUN, Begun
from tandem.engine.study import answered
from tandem.errors import TandemError, UsageError
from tandem.history import files
from tandem.history.judged import JudgedSeries, crept, doubted, events, judge, steps
from tandem.history.night import AlarmAnswer, EventAnswer, Frozen, Night, Program, SeriesKey
from tandem.lab import images
from tandem.lab.laboratory import refuse_or_clean_up
from tandem.lab.sources import git
from tandem.lab.stack import engine_name, image_variable
from tandem.record.conclusion import Contrast
from tandem.record.request import Request, Variant
from tandem.record.result import Conclusions, Result
from tandem.record.store import RESULT, file_name, give
from tandem.record.trial import Trial
from tandem.record.window import Verdict
from tandem.studies.compare.conclusions import Compared
from tandem.studies.compare.study import Compare
from tandem.studies.nightly import report
from tandem.studies.nightly.conclusions import points_of
from tandem.studies.nightly.confirm import FreshBlocks, confirmed, event_answer
from tandem.studies.nightly.study import Nightly, NightlyOptions
from tandem.studies.registry import read_folder

HISTORY = "history"
"""Folder of the histories, in that of the results."""
MAIN = ("index", "recipes", "note-write")
"""The scenarios of a night: a server, eight reads, a write."""
WORSE, MOVED = 3, 4
"""Exit statuses."""


def cells(catalog: Catalog, implementations: Sequence[str], scenarios: Sequence[str]) -> list[Variant]:
    """Today's image of each implementation under each scenario that it serves. Raises UsageError for names that do not
    exist, and where nothing is left."""
    for scenario in scenarios:
        catalog.scenario(scenario)
    found = [
        Variant(label=f"{name} {scenario}", implementation=name, scenario=scenario)
        for name in implementations
        for scenario in scenarios
        if scenario not in catalog.implementation(name).unsupported.scenarios
    ]
    if not found:
        raise UsageError(f"none of {', '.join(implementations)} serves {', '.join(scenarios)}")
    return found


def own_name(image: str) -> str:
    """The part of an image's name that its tags have in common: shop of registry:5000/team/shop:main."""
    return image.rpartition("/")[2].partition("@")[0].partition(":")[0]


def make_sure_of(name: str, program: Program, what: str, note: Callable[[str], None]) -> None:
    """Build an image that is missing from its commit. Raises TandemError where that cannot be done."""
    if not images.present(name, program.tag):
        note(f"{name}: {what} {program.tag} is missing: building it from {program.name}")
        images.rebuild(cli.ROOT, name, program)


def freeze(
    folder: Path, known: dict[str, Frozen], today: dict[str, Program], anew: bool, note: Callable[[str], None]
) -> dict[str, Frozen]:
    """Images that the implementations are compared with: the frozen ones; today's where there is none, and anew."""
    found = {}
    for name, program in today.items():
        frozen = known.get(name)
        if frozen is None or anew:
            frozen = Frozen(implementation=name, program=program, frozen_at=datetime.now(UTC))
            files.keep(folder, frozen)
            note(f"{name}: froze today's image {program.tag}")
        else:
            make_sure_of(name, frozen.program, "the frozen image", note)
        found[name] = frozen
    return found


def first_ones(
    known: dict[str, Frozen], frozen: dict[str, Frozen], note: Callable[[str], None]
) -> dict[str, Program]:
    """Implementation -> the image that was frozen first, where that is not the frozen one. A night can do without one that
    is missing and does not build any more."""
    found = {}
    for name, one in frozen.items():
        first = known.get(name, one).program
        if first.tag == one.program.tag:
            continue
        try:
            make_sure_of(name, first, "the image that was frozen first,", note)
            found[name] = first
        except TandemError as error:
            note(f"{name}: without the image that was frozen first: {error}")
    return found


@measuring(
    own=True,
    without=CONDITIONS,
    plan=Default("nightly", r"Plan. Its table \[compare] sets windows and warm-ups."),
)
def nightly(
    asked: Asked,
    implementations: Annotated[
        list[str] | None, typer.Argument(help="Implementations. Default: all.")
    ] = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Scenario. May be repeated. Default: those of {', '.join(MAIN)} that an implementation serves."
        ),
    ] = None,
    budget: Annotated[
        str, typer.Option(help="Time for measuring, after the builds, such as 2h, 90m or 600s.")
    ] = "2h",
    blocks: Annotated[
        int | None, typer.Option(min=1, help="Number of blocks of each implementation, instead of a budget.")
    ] = None,
    confirm_plan: Annotated[
        str, typer.Option(help="Plan of the comparison that an alarm starts.")
    ] = "confirm",
    machine: Annotated[
        str | None,
        typer.Option(
            help="Name of the history's folder. Default: the lab's name, or the host name that Docker reports."
        ),
    ] = None,
    anew: Annotated[
        bool, typer.Option("--freeze", help="Freeze today's images as the new baseline.")
    ] = False,
    freeze_stack: Annotated[
        bool,
        typer.Option(
            "--freeze-stack", help="Freeze today's PostgreSQL, PgBouncer, HAProxy and oha. An event."
        ),
    ] = False,
) -> None:
    """Measure each implementation against its own frozen image, add to the history, judge it, and confirm alarms.

    Exit status 3: a change for the worse was confirmed. 4: the machine itself changed.
    """
    catalog, service = Catalog(cli.ROOT), asked.own_service
    if service is not None and (implementations or scenario):
        raise UsageError(
            "a service of your own stands in place of implementations and scenarios: leave them out"
        )
    if service is not None and len(service.images) != 1:
        raise UsageError("nightly takes one image of a service of your own: the one of today")
    names = implementations or list(catalog.implementations)
    variants = asked.variants(None) if service else cells(catalog, names, scenario or MAIN)
    names = list(dict.fromkeys(variant.implementation for variant in variants))
    budget_s, _ = cli.parse_budget_s(budget), catalog.plan(confirm_plan)
    request = replace(asked, scenario=variants[0].scenario or "").request(Nightly.name, catalog, variants)
    view = view_for(asked.as_json)
    refuse_or_clean_up(cli.ROOT, cli.RESULTS, view.note)
    measures = catalog.lab(asked.lab).name if asked.lab else engine_name()
    own = f"-{own_name(variants[0].label)}" if service else ""
    folder = cli.RESULTS / HISTORY / file_name(machine or measures + own)
    try:
        with files.locked(folder):
            known = files.read(folder)
            today = (
                {OWN_SERVICE: images.keep(OWN_SERVICE, Program(tag=variants[0].tag or ""))}
                if service
                else images.build_today(cli.ROOT, names, view.note)
            )
            frozen = freeze(folder, known.frozen, today, anew, view.note)
            first = first_ones(known.first, frozen, view.note)
            stack = images.frozen_stack(cli.ROOT, known.stack, freeze_stack, view.note)
            if stack is not known.stack:
                files.keep(folder, stack)
            request = request.model_copy(
                update={
                    "title": own[1:] or ("all" if implementations is None else "+".join(names)),
                    "options": {
                        "frozen": {name: one.program.tag for name, one in frozen.items()},
                        "first": {name: one.tag for name, one in first.items()},
                        "stack": {image_variable(role): f":{one.tag}" for role, one in stack.images.items()},
                        "programs": {name: one.tag for name, one in today.items()},
                        **({"blocks": blocks} if blocks else {"budget_s": budget_s}),
                    },
                }
            )
            measured = _finished(request) if asked.resume else None
            if measured is None:
                made, journal = make(Nightly, request, asked.resume, asked.as_json)
                measured = made, journal.trials()
            result, trials = measured
            night = Night(
                id=result.id,
                machine=folder.name,
                cpu_model=of_host(result, "cpu_model") or "unknown",
                started_at=result.started_at,
                programs=today,
                frozen={name: one.program.name for name, one in frozen.items()},
                frozen_images={name: images.as_here(name, one.program) for name, one in frozen.items()},
                first_images={name: images.as_here(name, one) for name, one in first.items()},
                stack=stack.images,
                kernel=of_host(result, "kernel"),
                microcode=of_host(result, "cpu_microcode"),
                points=points_of(trials, request.variants, request.scenario),
            )
            kept = files.append(folder, night)
            if kept.clock:
                view.note(f"{kept.id}: {kept.clock}. The night is kept, but left out of its series")
            confirm = Confirmation(catalog, confirm_plan, request, frozen, asked, view.note)
            answers = _answered(confirm, folder, names)
            asked_at_once = _after_events(confirm, folder, result.id)
            _told(folder, result, answers, asked_at_once, asked.as_json)
    finally:
        give(folder, cli.ROOT)
    raise typer.Exit(status(result.verdict, answers, asked_at_once))


def of_host(result: Result[Conclusions], what: str) -> str | None:
    """Fact about the application's host by its key in the record; None where it is not known."""
    hosts = (environment.host for environment in result.environments.values())
    return next((str(host[what]) for host in hosts if host.get(what)), None)


def status(
    verdict: Verdict, answers: Sequence[AlarmAnswer], asked_at_once: Sequence[EventAnswer] = ()
) -> int:
    """0: done, nothing changed for the worse. 1: not all could be measured."""
    if any(answer.word == "confirmed" and answer.worse for answer in answers):
        return WORSE
    if verdict is not Verdict.OK:
        return 1
    stands = any(answer.word in ("machine", "base") for answer in answers)
    return MOVED if stands or any(event.moved for event in asked_at_once) else 0


def _finished(request: Request) -> tuple[Result[Conclusions], list[Trial]] | None:
    """The newest night of this request if it was measured to its end: a kill came after it, in a confirmation."""
    for file in sorted(cli.RESULTS.glob(f"*-{Nightly.name}-*/{BEGUN}"), reverse=True):
        try:
            begun = Begun.model_validate_json(file.read_text())
        except (ValueError, OSError):
            continue
        if begun.request.same_but_for_the_seed(request):
            return read_folder(file.parent)[1:] if file.with_name(RESULT).is_file() else None
    return None


# ---- alarms ----


@dataclass(frozen=True)
class Confirmation:
    """Maker of the comparisons of a night."""

    catalog: Catalog
    plan: str
    night: Request
    """The night's request: comparisons are made under its conditions, on its stack."""
    frozen: dict[str, Frozen]
    asked: Asked
    note: Callable[[str], None]
    made: dict[tuple[str, ...], Result[Compared]] = field(default_factory=dict)
    """Implementation, scenario and both tags -> the comparison of this night."""

    def fresh_blocks(self, key: SeriesKey, old: Program, new: Program) -> FreshBlocks:
        """Compares two images, once for all figures."""
        pair = key.implementation, key.scenario, old.tag, new.tag
        if pair not in self.made:
            request = comparison(self.catalog, key, old, new, self.plan, self.night)
            resume = self.asked.resume and begun(cli.RESULTS, request)
            self.made[pair] = make(Compare, request, resume, self.asked.as_json)[0]
        result = self.made[pair]
        # `just compare` would run on today's stack, and this runs on the frozen one.
        repeat = f"just replay {cli.RESULTS.name}/{result.id}"
        return FreshBlocks(result.id, ratio_of(result, key.metric), repeat)


def _answered(confirm: Confirmation, folder: Path, names: Sequence[str]) -> list[AlarmAnswer]:
    """Answers every alarm of these implementations. One whose comparison the host voided stays open until the next night."""
    history = files.read(folder)
    found = []
    for one in judge(history.nights, history.answers):
        if one.raised is None or one.key.implementation not in names:
            continue
        if answer := _answer(confirm, one):
            files.keep(folder, answer)
            found.append(answer)
    return found


def _answer(confirm: Confirmation, one: JudgedSeries) -> AlarmAnswer | None:
    """The answer to an alarm, once all comparisons are made that it takes."""
    name = one.key.implementation
    there = [program for program in one.between if images.present(name, program.tag)]

    def again(program: Program) -> Program | None:
        confirm.note(f"{name}: the base changed: building {program.name} on the new one")
        try:
            return images.on_todays_base(cli.ROOT, name, program)
        except TandemError as error:
            confirm.note(str(error))
            return None

    steps = confirmed(one, there, lambda: datetime.now(UTC), again)
    return answered(steps, lambda pair: confirm.fresh_blocks(one.key, *pair))


def _after_events(confirm: Confirmation, folder: Path, measured: str) -> list[EventAnswer]:
    """Asks what the events of this night moved, at once. measured: the id of its result. What was asked before, by a command
    that was killed, is not asked again."""
    history = files.read(folder)
    night = next((one for one in history.nights if one.id == measured), None)
    if night is None or night.clock is not None:
        return []
    until = [one for one in history.nights if (one.started_at, one.id) <= (night.started_at, night.id)]
    known = {one.series: one for one in history.events if one.night == night.id}
    found = []
    for one in doubted(night, until, history.answers):
        answer = known.get(one.key)
        if answer is None:
            name, scenario = one.key.implementation, one.key.scenario
            confirm.note(f"{', '.join(one.what)}: asking at once whether it moved {name}, {scenario}")
            fresh = confirm.fresh_blocks(one.key, confirm.frozen[name].program, one.program)
            answer = event_answer(one, fresh, datetime.now(UTC))
        files.keep(folder, answer)
        found.append(answer)
    return found


def comparison(
    catalog: Catalog, key: SeriesKey, good: Program, bad: Program, plan: str, asked: Request
) -> Request:
    """The request that confirms an alarm: fresh blocks of two images on the stack of the night."""
    name = key.implementation
    if name == OWN_SERVICE:
        [own] = asked.variants
        changes = [{"label": f"{own.label}@{one.tag}", "tag": one.tag} for one in (good, bad)]
        variants = [own.model_copy(update=change) for change in changes]
    else:
        variants = cli.read_variants([f"{name}@{good.tag}", f"{name}@{bad.tag}"])
    request = Asked(scenario=key.scenario, plan=plan).request(Compare.name, catalog, variants)
    stack = NightlyOptions.read(asked).stack
    on_it = [one.model_copy(update={"variables": {**one.variables, **stack}}) for one in request.variants]
    return request.model_copy(update={"conditions": asked.conditions, "variants": on_it})


def ratio_of(result: Result[Compared], metric: str) -> Contrast | None:
    """Ratio of the new image to the old; None where the session gives none."""
    found = result.conclusions.contrast(result.request.variants[-1].label, metric)
    return found if found is not None and found.p_alone is not None else None


# ---- what is said ----


def _told(
    folder: Path,
    result: Result[Conclusions],
    answers: Sequence[AlarmAnswer],
    asked_at_once: Sequence[EventAnswer],
    as_json: bool,
) -> None:
    history = files.read(folder)
    broken = [f"{file}: cannot be read: {why}" for file, why in history.broken.items()]
    judged = judge(history.nights, history.answers)
    weekly = _weekly(history.nights, result.request)
    moved, creeping = (steps(history.nights), crept(history.nights)) if weekly else ({}, [])
    new = new_under(history.nights, result.id)
    if as_json:
        of_series = ("said", "nights", "since", "raised", "events")
        cli.print_json(
            {
                "result": result,
                "judged": [
                    {"series": one.key, **{name: getattr(one, name) for name in of_series}} for one in judged
                ],
                "new": new,
                "answers": answers,
                "events": asked_at_once,
                "crept": creeping,
                "steps": [{"series": key, "nights": nights} for key, nights in moved.items()],
                "said": broken,
            }
        )
        return
    cli.out.print(sentence(result), Nightly.report(result), report.judged_table(judged), sep="\n")
    for odd in broken:
        cli.out.print(odd, style="yellow", markup=False, highlight=False, soft_wrap=True)
    lines = [f"new under the programs: {what}" for what in new]
    for key, nights in moved.items():
        name = f"{key.implementation}, {key.scenario}, {key.metric}"
        lines.append(f"over the whole history: {name} changed its level at {', '.join(nights)}")
    lines += map(report.creep_text, creeping)
    lines += map(report.event_text, asked_at_once)
    lines += [report.answer_text(answer, commits_between(answer)) for answer in answers]
    for line in lines:
        cli.out.print(line, markup=False, highlight=False)
    folder = cli.RESULTS / result.id
    tell_places(folder, page_of(folder))


def _weekly(nights: Sequence[Night], asked: Request) -> bool:
    """The whole history is searched for steps every seventh night. Those of other implementations, which a machine may have
    measured by commands of their own, do not count."""
    names = {variant.implementation for variant in asked.variants}
    return sum(bool(names & {*night.programs}) for night in nights) % change.ANEW == 0


def new_under(nights: Sequence[Night], measured: str) -> list[str]:
    """The events of this night, each once, with the implementations that they are under. measured: the id of its result."""
    found: dict[str, list[str]] = {}
    for (_, _, implementation), own in events(nights).items():
        for what in own.get(measured, []):
            found.setdefault(what, []).append(implementation)
    return [f"{what} ({', '.join(names)})" for what, names in found.items()]


def commits_between(answer: AlarmAnswer) -> list[str]:
    """The commits from the last good image to the first bad one, one line each."""
    good, bad = answer.good, answer.bad
    if answer.word != "confirmed" or good is None or bad is None or not good.commit or not bad.commit:
        return []
    return (git(cli.ROOT, "log", "--oneline", f"{good.commit}..{bad.commit}") or "").splitlines()
