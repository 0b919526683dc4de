"""What a log of psrecord says. Pure."""


def peaks(log: str) -> tuple[float, int] | None:
    """The most CPU in percent of a core within a second, and the most resident memory in bytes, both summed over the
    processes, from a log as it was. None where it has no line."""
    lines = [line.split() for line in log.splitlines() if line and not line.startswith("#")]
    rows = [[float(value) for value in line[:3]] for line in lines if len(line) >= 3]
    if not rows:
        return None
    return max(row[1] for row in rows), round(max(row[2] for row in rows) * 2**20)
