"""The parts of a window's record that tell what the host did meanwhile."""

from pydantic import Field

from tandem.record.part import Figure, Part


class Hiccup(Part):
    """How much longer than asked the sleeps of a meter lasted, on the CPUs of application and generator."""

    realtime: bool
    """Whether it was real-time; False: it queued like everybody else, so its figures contain the load's own queue."""
    cpu_cores: Figure
    """What the meter itself used."""
    samples: int
    p999_ms: Figure | None
    max_ms: Figure


class HostActivity(Part):
    """What else went on: shares of the capacity of all CPUs together."""

    steal_share: Figure
    steal_told: bool | None = None
    """Whether the kernel has counted any stolen time since it started. False: 0 says nothing, the hypervisor may not tell."""
    foreign_cpu_share: Figure | None
    """CPU used by processes that are neither the stack's nor the harness's; null where that was not counted."""
    foreign_cpu_interval: tuple[Figure, Figure] | None = None
    """`foreign_cpu_share` at least and at most: by the control groups, and by the kernel's ticks with interrupts."""
    softirq_share: Figure
    harness_cpu_cores: Figure | None
    hiccup: Hiccup | None = None
    clock_drift_ms: Figure | None = None
    """How far the wall clock ran ahead of the monotonic one over the window."""
    clock_changed: bool | None = None
    """Whether the kernel took another clock source."""
    swapped_pages: int | None = None
    """Pages of the whole host that went to swap or came from there."""
    listen_overflows: int | None = None
    """Connections that the kernel dropped because the application's listen queue was full."""


class HostSeen(Part):
    """What the windows of a study say of the host that they ran on."""

    gates: int
    """Number of gates that watch it (tandem.judge.disturbance.GATES)."""
    cannot_judge: dict[str, str]
    """Gate that had nothing to go by in any window -> why."""
    softirq_share: dict[str, tuple[Figure, Figure]]
    """Variant -> the time for interrupts, of all CPUs, in its windows: the least and the most. Most of it is the network's, and
    no program is charged for it."""


class PerSecond(Part):
    """The measured part second by second: columns of equal length."""

    second: list[int]
    """Seconds since the load began; 2 is the second from 2 s to 3 s."""
    good: list[int]
    """Right answers that ended in each second."""
    app_cpu_s: list[Figure]
    """CPU time of the application, interpolated between samples."""
    steal_share: list[Figure]
    role_cpu_s: dict[str, list[Figure]] = Field(default_factory=dict)
    """Role -> its CPU time, the application's among them. Empty in records of before they were kept."""
    app_memory_bytes: list[int] = Field(default_factory=list)
    """Memory (as `memory_peak_bytes`) at the end of each second; empty in records of before it was kept."""
