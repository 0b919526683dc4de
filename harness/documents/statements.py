"""Figures of the statements: what all sessions say of a contrast together, and on how much it rests. Pure."""

import statistics
from typing import Any

from documents.records import Records
from tandem.analysis.advice import GOOD
from tandem.analysis.cost import APP, TOTAL
from tandem.facts.session import SessionMachine
from tandem.facts.statement import Draw, Key, Known, defaults_now, every_statement, key_now, newest, of_before
from tandem.facts.statement import hit_rate as held
from tandem.facts.statement import known as together
from tandem.record.result import Result
from tandem.report import forest
from tandem.report.markdown import table
from tandem.report.picture import drawn, printable
from tandem.wording import basis_told, expected_told, hit_rate_told, known_told, metric_told


def _draws(
    records: Records, of: str, to: str, metric: str, scenario: str | None = None, topology: str | None = None
) -> tuple[list[Draw], Key]:
    """The draws of a statement, and its key with today's versions."""
    key = key_now(records.statements(), records.catalog(), metric, of, to, scenario, topology)
    return newest(records.sessions(), key), key


def known(records: Records, of: str, to: str, metric: str, *where: str) -> str:
    """The ratio with what is expected of the next session, and the basis. where: scenario and topology, where they are not
    those of the main statements. Where today's versions have too few sessions for a finding, that of earlier ones follows."""
    found, key = _draws(records, of, to, metric, *where)
    now, before = together(found, key), together(of_before(records.sessions(), key), key)
    if now is None or now.finding or now.earlier or before is None or not before.finding:
        return known_told(now)
    return f"{known_told(now)}; before, {known_told(before)}"


def statements_table(records: Records) -> str:
    """The main statements: a row for each pair, a column for each metric."""
    asked = records.statements().statement
    metrics = list(dict.fromkeys(one.metric for one in asked))
    rows = [
        (f"`{of}` by `{to}`", *(known_told(together(*_draws(records, of, to, metric))) for metric in metrics))
        for of, to in dict.fromkeys((one.of, one.to) for one in asked)
    ]
    return table(("pair", *map(metric_told, metrics)), rows)


def pairs_table(records: Records, metric: str, *scenarios: str) -> str:
    """The pairs of the main statements on several scenarios, a column for each."""
    rows = [
        (f"`{of}` by `{to}`", *(known(records, of, to, metric, scenario) for scenario in scenarios))
        for of, to in records.statements().pairs
    ]
    return table(("pair", *(f"`{scenario}`" for scenario in scenarios)), rows)


def costs_table(records: Records) -> str:
    """Every implementation with a session against the baseline of the main statements, the cheapest first."""
    to = records.statements().baseline
    rows: list[tuple[float, tuple[str, ...]]] = [(1.0, (f"`{to}`", _spent(records, to), "1", "1", ""))]
    for of in records.catalog().implementations:
        both = [together(*_draws(records, of, to, metric)) for metric in (TOTAL, APP)]
        basis = both[0] or both[1]
        if of != to and basis is not None:
            ratios = ("–" if one is None else expected_told(one) for one in both)
            rows.append((basis.ratio, (f"`{of}`", _spent(records, of), *ratios, basis_told(basis))))
    if len(rows) < 2:
        return "Not measured: `just session`."
    heads = ["implementation", "total CPU per request, µs, least to most>", f"against `{to}`>"]
    heads += [f"the application's own, against `{to}`>", "basis"]
    return table(heads, [cells for _, cells in sorted(rows)])


def _spent(records: Records, implementation: str) -> str:
    """The least and the greatest of the sessions of its present work; where there is none, of the newest that has one."""
    asked = records.statements()
    catalog = records.catalog()
    version, scenario = catalog.implementation(implementation).version, catalog.scenarios[asked.scenario]
    today = version, defaults_now(catalog, implementation, asked.placement)
    every = [
        ((program.version, program.effective), one.mean)
        for record in records.sessions()
        if (record.scenario, record.scenario_version) == (asked.scenario, scenario.version)
        and (record.topology, record.placement, record.db_rtt_ms) == (asked.topology, asked.placement, None)
        for one in record.estimates
        if one.metric == TOTAL
        and one.mean is not None
        and (program := record.programs.get(one.variant)) is not None
        and (program.implementation, program.settings) == (implementation, {})
    ]
    work = today if today in [own for own, _ in every] else every[-1][0] if every else None
    found = [mean for own, mean in every if own == work]
    if len(found) < 2:
        return f"{found[0]:,.0f}" if found else "–"
    return f"{min(found):,.0f} to {max(found):,.0f}"


def hit_rate(records: Records) -> str:
    """How often a later session lay where those before it had said."""
    return hit_rate_told(held(every_statement(records.sessions()).values()))


def equal_images(records: Records) -> str:
    """How many intervals of sessions' baselines by themselves contain 1: 95 % should."""
    controls = [record.control for record in records.sessions() if record.control is not None]
    found = [one.interval for control in controls for one in control.contrasts if one.interval is not None]
    return f"{sum(low <= 1 <= high for low, high in found)} of {len(found)}"


def predicted_cells(records: Records, *folders: str) -> str:
    """How far the model of a crossover was off in the cells that it predicted from others."""
    made = [one for folder in folders for one in records.result(folder).conclusions.predictions]
    off = sorted(abs(one.off) for one in made if one.off is not None and not one.calibrated)
    near = sum(one <= GOOD for one in off)
    return f"{near} of {len(off)} within {GOOD:.0%}, {statistics.median(off):.0%} in the median, {off[-1]:.0%} at worst"


# ---- a single session ----


def one_session(records: Records, folder: str) -> str:
    """The caption of figures of one record: machine, day, commit, conditions and plan."""
    result = records.result(folder)
    return f"one session, {', '.join(source(result))}, {conditions(result)}, plan {result.request.plan}"


def single_sessions(records: Records, *folders: str) -> str:
    """The same of several records, as a table; those that agree in everything share a row."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for folder in folders:
        result = records.result(folder)
        machine, day, commit = source(result)
        under = f"{conditions(result).removeprefix('scenario ')}, plan {result.request.plan}"
        alike.setdefault((machine, day, commit.removeprefix("commit "), under), []).append(f"`{folder}`")
    rows = [(", ".join(names), *told) for told, names in alike.items()]
    return table(("record, one session each", "machine", "day", "commit", "scenario, conditions"), rows)


def source(result: Result[Any]) -> tuple[str, str, str]:
    """Machine, day and commit."""
    environments = result.environments.values()
    models = [str(one.host["cpu_model"]) for one in environments if one.host.get("cpu_model")]
    machine = SessionMachine(cpu_model=models[0] if models else None).plain_name
    commits = sorted({one.git_commit[:7] for one in environments if one.git_commit})
    changed = ", changed" if any(one.git_dirty for one in environments) else ""
    commit = f"commit {' and '.join(commits)}{changed}" if commits else "commit not recorded"
    return machine, f"{result.started_at:%Y-%m-%d}", commit


def conditions(result: Result[Any]) -> str:
    """Scenario, path, connections, pool and distance; connections and pool only where all programs have the same."""
    asked, under = result.request, result.request.conditions
    pools = {one.settings.get("DB_POOL_MAX") for one in result.environments.values()} - {None, ""}
    connections = {str(one.scenario_changes.get("connections", "")) for one in asked.variants}
    told = [
        f"scenario {asked.scenario}",
        "full path" if under.topology == "full" else f"topology {under.topology}",
        f"{min(connections)} connections" if len(connections) == 1 and "" not in connections else "",
        f"pool {next(iter(pools))}" if len(pools) == 1 else "",
        "" if under.db_rtt_ms is None else f"database {under.db_rtt_ms} ms away",
        "" if under.services is None else f"services of {under.services}",
    ]
    return ", ".join(filter(None, told))


# ---- the picture ----


def picture(records: Records) -> str:
    """The main statements as a forest plot, as SVG: a row for each pair, a column for each metric."""
    found: dict[tuple[str, str, str], tuple[list[Draw], Known]] = {}
    for one in records.statements().statement:
        own, key = _draws(records, one.of, one.to, one.metric)
        if (known := together(own, key)) is not None:
            found[one.of, one.to, one.metric] = own, known
    cpus, metrics = forest.cpu_names(records.sessions()), list(dict.fromkeys(metric for *_, metric in found))

    def panel(of: str, to: str, metric: str) -> forest.ForestPanel | None:
        if (of, to, metric) not in found:
            return None
        own, known = found[of, to, metric]
        pair = f"{of} by {to}" if metric == metrics[0] else " "
        title = metric_told(metric).removeprefix("the ").removesuffix(" of the slowest's rate")
        return ((pair, title), forest.rows(own, cpus), known)

    if not found:
        return "<svg xmlns='http://www.w3.org/2000/svg'/>\n"
    grid = [[panel(of, to, metric) for metric in metrics] for of, to in records.statements().pairs]
    return drawn(printable(forest.small_multiples(grid)))
