"""Measures the parts around an application: HAProxy alone, a null application, the database alone."""

import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from tandem.catalog.catalog import Plan
from tandem.catalog.golden import Exact, read_answers
from tandem.catalog.scenario import Answer, Scenario
from tandem.engine.stand_ins import MEANINGS
from tandem.errors import TandemError
from tandem.load.client import session_key
from tandem.old import pgbench
from tandem.old.cell import Cell
from tandem.old.fresh import accepted, fresh_start
from tandem.old.prepare import Prepared, build
from tandem.old.session import VISIT_OVERHEAD_S, WINDOW_OVERHEAD_S, Session
from tandem.old.store import write_atomically

PROXY, NULL, DATABASE = "proxy", "null", "database"
NULL_IMPLEMENTATION = "rust-hyper"
PROXY_BODIES = ("index.html", "dashboard-1.json", "recipe-1.json")
SHORT = {"warm_up_s": 2, "closed_s": 5, "trim_start_s": 1.0, "trim_end_s": 0.5}
"""The plan of one look at each ceiling, for sessions about something else."""


@dataclass
class Around:
    """The ceilings of a session's scenario. The stack must be up when one is measured; each is a fresh start."""

    session: Session
    folder: Path
    null: Prepared = field(init=False)

    def __post_init__(self) -> None:
        under = self.session.under
        null = under.catalog.implementation(NULL_IMPLEMENTATION)
        # It has no database, so the knobs that are about one are the applications' alone.
        own = {name: value for name, value in under.knobs.items() if name not in null.unsupported.knobs}
        self.null = replace(under, knobs=own).prepare(null, self._null_scenario(), self.folder / NULL)

    def steps(self) -> dict[str, Callable[[], float]]:
        """Ceiling -> what measures it and returns its rate per second, or raises TandemError.

        What does not stand in the topology's path is no ceiling: without HAProxy an application may be faster than it.
        """
        under = self.session.under
        database = under.catalog.topologies[under.topology].variables["DATABASE_ADDRESS"]
        out: dict[str, Callable[[], float]] = {NULL: partial(self._asked, NULL, self.null)}
        if self.null.cell.proxied:
            proxy = replace(self.null, cell=self._proxy_cell(self.null.cell))
            out[PROXY] = partial(self._asked, PROXY, proxy)
        if self.session.scenario.statements and database.startswith("pgbouncer"):
            out[DATABASE] = self._database
        return out

    def once(self) -> dict[str, float | None]:
        """One short look at each; null where it failed, which is told."""
        view = self.session.view
        out: dict[str, float | None] = {}
        for name, step in self.steps().items():
            view.trial(f"ceiling: {MEANINGS[name]}")
            try:
                rate = out[name] = step()
                view.note(f"  {rate:,.0f}/s")
            except TandemError as error:
                out[name] = None
                view.note(f"  not measured: {error}")
        return out

    def pool(self) -> int:
        """So many connections to the database the applications have, and so has pgbench."""
        return int(self.session.under.knobs.get("DB_POOL_MAX", self.null.knobs["DB_POOL_MAX"]))

    # ---- how ----

    def _asked(self, name: str, prepared: Prepared) -> float:
        plan = prepared.cell.plan
        with fresh_start(self.session.lab(prepared, self.folder / name), plan.warm_up_s) as lab:
            return accepted(lab.measure("closed", plan.closed_s, None)).goodput_rps

    def _database(self) -> float:
        scenario, stack, plan = self.session.scenario, self.null.stack, self.session.under.plan
        assert scenario.session_user is not None
        file = self.folder / DATABASE / "script.sql"
        file.parent.mkdir(parents=True, exist_ok=True)
        cpuset = stack.variables.get("APP_CPUSET", "")
        clients, key = self.pool(), session_key(scenario.session_user)
        stack.stop("app", grace_s=1)  # pgbench takes its place
        stack.execute("db", ["reset"])
        for seconds in (plan.warm_up_s, plan.closed_s):
            result = pgbench.run(stack, scenario, key, clients, cpuset, seconds, file)
        if result.failed:
            raise TandemError(f"{result.failed} transactions of pgbench failed")
        return result.transactions_per_s

    # ---- what stands in for the application ----

    def _body_bytes(self) -> int:
        contract = self.session.under.catalog.root / "contract"
        return int(statistics.median(read_answers(self.session.scenario, contract).lengths()))

    def _null_scenario(self) -> Scenario:
        size = self._body_bytes()
        return Scenario(
            name=NULL,
            stresses=MEANINGS[NULL],
            path=f"/null/{size}",
            connections=self.session.scenario.connections,
            statements=[],
            answer=Answer(text="x" * size),
        )

    def _proxy_cell(self, cell: Cell) -> Cell:
        golden, size = self.session.under.catalog.root / "contract/golden", self._body_bytes()
        bodies = {name: (golden / name).read_bytes() for name in PROXY_BODIES}
        name = min(bodies, key=lambda name: abs(len(bodies[name]) - size))
        scenario = cell.scenario.model_copy(update={"name": PROXY, "path": f"/{name}"})
        return replace(
            cell, scenario=scenario, answers=Exact(bodies[name]), load_address="proxy:8081", proxied=False
        )


def look_s(plan: Plan) -> float:
    """How long the looks of a session with this plan take at the most, without builds."""
    each = SHORT["warm_up_s"] + SHORT["closed_s"] + VISIT_OVERHEAD_S + WINDOW_OVERHEAD_S
    return len(MEANINGS) * each if plan.ceilings else 0.0


def short(session: Session) -> Session:
    """The session's conditions with the plan of one short look."""
    under = replace(session.under, plan=session.under.plan.model_copy(update=SHORT))
    return Session(under, session.scenario, session.results, session.view, session.seed)


def ceilings_of(session: Session, folder: Path) -> dict[str, float | None]:
    """One short look at each ceiling, kept in `folder` (ceilings.json); a resumed session has had it.

    Raises TandemError if what it has kept cannot be read.
    """
    file = folder / "ceilings.json"
    if file.is_file():
        try:
            return dict(json.loads(file.read_text()))
        except ValueError as error:
            raise TandemError(f"{file} cannot be read: {error}. Remove it to look again.") from None
    around = Around(short(session), folder / "ceilings")
    build([around.null], session.view.note)
    found = around.once()
    write_atomically(file, json.dumps(found) + "\n")
    return found
