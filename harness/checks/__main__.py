"""The command line: `harness/run check`, `test`, `verify`, `docs` and `fmt`."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Literal

import typer

from checks import changed, new, profile, release, run, shape
from documents.figures import FIGURES, PICTURES
from documents.fill import draw_all, fill_all
from documents.records import Records
from tandem.catalog.catalog import Catalog
from tandem.cli import options as cli
from tandem.cli.measure import view_for
from tandem.cli.options import RESULTS, ROOT, err, out
from tandem.cli.shared import Asked
from tandem.commands.main import main
from tandem.hosts import HERE
from tandem.lab.stack import other_measurements

app = cli.program("Tests and formats Tandem itself.")


@app.command()
def verify(
    implementations: Annotated[list[str], typer.Argument(help="Implementations, or `all`.")],
    only: Annotated[
        list[str] | None,
        typer.Option(help="Run this check only, by its name in contract/tests. May be repeated."),
    ] = None,
    scenario: Annotated[
        list[str] | None, typer.Option(help="Run the checks of this scenario only. May be repeated.")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show full tracebacks and logs of failures.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until no other command measures.")] = False,
) -> None:
    """Run the contract's black-box tests against implementations."""
    catalog = Catalog(ROOT)
    names = list(catalog.implementations) if implementations == ["all"] else implementations
    for name in names:
        catalog.implementation(name)
    run.undisturbing(lambda: other_measurements(HERE), wait)
    for name in scenario or []:
        catalog.pick("scenario", name, catalog.scenarios)
    raise typer.Exit(run.contract(ROOT, names, only or [], scenario or [], verbose))


@app.command(name="shape")
def shape_(
    implementations: Annotated[list[str], typer.Argument(help="Folders, or `all` with a bench.toml.")],
) -> None:
    """Check within seconds that a folder has the shape of an implementation. Starts no container."""
    every = sorted(file.parent.name for file in ROOT.glob("*/bench.toml"))
    names = every if implementations == ["all"] else implementations
    found = {name: shape.examine(ROOT, name.rstrip("/")) for name in names}
    for name, flaws in found.items():
        for flaw in flaws:
            out.print(f"{name}/{flaw}", markup=False, highlight=False, soft_wrap=True)
        if not flaws:
            out.print(f"{name}: has the shape of an implementation", highlight=False)
    if any(found.values()):
        raise typer.Exit(1)


@app.command(name="new")
def new_(
    name: Annotated[str, typer.Argument(help="Name of the folder: lower-case letters, digits and hyphens.")],
    model: Annotated[
        Literal["sync", "async", "green"],
        typer.Option(
            help="How it waits: sync blocks a thread, async uses an event loop, green blocks a thread of its runtime."
        ),
    ],
    language: Annotated[str, typer.Option(help="Programming language.")] = "python",
) -> None:
    """Create the folder of a new implementation: a stub that runs, with every scenario switched off."""
    for file in new.make(ROOT, name, model, language):
        out.print(str(file.relative_to(ROOT)), highlight=False)
    then = f"just shape {name}, just matrix {name}, docs/how-to/add-an-implementation.md"
    out.print(f"Next: {then}", highlight=False)


@app.command(name="profile")
def profile_(
    implementation: cli.OneVariant = None,
    service: cli.ServiceFile = None,
    scenario: cli.ScenarioName = "index",
    topology: cli.ChosenTopology = None,
    placement: cli.ChosenPlacement = None,
    seconds: Annotated[int, typer.Option(min=3, help="Length of each of the three loads, in seconds.")] = 15,
) -> None:
    """Show where an application's CPU time goes under load: whose code, which functions, which system calls."""
    catalog, view = Catalog(ROOT), view_for(False)
    of = {"service": service} if service else {"scenario": scenario}
    asked = Asked(**of, plan="smoke", topology=topology, placement=placement, seed=0)
    [variant, *_] = asked.variants([implementation] if implementation else [])
    request = asked.request("profile", catalog, [variant])
    try:
        sections = profile.sections(catalog, request, seconds, RESULTS, view)
    finally:
        view.close()
    for title, text in sections.items():
        out.print(f"\n{title}", style="bold", markup=False, highlight=False)
        out.print(text, markup=False, highlight=False, soft_wrap=True)


@app.command(name="test")
def run_tests(
    weekly: Annotated[
        bool, typer.Option("--weekly", help="Also run the weekly tests, which take hours.")
    ] = False,
    rest: Annotated[
        bool, typer.Option("--rest", help="Leave out what `verify` does for each implementation.")
    ] = False,
) -> None:
    """Run everything that CI runs."""
    raise typer.Exit(run.everything(ROOT, weekly, rest))


@app.command(name="changed")
def changed_(
    since: Annotated[str, typer.Option(help="Commit to compare with. For a branch: its merge base.")],
) -> None:
    """Print the implementations that a change affects, as JSON. CI builds and verifies these."""
    catalog = Catalog(ROOT)
    paths = changed.since(ROOT, since)
    print(json.dumps(list(catalog.implementations) if paths is None else changed.touched(catalog, paths)))


@app.command()
def images() -> None:
    """Print every image with the digest of its sources, as JSON. CI publishes these."""
    print(json.dumps([asdict(image) for image in changed.images(Catalog(ROOT))]))


@app.command(name="release")
def release_(
    version: Annotated[str, typer.Argument(help="New version, such as 1.2.0.")],
) -> None:
    """Write a new version into the changelog and everywhere else it is stated. Commits nothing."""
    release.release(ROOT, version, datetime.now(UTC).date())
    out.print(
        f"Next: git commit --all --message 'Release {version}', then git tag --sign v{version}",
        highlight=False,
    )


@app.command()
def check() -> None:
    """Run the tests that start no container, and the linters: under two minutes."""
    raise typer.Exit(run.quick(ROOT))


@app.command()
def fmt() -> None:
    """Format all sources."""
    run.format_sources(ROOT)


@app.command()
def docs(
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Change nothing. Exit status 1: a figure differs from the records or the sources."
        ),
    ] = False,
) -> None:
    """Fill in the figures of README.md and docs/ from the committed records and the sources."""
    records = Records(ROOT)
    stale = [*fill_all(records, FIGURES, write=not check), *draw_all(records, PICTURES, write=not check)]
    for one in stale:
        (err if check else out).print(str(one), markup=False, highlight=False, soft_wrap=True)
    if check and stale:
        names = ", ".join(dict.fromkeys(str(one.page) for one in stale))
        err.print(
            f"stale: {names}. `just docs` fills them in.", markup=False, highlight=False, soft_wrap=True
        )
        raise typer.Exit(1)


if __name__ == "__main__":
    main(app)
