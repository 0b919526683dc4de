"""Renders records for a terminal. Pure: records in, renderables out."""

import statistics

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tandem.record.run import Run, Verdict
from tandem.selftest.result import Status
from tandem.wording import BOTTLENECKS, bound, ceilings, number, time_spent, with_interval

OUTSIDE = "builds, stack, ceilings and interruptions"
_STYLES = {Verdict.OK: "green", Verdict.INVALID: "red", Verdict.VOID: "yellow", Verdict.FAILED: "red"}


def goodput(run: Run) -> str:
    """The goodput with its interval."""
    told = with_interval(run.summary.goodput_rps, run.summary.goodput_rps_interval)
    return bound(told, run.summary.goodput_rps, run.ceilings_rps)


def table(runs: list[Run]) -> Table:
    """One row per run."""
    first = runs[0]
    out = Table(
        title=f"{first.scenario}, topology {first.topology}, placement {first.placement}, plan {first.plan}",
        title_justify="left",
    )
    out.add_column("implementation", no_wrap=True)
    out.add_column("verdict")
    out.add_column("goodput\n1/s", justify="right")
    for name in ("p50", "p90", "p99"):
        out.add_column(f"{name}\nms", justify="right")
    out.add_column("at\n1/s", justify="right")
    out.add_column("app CPU\nµs/request", justify="right")
    out.add_column("app memory\npeak MiB", justify="right")
    out.add_column("limited by")
    for run in runs:
        s, times = run.summary, run.summary.response_time_ms
        memory = None if s.app_memory_peak_bytes is None else s.app_memory_peak_bytes / 2**20
        out.add_row(
            run.implementation,
            Text(run.verdict, style=_STYLES[run.verdict]),
            goodput(run),
            number(times.p50, 1),
            number(times.p90, 1),
            number(times.p99, 1),
            number(s.offered_rps),
            with_interval(s.app_cpu_us_per_request, s.app_cpu_us_per_request_interval),
            number(memory, 1),
            BOTTLENECKS.get(run.bottleneck or "", run.bottleneck or "–"),
        )
    return out


def words(run: Run) -> list[Text]:
    """The bottleneck, the reasons and the warnings of a run, in sentences."""
    out = []
    if run.bottleneck:
        what = BOTTLENECKS.get(run.bottleneck, run.bottleneck)
        out.append(Text(f"{run.implementation}: limited by {what}: {'; '.join(run.bottleneck_evidence)}"))
    out += [Text(f"{run.implementation}: {run.verdict}: {reason}", style="red") for reason in run.reasons]
    out += [
        Text(f"{run.implementation}: {warning.text} [{warning.code}]", style="yellow")
        for warning in run.warnings
    ]
    return out


def settings(runs: list[Run]) -> Text:
    """The knobs, and in what the runs differ: a difference is never silent."""
    names = sorted({name for run in runs for name in run.environment.knobs})
    same = {
        n: runs[0].environment.knobs.get(n)
        for n in names
        if len({r.environment.knobs.get(n) for r in runs}) == 1
    }
    lines = ["knobs: " + ", ".join(f"{name}={value}" for name, value in same.items() if value)]
    for run in runs:
        own = [
            f"{name}={value}" for name, value in run.environment.knobs.items() if name not in same and value
        ]
        if own:
            lines.append(f"{run.implementation} has {', '.join(own)}")
    lines += [line for run in runs if (line := round_trip(run))]
    return Text("\n".join(lines), style="dim")


def round_trip(run: Run) -> str | None:
    """How far the database was away, asked and measured; None where the latency proxy was not in the path."""
    windows = [window for trial in run.trials for window in (trial.closed, trial.open) if window]
    trips = [window.db_rtt_ms for window in windows if window.db_rtt_ms]
    if not trips:
        return None
    before, during, p90 = (
        statistics.median(getattr(trip, name) for trip in trips)
        for name in ("before_p50", "during_p50", "during_p90")
    )
    return (
        f"{run.implementation}: round trip to the database {during:.1f} ms during the load"
        f" (p90 {p90:.1f}; {before:.1f} before it; {trips[0].setting} asked; medians of {len(trips)} windows)"
    )


def markdown(runs: list[Run], proof: tuple[Status, str] | None = None) -> str:
    """The table of a campaign for a page, with where and when it was made, and a line about a self-test that is
    not passed."""
    first = runs[0]
    host = first.environment.host
    doubt = [f"**{proof[1]}**", ""] if proof and proof[0] is not Status.PASSED else []
    lines = [
        *doubt,
        "| implementation | verdict | goodput, 1/s | p50 / p90 / p99, ms | at, 1/s | app CPU, µs/request | app memory, MiB | limited by |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for run in runs:
        s, times = run.summary, run.summary.response_time_ms
        memory = None if s.app_memory_peak_bytes is None else s.app_memory_peak_bytes / 2**20
        cells = [
            run.implementation,
            run.verdict,
            goodput(run),
            " / ".join(number(value, 1) for value in (times.p50, times.p90, times.p99)),
            number(s.offered_rps),
            with_interval(s.app_cpu_us_per_request, s.app_cpu_us_per_request_interval),
            number(memory, 0),
            BOTTLENECKS.get(run.bottleneck or "", run.bottleneck or "–"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    memory_gib = int(host["memory_bytes"] or 0) / 2**30
    lines += [
        "",
        f"{first.started_at:%Y-%m-%d}, {host['cpus']} × {host['cpu_model']}, {memory_gib:.0f} GiB, Linux {host['kernel']};"
        f" scenario {first.scenario}, topology {first.topology}, placement {first.placement}, plan {first.plan},"
        f" {first.summary.trials_ok} fresh starts each, seed {first.seed}.",
    ]
    lines += [f"{line}." for run in runs if (line := round_trip(run))]
    return "\n".join(lines)


def phases(runs: list[Run]) -> dict[str, float]:
    """Seconds of each phase of the visits, summed over all trials, and what is left of the campaign's time."""
    out: dict[str, float] = {}
    for phase in (phase for run in runs for trial in run.trials for phase in trial.phases):
        out[phase.name] = out.get(phase.name, 0.0) + phase.duration_s
    whole = max(run.finished_at for run in runs) - min(run.started_at for run in runs)
    return {**out, OUTSIDE: whole.total_seconds() - sum(out.values())}


def proven(status: Status, text: str) -> Text:
    """The line at the top: what the harness's self-test says of the harness."""
    return Text(text, style="green" if status is Status.PASSED else "bold yellow")


def report(runs: list[Run], proof: tuple[Status, str] | None = None) -> RenderableType:
    """All that a campaign says at its end. proof: tandem.selftest.result.line."""
    top = [proven(*proof)] if proof else []
    note = Text(
        "goodput: right answers per second, closed loop, mean of fresh starts with the half-width of its 95 % interval."
        " p50 p90 p99: response time in an open loop at a share of each start's own goodput (mean rate: column «at»).",
        style="dim",
    )
    return Group(
        *top,
        table(runs),
        note,
        *ceilings(runs[0].ceilings_rps, reached_rps=max(run.summary.goodput_rps or 0.0 for run in runs)),
        settings(runs),
        *(line for run in runs for line in words(run)),
        Text(time_spent(phases(runs)), style="dim"),
    )
