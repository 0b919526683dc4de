"""Answers of the load itself, read on the wire in short bursts and compared once the load is over.

The packets are taken at the host's end of the generator's own network interface, so that the answers are those that the
generator gets, and requests of the harness are not among them.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tandem.catalog.golden import Answers
from tandem.catalog.scenario import Scenario
from tandem.hosts.host import Host
from tandem.probes.captures import APART_S, PAYLOAD, Bursts, Captures
from tandem.probes.comparing import KEPT, ComparedAnswers, Comparison, compare_all
from tandem.probes.exchanges import Broken, Exchange, exchanges, read_packets
from tandem.record.window import OnWire, Tap

PACKETS_PER_S = 400
"""Packets per second of the load's duration. Each answer is a packet for its request and one or two for itself."""
BURSTS = 3, 12
"""Fewest and most bursts of a window."""
SNAP_BYTES = 16384
"""Bytes that are captured of each packet: HAProxy's buffer, which is the most that it sends at once."""
MEMORY_BYTES = 40 << 20
HEADS_BYTES = 1024
"""Bytes of the heads of a request and its answer."""
HELD_BACK_S, APART_FACTOR = (0.036, 0.052), 2.0
"""What Linux waits for before it acknowledges one packet, at least 40 ms (TCP_DELACK_MIN), as it is seen; and by how much
pauses beside it are shorter or longer."""
BEGINS = " or ".join(
    f"tcp[((tcp[12] & 0xf0) >> 2):4] = 0x{method.hex()}" for method in (b"GET ", b"POST", b"PUT ", b"DELE")
)
"""The kernel hands over the beginning of each request and the whole of each answer: no acknowledgements, no bodies of
requests."""


def expression(targets: list[tuple[str, int]]) -> str:
    """Which packets, in pcap's language."""
    answers = " or ".join(f"(src host {host} and src port {port})" for host, port in targets)
    requests = " or ".join(f"(dst host {host} and dst port {port})" for host, port in targets)
    return f"tcp and ((({answers}) and {PAYLOAD}) or (({requests}) and ({BEGINS})))"


@dataclass(frozen=True)
class Tapped:
    """One application's load. address: host:port that the generator asks."""

    address: str
    classes: Callable[[], Sequence[Comparison]]
    """One comparison for each class of its requests."""

    @property
    def target(self) -> tuple[str, int]:
        host, _, port = self.address.rpartition(":")
        return host, int(port)


def bodies_bytes(scenario: Scenario, answers: Answers) -> int:
    """Largest bodies of a request and its answer."""
    return len(scenario.body.bytes() if scenario.body else b"") + max(answers.lengths())


def bursts_of(seconds: float, exchange_bytes: int) -> Bursts:
    """seconds: of the load. exchange_bytes: the bodies of a request and its answer, at most."""
    least, most = BURSTS
    number = max(least, min(most, int(seconds / APART_S)))
    fitting = 2 * MEMORY_BYTES // min(SNAP_BYTES, exchange_bytes + HEADS_BYTES)
    packets = max(1, min(round(PACKETS_PER_S * seconds), fitting) // number)
    return Bursts(number, seconds / number, packets, SNAP_BYTES)


class WireTap:
    """A Probe. ends: of each generator's interface its host, and the number of the end there; each burst draws one."""

    def __init__(self, ends: Sequence[tuple[Host, int]], apps: dict[str, Tapped], bursts: Bursts) -> None:
        self.apps = apps
        self.captures = Captures(ends, expression([app.target for app in apps.values()]), bursts)
        self.start, self.stop = self.captures.start, self.captures.stop

    @cached_property
    def _compared(self) -> tuple[dict[str, ComparedAnswers], int, float]:
        """Outcome by application; bytes of the captures; CPU seconds. Only once all probes have ended: it takes a CPU."""
        began, bytes_ = time.thread_time(), 0
        found = {label: list[Exchange | Broken | None]() for label in self.apps}
        for file in self.captures.files:
            bytes_ += file.stat().st_size
            for label, app in self.apps.items():
                found[label] += exchanges(read_packets(file), app.target)
        self.captures.forget()
        out = {label: compare_all(app.classes(), found[label]) for label, app in self.apps.items()}
        return out, bytes_, time.thread_time() - began

    def part(self, app: str) -> OnWire:
        compared, bytes_, cpu_s = self._compared
        own, captured = compared[app], self.captures.outcome
        tap = Tap(
            bursts=len(self.captures.each),
            bytes=bytes_,
            packets_lost=captured.dropped,
            begun=own.begun,
            compared=own.compared,
            compared_of_class=own.of_class if len(own.of_class) > 1 else [],
            wrong=len(own.wrong),
            wrong_first=own.wrong[:KEPT],
            capture_cpu_s=captured.cpu_s,
            compare_cpu_s=cpu_s,
            held_back=_within(own.pauses_s, 1),
            apart=_within(own.pauses_s, 1 / APART_FACTOR) + _within(own.pauses_s, APART_FACTOR),
            problem=captured.problem,
        )
        return OnWire(tap=tap)


def _within(pauses_s: Sequence[float], factor: float) -> int:
    """How many are in HELD_BACK_S times a factor."""
    low, high = (limit * factor for limit in HELD_BACK_S)
    return sum(low <= pause_s < high for pause_s in pauses_s)
