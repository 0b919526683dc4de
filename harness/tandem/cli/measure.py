"""Runs a study for a person or a program: progress, the result, the exit status."""

import pkgutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from tandem.catalog.catalog import Catalog
from tandem.cli.options import RESULTS, ROOT, err, out, print_json, progress
from tandem.engine.journal import Journal
from tandem.engine.run import Session, TrialLab, run
from tandem.engine.study import Study, held, needed
from tandem.errors import TandemError, UsageError
from tandem.facts.session import SessionRecord, read_sessions
from tandem.hosts import HERE
from tandem.lab import own_service
from tandem.lab.file_io import FileIoLab, measures_itself
from tandem.lab.laboratory import Laboratory, Work, refuse_or_clean_up
from tandem.lab.live import View, make_view
from tandem.lab.prepare import check
from tandem.record.request import Request, Variant
from tandem.record.result import Conclusions, Result
from tandem.record.selftest import Status, line
from tandem.record.trial import Trial
from tandem.record.window import Finding, Verdict
from tandem.report.parts import STYLES, checked
from tandem.report.table import fitted
from tandem.wording import counted

CLIENT = "TANDEM_CLIENT_PID"
"""The process that this one ends with."""


def view_for(as_json: bool) -> View:
    """The live view on a terminal; plain lines beside JSON and elsewhere. All on stderr, and nothing with --quiet."""
    return View(progress) if as_json or progress.quiet else make_view(progress)


def proof() -> Text:
    """The self-test's verdict on this harness, for the top of a report."""
    status, text = line(RESULTS, ROOT, datetime.now(UTC))
    return Text(text, style="green" if status is Status.PASSED else "bold yellow")


def refuse_untested(untested: bool) -> None:
    """Raises UsageError where the harness has not passed its self-test. untested: what `--untested` says."""
    status, told = line(RESULTS, ROOT, datetime.now(UTC))
    if status is not Status.PASSED and not untested:
        raise UsageError(f"{told}. Run just selftest first, or give --untested")


def sentence(result: Result[Any]) -> Text:
    """The result in one sentence, before its tables."""
    names = ", ".join(variant.label for variant in result.request.variants)
    why = f": {result.reasons[0]}" if result.reasons and result.verdict is not Verdict.OK else ""
    told = result.headline or f"{counted(sum(result.trials.values()), 'trials')} of {names}"
    return Text(
        f"{result.request.study}, {result.verdict}: {told}{why}", style=f"bold {STYLES[result.verdict]}"
    )


def _page(maker: str, *of: Any) -> Path | None:
    """Has a page written; None where that fails. A result stands without its page, so an error is told only."""
    try:
        # By its name: the pages are made from what all studies concluded, so they come after the commands.
        page: Path = pkgutil.resolve_name(f"tandem.page.site:{maker}")(*of, RESULTS, ROOT)
        return page
    except (TandemError, OSError) as error:
        err.print(f"the page of the result was not written: {error}", style="yellow", markup=False)
        return None


def page_of(folder: Path) -> Path | None:
    """Writes the page of a result; None where it has none."""
    return _page("page_alone", folder)


def tell_places(*places: Path | None) -> None:
    """The last lines of a command: where its result lies, and where its page."""
    for path in filter(None, places):
        print(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def tell(name: str, told: str, good: bool, report: RenderableType, kept: Path | None = None) -> None:
    """Ends a command that is no study as the others end: a sentence, its tables, its page. kept: where its result lies."""
    verdict = Verdict.OK if good else Verdict.FAILED
    first = Text(f"{name}, {verdict}: {told}", style=f"bold {STYLES[verdict]}")
    page = _page("page_told", name, told, verdict, report)
    out.print(first, fitted(report, out), sep="\n")
    tell_places(kept, page)


def session(catalog: Catalog, view: View) -> Session:
    """Everything that the engine needs on this machine."""

    def lab(study: Study[Any], variants: Sequence[Variant], journal: Journal) -> TrialLab:
        place = FileIoLab if measures_itself(study.variants) else Laboratory
        first = next((spec.variants for block in study.outline() for spec in block), [])
        of = study.request, variants, journal.folder
        work = Work(*of, generators=needed(study), first=first, held=held(study))
        found: TrialLab = place(catalog, RESULTS, view, work)
        return found

    def ahead(variants: Sequence[Variant], request: Request) -> None:
        here = request.conditions.lab is None  # a lab's CPUs are known once it is reached
        if here and not measures_itself(variants):
            check(catalog, request, list(variants))
        refuse_or_clean_up(ROOT, RESULTS, view.note)

    def findings(request: Request) -> list[Finding]:
        unfit = unfit_for(catalog, request)
        machine = [Finding.of("unfit-machine", "warning", unfit)] if unfit else []
        return [*machine, *own_service.findings(request)]

    selftest = line(RESULTS, ROOT, datetime.now(UTC))[1]
    return Session(catalog, RESULTS, view, lab, selftest, ahead, findings)


def begun(results: Path, request: Request) -> bool:
    """Say whether there is an interrupted study of the same request, which can be resumed."""
    try:
        Journal.resume(results, request)
    except UsageError:
        return False
    return True


def make[C: Conclusions](
    kind: type[Study[C]], request: Request, resume: bool, as_json: bool
) -> tuple[Result[C], Journal]:
    """Makes or resumes a study, telling how far it is. Raises UsageError, TandemError."""
    catalog, view = Catalog(ROOT), view_for(as_json)
    try:
        if unfit := unfit_for(catalog, request):
            view.note(unfit)
        return run(kind, request, session(catalog, view), resume)
    finally:
        view.close()


def unfit_for(catalog: Catalog, request: Request) -> str | None:
    """Why this host is not fit for the request's plan; None if it is."""
    if request.conditions.lab is not None:
        return None
    with suppress(UsageError):  # a study may have plans of its own
        return catalog.plan(request.plan).unfit(HERE.topology().places)
    return None


type Closing = Callable[[Result[Any], Sequence[Trial]], Sequence[RenderableType]]
"""Lines that a command adds after its report, made from the result and its trials."""


def kept_sessions(results: Path) -> list[SessionRecord]:
    """All sessions in order of time. What is wrong with a file that cannot be read is told."""
    found, damaged = read_sessions(results)
    for told in damaged:
        err.print(f"{told} The other sessions are used.", style="yellow", markup=False)
    return found


def show_result[C: Conclusions](kind: type[Study[C]], result: Result[C]) -> None:
    """Prints a result for a person."""
    out.print(sentence(result), proof(), fitted(kind.report(result), out), *checked(result), sep="\n")


def print_result[C: Conclusions](
    kind: type[Study[C]], result: Result[C], journal: Journal, as_json: bool, closing: Closing | None = None
) -> None:
    """Print a result that was just made, for a program or for a person."""
    if as_json:
        print_json(result)
        return
    show_result(kind, result)  # before what closes it, which reads more than this study
    if closing and (last := closing(result, journal.trials())):
        out.print(*last, sep="\n")
    tell_places(journal.folder, page_of(journal.folder))
