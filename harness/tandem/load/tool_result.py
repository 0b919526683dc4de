"""What a tool says of its own load, where it leaves a summary and no rows."""

from tandem.record.part import Number, Part


class SocketErrors(Part):
    """wrk's own four counts."""

    connect: int
    read: int
    write: int
    timeout: int

    @property
    def total(self) -> int:
        return self.connect + self.read + self.write + self.timeout


class ToolResult(Part):
    """The figures of one load. Null: the tool does not tell."""

    requests: int
    """Requests that were answered, right or wrong."""
    failed: int
    """Answers that the tool itself holds for wrong, and requests that failed: never more is known than it tells."""
    duration_s: Number
    """Length by the tool; wrk rounds it to hundredths of its unit."""
    requests_rps: Number
    latency_mean_ms: Number | None = None
    latency_p50_ms: Number | None = None
    latency_p90_ms: Number | None = None
    latency_p99_ms: Number | None = None
    latency_max_ms: Number | None = None
    socket_errors: SocketErrors | None = None
