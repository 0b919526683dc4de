"""Gates that compare two counts of the same thing, and the utilisation law. Pure."""

from collections.abc import Iterator

from tandem.record.window import Finding, Role, Window

ROWS_TOLERANCE = 0.001
"""The generator's rows and its summary are two views of the same answers."""
IN_FLIGHT_TOLERANCE, IN_FLIGHT_SLACK = 0.10, 2.0
"""HAProxy is sampled twice a second, and the harness's own probe is sent at the same moments: it is one of the
slack. In nine open windows with 1.0 to 2.4 requests in flight HAProxy saw 0.5 to 1.5 more than the rows."""
IN_FLIGHT_ERRORS = 3
"""Standard errors of the sampled mean that are forgiven as well: six samples of bursts say little."""
UTILISATION_TOLERANCE, SAMPLING_S = 0.02, 0.1
"""A sample is read up to some tens of milliseconds after its time stamp, at both ends of the measured part."""


def utilisation_bound(throughput_rps: float, roles: dict[str, Role]) -> tuple[float, str] | None:
    """The throughput at which the first CPU set would be exhausted, and whose set it is; None if nothing was used.

    The utilisation law: utilisation = throughput x demand, so at this demand X / U is the most. Roles that share
    a CPU set exhaust it together; the set is named after them, its largest user first.
    """
    sets: dict[str, list[str]] = {}
    for name, role in roles.items():
        sets.setdefault(role.cpuset, []).append(name)
    bounds = []
    for names in sets.values():
        used = sum(roles[name].cpu_cores for name in names)
        if used > 0 and throughput_rps > 0:
            ordered = sorted(names, key=lambda name: -roles[name].cpu_cores)
            bounds.append((throughput_rps * roles[ordered[0]].cores_available / used, "+".join(ordered)))
    return min(bounds, default=None)


def utilisation_evidence(window: Window) -> list[str]:
    """The bound in words, for the bottleneck."""
    if window.utilisation_bound_rps is None or window.utilisation_bound_by is None:
        return []
    return [
        f"at this cost per request the CPUs of {window.utilisation_bound_by} would be exhausted at {window.utilisation_bound_rps:,.0f}/s"
    ]


def accounting(window: Window) -> Iterator[Finding]:
    """Findings where two counts of the same thing differ. A figure that was not measured is not judged."""
    rows, reported = window.rows_2xx, window.reported_2xx
    if rows is not None and reported is not None and abs(rows - reported) > ROWS_TOLERANCE * reported:
        text = f"the generator reports {reported} 2xx responses, but its rows contain {rows}"
        yield Finding.of("rows-mismatch", "invalid", text)
    bound = window.utilisation_bound_rps
    tolerance = UTILISATION_TOLERANCE + SAMPLING_S / window.measured_s
    if bound is not None and window.goodput_rps > bound * (1 + tolerance):
        text = f"{window.goodput_rps:,.0f}/s were answered, but the CPU time of {window.utilisation_bound_by} allows only {bound:,.0f}/s"
        yield Finding.of("utilisation-law", "invalid", text)
    proxy, rows_mean = window.proxy, window.in_flight_mean
    if window.load == "open" and proxy is not None and rows_mean is not None:
        sampled, error = proxy.in_flight_mean, proxy.in_flight_error
        if sampled is None or error is None:
            return
        forgiven = IN_FLIGHT_TOLERANCE * rows_mean + IN_FLIGHT_SLACK + IN_FLIGHT_ERRORS * error
        if abs(sampled - rows_mean) > forgiven:
            text = f"Little's law: {rows_mean:.1f} requests in flight according to the rows, {sampled:.1f} according to HAProxy"
            yield Finding.of("littles-law", "warning", text)
