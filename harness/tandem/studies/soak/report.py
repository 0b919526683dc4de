"""A long run for people. Pure."""

from rich.console import Group
from rich.text import Text

from tandem.record.result import Result
from tandem.report.chart import named_lines, quantity, rows_of
from tandem.report.parts import ending
from tandem.report.picture import Picture
from tandem.report.table import Column, table
from tandem.studies.soak.conclusions import GROWTH_LEAST, LongRun, Minute, Soaked
from tandem.wording import counted, number

NOTE = (
    f"growth: slope of each window's median memory after the first fifth (Theil and Sen, 95 %); below {GROWTH_LEAST} MiB a minute"
    " nothing grows. Memory: after the first answer, at full load at the end, a minute after it"
)


def _growth(run: LongRun) -> str:
    if run.growth is None:
        return number(None)
    low, high = run.growth.interval
    return f"{run.growth.slope:.3f} ({low:.3f} to {high:.3f}): {run.word}"


def _ends(run: LongRun, name: str, digits: int = 0) -> str:
    """A figure in the first and the last third of the windows, in the mean."""
    third = max(1, len(run.minutes) // 3)

    def mean(part: list[Minute]) -> str:
        known = [value for one in part if (value := getattr(one, name)) is not None]
        return number(sum(known) / len(known) if known else None, digits)

    return f"{mean(run.minutes[:third])} → {mean(run.minutes[-third:])}"


def report(result: Result[Soaked]) -> Group:
    """A line for each variant, then the pictures."""
    runs = result.conclusions.runs
    longest = max((one.at_min for run in runs for one in run.minutes), default=0.0)
    told = table(
        f"{counted(round(longest), 'minutes')} of {result.request.scenario}; first third → last third",
        runs,
        Column("variant", lambda run: run.variant, text=True),
        Column("good", lambda run: f"{len(run.good)}/{len(run.minutes)}"),
        Column("offered, 1/s", lambda run: number(run.offered_rps)),
        Column("goodput, 1/s", lambda run: _ends(run, "goodput_rps")),
        Column("p99, ms", lambda run: _ends(run, "p99_ms", 1)),
        Column("app CPU, µs/request", lambda run: _ends(run, "app_cpu_us_per_request")),
        Column("descriptors", lambda run: _ends(run, "descriptors")),
        Column("database connections", lambda run: _ends(run, "db_connections")),
    )
    memory = table(
        "memory, MiB",
        runs,
        Column("variant", lambda run: run.variant, text=True),
        Column("at rest", lambda run: number(run.memory_rest_mib)),
        Column("under load", lambda run: _ends(run, "memory_mib")),
        Column("growth, MiB a minute", _growth, text=True),
        Column("full load", lambda run: number(run.memory_burst_mib)),
        Column("a minute after", lambda run: number(run.memory_after_mib)),
    )
    return Group(told, memory, *pictures(result.conclusions), Text(NOTE, style="dim"), *ending(result))


def headline(found: Soaked) -> str:
    """The growth of each variant's memory."""
    return ", ".join(
        f"{run.variant} {run.word} ({run.growth.slope:+.2f} MiB a minute)" for run in found.runs if run.growth
    )


def pictures(found: Soaked) -> list[Picture]:
    """Memory and p99 over the minutes."""
    drawn, minutes = [], quantity("minute", "minutes under load")
    for name, field, title, axis in (
        ("memory", "memory_mib", "Memory over time", "memory, MiB"),
        ("tail", "p99_ms", "The slow requests over time", "p99 of the response time, ms"),
    ):
        points = {
            run.variant: [
                {"minute": round(one.at_min, 2), field: value}
                for one in run.minutes
                if (value := getattr(one, field)) is not None and (name == "memory" or one in run.good)
            ]
            for run in found.runs
        }
        if rows := rows_of(points, "run"):
            says = f"{axis[0].upper()}{axis[1:]} in each window of a long run at one rate, one fresh start of each variant. A window"
            says += " that the host disturbed has no p99."
            spec = named_lines(rows, minutes, quantity(field, axis), "run")
            drawn.append(Picture(name, title, says, spec))
    return drawn
