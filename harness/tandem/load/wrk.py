"""wrk, which measured one of the documents: closed loops, one event loop for each thread, a summary as text.

https://github.com/wg/wrk. Its latencies are service times, without the time that requests wait to be sent.
"""

import re

from tandem.errors import TandemError
from tandem.load.generator import Load, SocketErrors, Summarising, ToolResult

NAME = "wrk"
_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 60e3, "h": 3600e3}
_TIME = r"(\d+(?:\.\d+)?)(us|ms|s|m|h)"
_HEAD = re.compile(r"^ +(\d+) threads and (\d+) connections$", re.MULTILINE)
_LATENCY = re.compile(rf"^ +Latency +{_TIME} +{_TIME} +{_TIME} +\S+%$", re.MULTILINE)
_PERCENTILE = re.compile(rf"^ +(50|90|99)% +{_TIME}$", re.MULTILINE)
_TOTAL = re.compile(rf"^ +(\d+) requests in {_TIME}, \S+ read$", re.MULTILINE)
_ERRORS = re.compile(
    r"^ +Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)$", re.MULTILINE
)
_NOT_2XX = re.compile(r"^ +Non-2xx or 3xx responses: (\d+)$", re.MULTILINE)
_RATE = re.compile(r"^Requests/sec: +(\d+(?:\.\d+)?)$", re.MULTILINE)


def parse(text: str) -> ToolResult:
    """The figures in what wrk printed. Raises TandemError if that is not a whole summary.

    wrk prints its line of errors only where there are some: without it they are 0. Its answers without 2xx or 3xx
    are the failed ones; what met a socket error is no answer and counted there.
    """
    head, latency, total, rate = (p.search(text) for p in (_HEAD, _LATENCY, _TOTAL, _RATE))
    if not (head and latency and total and rate):
        raise TandemError(f"wrk printed no summary:\n{text.strip()[-500:] or '(it printed nothing)'}")
    errors, wrong = _ERRORS.search(text), _NOT_2XX.search(text)
    counts = [int(n) for n in errors.groups()] if errors else [0] * 4
    percentiles = {f"latency_p{m[1]}_ms": _ms(m[2], m[3]) for m in _PERCENTILE.finditer(text)}
    return ToolResult(
        requests=int(total[1]),
        failed=int(wrong[1]) if wrong else 0,
        duration_s=_ms(total[2], total[3]) / 1e3,
        requests_rps=float(rate[1]),
        latency_mean_ms=_ms(latency[1], latency[2]),
        latency_max_ms=_ms(latency[5], latency[6]),
        socket_errors=SocketErrors(connect=counts[0], read=counts[1], write=counts[2], timeout=counts[3]),
        **percentiles,
    )


def _ms(number: str, unit: str) -> float:
    return float(number) * _MS[unit]


class WrkGenerator(Summarising):
    """wrk as a tandem.load.generator.Generator. Of several URLs it asks for the first; options: its `threads`,
    each with connections / threads of the connections. An answer that takes longer than the timeout is counted as one;
    its connection stays."""

    name = NAME

    def arguments(self, load: Load, name: str) -> list[str]:
        self.check(load)
        url = load.urls[0] if load.urls else load.url
        own = [f"-t{int(load.options.get('threads', 1))}", f"-c{load.connections}", f"-d{load.duration_s}s"]
        return ["wrk", *own, f"--timeout={load.timeout_s}s", "--latency", url]


WRK = WrkGenerator(parse)
