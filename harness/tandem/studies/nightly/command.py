"""`tandem nightly`: measures, appends to the history, judges it, and confirms what it raises."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from tandem.analysis import change
from tandem.analysis.ratios import Ratio
from tandem.catalog.catalog import Catalog
from tandem.cli import options as cli
from tandem.cli.measure import make, page_of, sentence, tell_places, view_for
from tandem.cli.options import parse_budget_s
from tandem.engine.journal import BEGUN, Begun
from tandem.errors import UsageError
from tandem.history import files
from tandem.history.judged import JudgedSeries, judge, steps
from tandem.history.night import AlarmAnswer, Frozen, Program
from tandem.history.query import ask
from tandem.lab import kept_images
from tandem.lab.laboratory import refuse_or_clean_up
from tandem.lab.provenance import git
from tandem.lab.stack import engine_name
from tandem.record.request import Request, Variant
from tandem.record.result import Result
from tandem.record.store import RESULT, file_name, give
from tandem.record.window import Verdict
from tandem.studies.compare.conclusions import Compared
from tandem.studies.compare.study import Compare
from tandem.studies.nightly import report
from tandem.studies.nightly.conclusions import NightMeasured, nights_of
from tandem.studies.nightly.confirm import FreshBlocks, answered
from tandem.studies.nightly.study import Nightly

HISTORY = "history"
"""The folder in that of the results."""
MAIN = ("index", "recipes", "note-write")
"""The scenarios of a night: a server, eight reads, a write."""
WORSE, MOVED = 3, 4
"""Exit statuses."""


def cells(catalog: Catalog, implementations: Sequence[str], scenarios: Sequence[str]) -> list[Variant]:
    """Today's image of each implementation under each scenario that it serves. Raises UsageError for names that do not
    exist, and where nothing is left."""
    for scenario in scenarios:
        catalog.pick("scenario", scenario, catalog.scenarios)
    found = [
        Variant(label=f"{name} {scenario}", implementation=name, scenario=scenario)
        for name in implementations
        for scenario in scenarios
        if scenario not in catalog.implementation(name).unsupported.scenarios
    ]
    if not found:
        raise UsageError(f"none of {', '.join(implementations)} serves {', '.join(scenarios)}")
    return found


def freeze(
    folder: Path, known: dict[str, Frozen], today: dict[str, Program], anew: bool, note: Callable[[str], None]
) -> dict[str, Frozen]:
    """What each implementation is compared with: what was frozen, else, and anew, today's image. An image that is missing
    is built from its commit. Raises TandemError where that cannot be done."""
    found = {}
    for name, program in today.items():
        frozen = known.get(name)
        if frozen is None or anew:
            frozen = Frozen(implementation=name, program=program, frozen_at=datetime.now(UTC))
            files.freeze(folder, frozen)
            note(f"{name}: froze today's image {program.tag}")
        elif not kept_images.present(name, frozen.program.tag):
            note(f"{name}: the frozen image {frozen.program.tag} is missing: building it from {frozen.name}")
            kept_images.rebuild(cli.ROOT, name, frozen.program)
        found[name] = frozen
    return found


@cli.app.command()
def nightly(
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
    compressed: Annotated[
        bool,
        typer.Option("--compressed", help="Count each block as a night, which makes a history in hours."),
    ] = False,
    plan: Annotated[
        str, typer.Option(help=r"Plan. Its table \[compare] sets windows and warm-ups.")
    ] = "nightly",
    confirm_plan: Annotated[
        str, typer.Option(help="Plan of the comparison that an alarm starts.")
    ] = "confirm",
    machine: Annotated[
        str | None,
        typer.Option(
            help="Name of the history's folder. Default: the lab's name, or the host name that Docker reports."
        ),
    ] = None,
    lab: cli.LabName = None,
    anew: Annotated[
        bool, typer.Option("--freeze", help="Freeze today's images as the new baseline.")
    ] = False,
    query: Annotated[
        str | None, typer.Option(help="Measure nothing. Run this SQL on the history (tables nights, points).")
    ] = None,
    seed: cli.Seed = None,
    resume: cli.Resume = False,
    quiet: cli.Quiet = False,
    as_json: cli.Json = False,
) -> None:
    """Measure each implementation against its own frozen image, add to the history, judge it, and confirm alarms.

    Exit status 3: a change for the worse was confirmed. 4: the machine itself changed.
    """
    if query is not None:
        _asked(query, as_json)
        return
    catalog = Catalog(cli.ROOT)
    names = implementations or list(catalog.implementations)
    variants = cells(catalog, names, scenario or MAIN)
    names = list(dict.fromkeys(variant.implementation for variant in variants))
    budget_s, _ = parse_budget_s(budget), catalog.plan(confirm_plan)
    request = cli.make_request(
        Nightly.name, catalog, variants, scenario=variants[0].scenario or "", plan=plan, seed=seed, lab=lab
    )
    view = view_for(as_json)
    refuse_or_clean_up(cli.ROOT, cli.RESULTS, view.note)
    measures = catalog.lab(lab).name if lab else engine_name()
    folder = cli.RESULTS / HISTORY / file_name(machine or measures)
    try:
        with files.locked(folder):
            known = files.read(folder)
            today = kept_images.build_today(cli.ROOT, names, view.note)
            frozen = freeze(folder, known.frozen, today, anew, view.note)
            request = request.model_copy(
                update={
                    "title": "all" if implementations is None else "+".join(names),
                    "options": {
                        "frozen": {name: one.program.tag for name, one in frozen.items()},
                        "programs": {name: one.tag for name, one in today.items()},
                        "compressed": compressed,
                        **({"blocks": blocks} if blocks else {"budget_s": budget_s}),
                    },
                }
            )
            result = _measured(request, resume, as_json)
            for night in nights_of(
                result,
                folder.name,
                cpu_model_of(result),
                today,
                {name: one.name for name, one in frozen.items()},
                compressed,
            ):
                kept = files.append(folder, night)
                if kept.clock:
                    view.note(f"{kept.id}: {kept.clock}. The night is kept, but left out of its series")
            answers = _answered(catalog, folder, names, confirm_plan, request, resume, as_json)
            _told(folder, known.said, result, answers, as_json)
    finally:
        give(folder, cli.ROOT)
    raise typer.Exit(status(result.verdict, answers))


def cpu_model_of(result: Result[NightMeasured]) -> str:
    """Of the application's host."""
    told = (environment.host.get("cpu_model") for environment in result.environments.values())
    return str(next(filter(None, told), "unknown"))


def status(verdict: Verdict, answers: Sequence[AlarmAnswer]) -> int:
    """0: done, nothing changed for the worse. 1: not all could be measured."""
    if any(answer.word == "confirmed" and answer.worse for answer in answers):
        return WORSE
    if verdict is not Verdict.OK:
        return 1
    return MOVED if any(answer.word == "machine" for answer in answers) else 0


def _measured(request: Request, resume: bool, as_json: bool) -> Result[NightMeasured]:
    if resume:
        newest = _finished(request)
        if newest is not None:
            return newest
    return make(Nightly, request, resume, as_json)[0]


def _finished(request: Request) -> Result[NightMeasured] | None:
    """The newest night of this request if it was measured to its end: a kill came after it, in a confirmation."""
    for file in sorted(cli.RESULTS.glob(f"*-{Nightly.name}-*/{BEGUN}"), reverse=True):
        try:
            begun = Begun.model_validate_json(file.read_text())
        except (ValueError, OSError):
            continue
        if begun.request.same_but_for_the_seed(request):
            done = file.with_name(RESULT)
            return Result[NightMeasured].model_validate_json(done.read_text()) if done.is_file() else None
    return None


# ---- alarms ----


def _answered(
    catalog: Catalog,
    folder: Path,
    names: Sequence[str],
    plan: str,
    asked: Request,
    resume: bool,
    as_json: bool,
) -> list[AlarmAnswer]:
    """Answers every alarm of these implementations. One whose comparison the host voided stays open until the next night."""
    history = files.read(folder)
    found = []
    for one in judge(history.nights, history.answers):
        if one.raised is None or one.key.implementation not in names:
            continue
        answer = _answer(catalog, one, plan, asked, resume, as_json)
        if answer is not None:
            files.keep_answer(folder, answer)
            found.append(answer)
    return found


def _answer(
    catalog: Catalog, one: JudgedSeries, plan: str, asked: Request, resume: bool, as_json: bool
) -> AlarmAnswer | None:
    """The answer to an alarm, once all comparisons are made that it takes."""
    name = one.key.implementation
    there = [program for program in one.between if kept_images.present(name, program.tag)]
    steps = answered(one, there, lambda: datetime.now(UTC))
    try:
        pair = next(steps)
        while True:
            request = comparison(catalog, one, *pair, plan, asked)
            result = _compared(request, resume, as_json)
            pair = steps.send(FreshBlocks(result.id, ratio_of(result, one.key.metric), command(request)))
    except StopIteration as end:
        found: AlarmAnswer | None = end.value
        return found


def comparison(
    catalog: Catalog, one: JudgedSeries, good: Program, bad: Program, plan: str, asked: Request
) -> Request:
    """What confirms an alarm: fresh blocks of two images, and nothing that raised it."""
    name = one.key.implementation
    request = cli.make_request(
        Compare.name,
        catalog,
        cli.read_variants([f"{name}@{good.tag}", f"{name}@{bad.tag}"]),
        scenario=one.key.scenario,
        plan=plan,
    )
    return request.model_copy(update={"conditions": asked.conditions})


def _compared(request: Request, resume: bool, as_json: bool) -> Result[Compared]:
    """The comparison, gone on with where one of the same request was interrupted."""
    if resume:
        try:
            return make(Compare, request, True, as_json)[0]
        except UsageError:
            pass  # none was begun
    return make(Compare, request, False, as_json)[0]


def ratio_of(result: Result[Compared], metric: str) -> Ratio | None:
    """New by old; None where the session gives none."""
    entry = result.conclusions.entries[-1]
    found = entry.against_reference.get(metric)
    return found.ratio if found is not None and found.ratio.p_t is not None else None


def command(request: Request) -> str:
    """What a person types to make a comparison again."""
    labels = " ".join(variant.label for variant in request.variants)
    return f"just compare {labels} --scenario {request.scenario} --plan {request.plan}"


# ---- what is said ----


def _asked(query: str, as_json: bool) -> None:
    names, rows = ask(cli.RESULTS / HISTORY, query)
    if as_json:
        print(json.dumps([dict(zip(names, row, strict=True)) for row in rows], indent=1, default=str))
        return
    table = Table(*names)
    for row in rows:
        table.add_row(*map(str, row))
    cli.out.print(table)


def _told(
    folder: Path,
    said: Sequence[str],
    result: Result[NightMeasured],
    answers: Sequence[AlarmAnswer],
    as_json: bool,
) -> None:
    history = files.read(folder)
    judged = judge(history.nights, history.answers)
    moved = steps(history.nights) if _weekly(len(history.nights)) else {}
    if as_json:
        print(
            json.dumps(
                {
                    "result": result.model_dump(mode="json"),
                    "judged": [
                        {
                            "series": one.key.model_dump(mode="json"),
                            "said": one.said,
                            "nights": one.nights,
                            "since": one.since,
                            "raised": one.raised,
                        }
                        for one in judged
                    ],
                    "answers": [answer.model_dump(mode="json") for answer in answers],
                    "steps": [
                        {"series": key.model_dump(mode="json"), "nights": nights}
                        for key, nights in moved.items()
                    ],
                    "said": [*said, *history.said],
                },
                indent=1,
            )
        )
        return
    cli.out.print(sentence(result), Nightly.report(result), report.judged_table(judged), sep="\n")
    for odd in (*said, *history.said):
        cli.out.print(odd, style="yellow", markup=False, highlight=False, soft_wrap=True)
    for key, nights in moved.items():
        name = f"{key.implementation}, {key.scenario}, {key.metric}"
        cli.out.print(
            f"over the whole history: {name} changed its level at {', '.join(nights)}", markup=False
        )
    for answer in answers:
        cli.out.print(report.answer_text(answer, commits_between(answer)), markup=False, highlight=False)
    folder = cli.RESULTS / result.id
    tell_places(folder, page_of(folder))


def _weekly(nights: int) -> bool:
    """The whole history is searched for steps every seventh night."""
    return nights % change.ANEW == 0


def commits_between(answer: AlarmAnswer) -> list[str]:
    """The commits from the last good image to the first bad one, one line each."""
    good, bad = answer.good, answer.bad
    if answer.word != "confirmed" or good is None or bad is None or not good.commit or not bad.commit:
        return []
    return (git(cli.ROOT, "log", "--oneline", f"{good.commit}..{bad.commit}") or "").splitlines()
