"""Loads several warm applications in the same seconds, each by a generator process of its own, at about one rate.

What the host does to one of them it does to the others in the same moment, so the ratio of their costs is far
steadier than that of windows taken one after the other (duet benchmarking: Bulej et al., ICPE 2020). It tells costs
and not rates: the applications share their CPUs. HAProxy is not in the path.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx
import psycopg

from tandem.errors import TandemError
from tandem.judge import judge
from tandem.judge.judge import Expectation
from tandem.old.lab import BenchLab
from tandem.old.observe import Observed
from tandem.probes.sampler import Sample, Series
from tandem.record.window import Finding, Verdict, Window

APP, DIRECT = "app", "app:8080"
SHARE = 0.6
"""Of what the slowest reaches alone: all rates together."""


def rates(goodputs_rps: list[float]) -> list[int]:
    """At which rate each is asked, per second. goodputs_rps: of each, alone.

    One rate, but that each next one is asked once a second more often: with equal rates the one that is always asked
    just behind another finds its caches warm or cold, and two starts of one program differed by 1.7 % in seven blocks.
    """
    least = max(1, int(SHARE * min(goodputs_rps) / len(goodputs_rps)))
    return [least + number for number in range(len(goodputs_rps))]


def of_one(series: Series, role: str) -> Series:
    """The samples as if `role` were the only application; the others stay known by their own names."""

    def view(sample: Sample) -> Sample:
        usage = dict(sample.usage)
        usage[APP], usage[role] = sample.usage[role], sample.usage[APP]
        return replace(sample, usage=usage)

    return series if role == APP else Series([view(sample) for sample in series.samples])


def duet(labs: dict[str, BenchLab], duration_s: int, rates_rps: list[int]) -> dict[str, Window]:
    """One open window of every application, all in the same seconds. labs: label -> started, warm and thawed;
    rates_rps: one for each.

    Statements are counted for all together: where they do not fit, all windows are invalid. What one leaves out and
    another does twice cancels here, so whoever takes part has had windows alone in the same start, judged one by one.
    Raises TandemError.
    """
    cells = {name: lab.cell for name, lab in labs.items()}
    try:
        for lab in labs.values():
            lab.ask_for(replace(lab.cell, proxied=False, load_address=DIRECT), DIRECT)
        return _measured(labs, duration_s, rates_rps)
    except (OSError, KeyError, httpx.HTTPError, psycopg.Error) as error:
        raise TandemError(f"the window of all at once broke: {error}") from None
    finally:
        for name, lab in labs.items():
            lab.ask_for(cells[name], cells[name].load_address)


def _measured(labs: dict[str, BenchLab], duration_s: int, rates_rps: list[int]) -> dict[str, Window]:
    first = next(iter(labs.values()))
    roles = dict(zip(labs, [APP, *(f"{APP} {number}" for number in range(2, len(labs) + 1))], strict=True))
    files = {name: f"duet-{number}" for number, name in enumerate(labs, start=1)}
    asked = zip(labs.items(), rates_rps, strict=True)
    loads = {name: lab.load(duration_s, rate_rps) for (name, lab), rate_rps in asked}
    probers = {name: lab.prober() for name, lab in labs.items()}
    beside = {roles[name]: lab for name, lab in labs.items() if lab is not first}

    for name, lab in labs.items():
        lab.send(files[name], loads[name], lab.load_generator)

    def load() -> dict[str, float]:
        with ThreadPoolExecutor(len(labs)) as threads:
            runs = {
                name: threads.submit(lab.run, files[name], loads[name], lab.load_generator)
                for name, lab in labs.items()
            }
            return {name: run.result() for name, run in runs.items()}

    began_s, seen = first.observer(list(probers.values()), beside).during(load)
    windows = {}
    for name, lab in labs.items():
        own = Observed(
            series=of_one(seen.series, roles[name]),
            statements={},
            watched=seen.watched,
            db_rtt_ms=seen.db_rtt_ms,
            stored_rows=None,
            busiest_thread_s={APP: seen.busiest_thread_s[roles[name]]},
            app_pools={APP: use} if (use := seen.app_pools.get(roles[name])) else {},
        )
        expected = Expectation([], proxied=False, idle_connections=lab.cell.scenario.idle_connections)
        windows[name] = lab.judged(
            "open", loads[name], began_s[name], own, probers[name], files[name], expected
        )
    return together(windows, seen, {name: lab.cell.expected for name, lab in labs.items()})


def together(
    windows: dict[str, Window], seen: Observed, expected: dict[str, Expectation]
) -> dict[str, Window]:
    """The windows with what only their sum can tell: every statement once for each right answer, and a row stored.

    expected: of each window's application; their settings may differ.
    """
    answers = {
        name: window.good + window.probes - window.failed.get("probe not answered", 0)
        for name, window in windows.items()
    }
    parts = [(expected[name], number) for name, number in answers.items()]
    found = judge.statements_of_all(seen.statements, parts, slack=judge.SLACK * len(windows))
    answered = sum(answers.values())
    if seen.stored_rows is not None and seen.stored_rows < answered:
        text = f"{answered} answers said that a row is stored, and the tables grew by {seen.stored_rows}"
        found.append(Finding(code="not-stored", severity="invalid", text=text))
    out = {}
    for name, window in windows.items():
        starved = window.verdict is Verdict.VOID
        own = [f.model_copy(update={"severity": "void"}) if starved else f for f in found]
        findings = [*own, *window.findings]
        out[name] = window.model_copy(
            update={
                "findings": findings,
                "verdict": judge.verdict(findings),
                "statements": seen.statements,
            }
        )
    return out
