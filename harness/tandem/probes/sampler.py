"""Samples counters in the background while a window runs, and interpolates between the samples."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from tandem.hosts.host import Cgroup, HostCpu, Machines, Usage
from tandem.probes.haproxy import ProxyCounters
from tandem.probes.pools import PgBouncer, PoolerCounters
from tandem.probes.probe import Background, uneven_s

INTERVAL_S = 0.5
"""Mean pause between two samples."""


@dataclass(frozen=True)
class Sample:
    at_s: float
    """time.time()"""
    usage: dict[str, Usage]
    host: HostCpu
    proxy: ProxyCounters | None = None
    pooler: PoolerCounters | None = None
    lock_waits: int | None = None
    """Connections of the application that wait for a lock in the database; None: not asked for."""
    connected: dict[tuple[str, str], int] | None = None
    """Address and role -> its connections to the database and to what stands before it; None: not asked for."""
    proxies: dict[str, ProxyCounters] | None = None
    """Counters by the application that HAProxy asks; `proxy` is the one that a window is about."""

    @property
    def responses_2xx(self) -> int | None:
        """Right answers of all applications together; None where HAProxy is not in the path."""
        return None if self.proxies is None else sum(one.responses_2xx for one in self.proxies.values())


@dataclass
class Series:
    """Samples in the order of time."""

    samples: list[Sample] = field(default_factory=list)

    def between(self, low_s: float, high_s: float) -> list[Sample]:
        return [sample for sample in self.samples if low_s <= sample.at_s <= high_s]

    def at(self, moment_s: float, value: Callable[[Sample], float]) -> float:
        """A counter at a moment, linear between the samples around it, constant beyond the ends."""
        index = bisect_right([sample.at_s for sample in self.samples], moment_s)
        if index == 0:
            return value(self.samples[0])
        if index == len(self.samples):
            return value(self.samples[-1])
        before, after = self.samples[index - 1], self.samples[index]
        share = (moment_s - before.at_s) / (after.at_s - before.at_s)
        return value(before) + share * (value(after) - value(before))


NOTHING = Usage(0.0, 0.0, 0)


@dataclass
class Sampler:
    """A thread that samples every INTERVAL_S seconds in the mean between `start` and `stop`."""

    host: Machines
    groups: Mapping[str, Cgroup]
    """Role -> its group, which runs there."""
    proxies: Callable[[], dict[str, ProxyCounters]] | None
    pooler: PgBouncer | None
    seen: Callable[[Sample, Sample], None]
    sessions: Callable[[], tuple[dict[tuple[str, str], int], int]] | None = None
    """Connections by address and role, and how many wait for a lock."""
    mortal: Collection[str] = ()
    """Roles whose containers may go while they are sampled: their counters stand still then."""

    def __post_init__(self) -> None:
        self._last, self._gone = dict[str, Usage](), dict[str, Usage]()
        self._series, self._marks = Series(), list[Sample]()
        self._looking = Background("sampler", self._look, _pause_s)

    def _usages(self) -> tuple[float, dict[str, Usage]]:
        """Two threads ask: a mark does not wait for a sample that is being taken."""
        groups = self.groups
        try:
            at_s, found = self.host.usages(groups)
        except OSError:
            there = {role: group for role, group in groups.items() if not self._is_gone(role, group)}
            if len(there) == len(groups):
                raise
            self._gone |= {role: self._last.get(role, NOTHING) for role in groups.keys() - there.keys()}
            self.groups = there
            at_s, found = self.host.usages(there)
        self._last = found = found | self._gone
        return at_s, found

    def _is_gone(self, role: str, group: Cgroup) -> bool:
        if role not in self.mortal:
            return False
        try:
            group.usage()
        except OSError:
            return True
        return False

    def take(self) -> Sample:
        at_s, usage = self._usages()
        connected, lock_waits = self.sessions() if self.sessions else (None, None)
        return Sample(
            at_s=at_s,
            usage=usage,
            host=self.host.read_cpu(),
            proxies=self.proxies() if self.proxies else None,
            pooler=self.pooler.read() if self.pooler else None,
            lock_waits=lock_waits,
            connected=connected,
        )

    def mark(self) -> float:
        """Reads the groups' counters and the host's at once, without asking any service; returns when."""
        at_s, usage = self._usages()
        self._marks.append(Sample(at_s, usage, self.host.read_cpu()))
        return at_s

    def start(self) -> None:
        self._series = Series([self.take()])
        self._looking.start()

    def stop(self) -> Series:
        """Ends the sampling. Raises what the thread met."""
        self._looking.stop()
        between = sorted([*self._series.samples[1:], *self._marks], key=lambda sample: sample.at_s)
        self._series.samples[1:] = [*between, self.take()]
        return self._series

    def _look(self) -> None:
        sample = self.take()
        self.seen(self._series.samples[-1], sample)
        self._series.samples.append(sample)


def _pause_s() -> float:
    return uneven_s(INTERVAL_S)


@dataclass(frozen=True)
class Counted:
    """The counters around one application's load."""

    series: Series
    busiest_thread_s: float | None = None
    """CPU-seconds of the application's busiest thread over the whole window."""
    db_connections_max: int | None = None
    """The most connections that a sample found from the application to the database; None: not known."""


@dataclass(frozen=True)
class Wrong:
    """A probe's answer that was not right."""

    text: str
    body: bool
    """Whether an answer has a body that is not golden. False: no proper answer (refused, an error status)."""


@dataclass
class Probed:
    """Outcome of the harness's own requests during a load."""

    asked: int
    refused: list[str]
    """Requests that got no proper answer."""
    wrong: list[str]
    """Requests that got a body that is not golden."""


class Prober:
    """A thread that fetches one answer every INTERVAL_S in the mean and compares its whole body with the golden one."""

    def __init__(self, ask: Callable[[], Wrong | None], of: int = 1) -> None:
        """ask: sends one request; returns what was wrong, or None. of: so many share the interval."""
        self._ask = ask
        self.probed = Probed(0, [], [])
        looking = Background("prober", self._look, lambda: of * _pause_s())
        self.start, self.stop = looking.start, looking.stop

    def _look(self) -> None:
        try:
            wrong = self._ask()
        except Exception as error:  # a thread that died would look like one that found nothing
            wrong = Wrong(f"the probe itself failed: {error!r}", body=True)
        self.probed.asked += 1
        if wrong is not None:
            (self.probed.wrong if wrong.body else self.probed.refused).append(wrong.text)
