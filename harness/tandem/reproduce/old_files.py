"""`tandem reproduce file-io` on the old machinery, until the study of files is merged."""

from rich.console import Console

from tandem.catalog.catalog import Catalog
from tandem.cli.measure import proof, view_for
from tandem.cli.options import RESULTS, ROOT, out
from tandem.lab.live import Lines
from tandem.record.window import Verdict
from tandem.reproduce.files import FilesSession
from tandem.reproduce.files_spec import scaled
from tandem.reproduce.journal import RESULT as RESULT
from tandem.reproduce.kinds import Bench
from tandem.reproduce.result import Asked
from tandem.studies.reproduce import legacy, report
from tandem.studies.reproduce.experiment import Experiment, PlanName
from tandem.wording import lasts


def estimate_s(experiment: Experiment, plan: PlanName) -> float:
    bench = Bench(Catalog(ROOT), RESULTS, Lines(Console(quiet=True)))
    return FilesSession(bench).estimate_s(experiment, plan)


def make(
    experiment: Experiment, plan: PlanName, scale: float | None, seed: int, resume: bool, as_json: bool
) -> None:
    """Makes or resumes it and prints its result. Exit status 1 unless its verdict is ok."""
    chosen = scaled(experiment, plan, scale)
    view = view_for(as_json)
    try:
        session = FilesSession(Bench(Catalog(ROOT), RESULTS, view))
        session.check(chosen, plan)
        asked = Asked(experiment=chosen.name, plan=plan, digest=chosen.digest(plan), seed=seed)
        view.note(
            f"{chosen.name}, plan {plan}: {len(chosen.measured(plan))} rows, {chosen.plan(plan).starts} fresh starts each,"
            f" about {lasts(session.estimate_s(chosen, plan))} after the builds"
        )
        found = session.run(chosen, asked, resume)
    finally:
        view.close()
    if as_json:
        print(found.model_dump_json(indent=1))
    else:
        out.print(proof(), report.report(legacy.result(found.model_dump(), chosen.name)), sep="\n")
    if found.verdict is not Verdict.OK:
        raise SystemExit(1)
