"""Answers of the load itself, read on the wire in short bursts and compared once the load is over.

The packets are taken at the host's end of the generator's own network interface, so that the answers are those that the
generator gets, and requests of the harness are not among them.
"""

import math
import random
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tandem.catalog.golden import Answers
from tandem.catalog.scenario import Scenario
from tandem.hosts.host import Capture, Captured, Host
from tandem.probes.comparing import KEPT, ComparedAnswers, Comparison, compare_all
from tandem.probes.exchanges import Broken, Exchange, exchanges, read_packets
from tandem.record.window import OnWire, Tap

PACKETS_PER_S = 400
"""Packets per second of the load's duration. Each answer is a packet for its request and one or two for itself."""
BURSTS, APART_S = (3, 12), 2.5
"""Fewest and most bursts of a window, and seconds from one to the next."""
SNAP_BYTES = 16384
"""Bytes that are captured of each packet: HAProxy's buffer, which is the most that it sends at once."""
MEMORY = Path("/dev/shm")
"""Packets stay in memory: a disk would be written to during the load."""
MEMORY_BYTES = 40 << 20
HEADS_BYTES = 1024
"""Bytes of the heads of a request and its answer."""
LOOK_S = 0.02
PAYLOAD = "(ip[2:2] - ((ip[0] & 0xf) << 2) - ((tcp[12] & 0xf0) >> 2)) != 0"
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


@dataclass(frozen=True)
class Bursts:
    """The bursts by which a window is sampled. The moments are drawn anew each time: a server that knows the
    study's seed, which is public, cannot know them."""

    number: int
    apart_s: float
    packets: int
    """Packets of each burst; it goes on until it has them."""

    @classmethod
    def of(cls, seconds: float, exchange_bytes: int) -> "Bursts":
        """seconds: of the load. exchange_bytes: the bodies of a request and its answer, at most."""
        least, most = BURSTS
        number = max(least, min(most, int(seconds / APART_S)))
        fitting = 2 * MEMORY_BYTES // min(SNAP_BYTES, exchange_bytes + HEADS_BYTES)
        return cls(number, seconds / number, max(1, min(round(PACKETS_PER_S * seconds), fitting) // number))


@dataclass
class WireTap:
    """A Probe. ends: of each generator's interface its host, and the number of the end there; each burst draws one."""

    ends: Sequence[tuple[Host, int]]
    apps: dict[str, Tapped]
    bursts: Bursts
    _ended: threading.Event = field(default_factory=threading.Event)
    _captured: list[Captured] = field(default_factory=list)
    _failure: OSError | None = None

    def start(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tap-", dir=MEMORY if MEMORY.is_dir() else None)
        self._thread = threading.Thread(target=self._run, name="tap", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()
        if self._failure is not None:
            self._folder.cleanup()
            raise self._failure

    def _run(self) -> None:
        wanted, began = expression([app.target for app in self.apps.values()]), time.monotonic()
        try:
            while True:
                slot = math.floor((time.monotonic() - began) / self.bursts.apart_s) + bool(self._captured)
                due = began + (slot + random.random() / 2) * self.bursts.apart_s
                if self._ended.wait(max(0.0, due - time.monotonic())):
                    return
                self._captured.append(self._burst(wanted))
        except OSError as error:  # told to the main thread, which knows the phase
            self._failure = error

    def _burst(self, wanted: str) -> Captured:
        file = self._file(len(self._captured))
        host, interface = random.choice(self.ends)
        try:
            capture: Capture = host.capture(interface, wanted, self.bursts.packets, SNAP_BYTES, file)
        except OSError as error:
            if len(self.ends) == 1:
                raise
            # One of several generators died, and its interface with it: the window is void by that.
            return Captured(packets=0, dropped=0, cpu_s=0.0, problem=str(error))
        while not capture.ended and not self._ended.wait(LOOK_S):
            pass
        return capture.stop()

    def _file(self, number: int) -> Path:
        return Path(self._folder.name) / f"{number}.pcap"

    @cached_property
    def _compared(self) -> tuple[dict[str, ComparedAnswers], int, float]:
        """Outcome by application; bytes of the captures; CPU seconds. Only once all probes have ended: it takes a CPU."""
        began, bytes_ = time.thread_time(), 0
        found = {label: list[Exchange | Broken | None]() for label in self.apps}
        for number in range(len(self._captured)):
            file = self._file(number)
            bytes_ += file.stat().st_size if file.is_file() else 0
            for label, app in self.apps.items():
                found[label] += exchanges(read_packets(file), app.target)
        self._folder.cleanup()
        out = {label: compare_all(app.classes(), found[label]) for label, app in self.apps.items()}
        return out, bytes_, time.thread_time() - began

    def part(self, app: str) -> OnWire:
        compared, bytes_, cpu_s = self._compared
        own = compared[app]
        problems = [one.problem for one in self._captured if one.problem]
        tap = Tap(
            bursts=len(self._captured),
            bytes=bytes_,
            packets_lost=sum(one.dropped for one in self._captured),
            begun=own.begun,
            compared=own.compared,
            compared_of_class=own.of_class if len(own.of_class) > 1 else [],
            wrong=len(own.wrong),
            wrong_first=own.wrong[:KEPT],
            capture_cpu_s=sum(one.cpu_s for one in self._captured),
            compare_cpu_s=cpu_s,
            problem=problems[0] if problems else None,
        )
        return OnWire(tap=tap)
