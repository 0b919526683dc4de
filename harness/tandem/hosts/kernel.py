"""Parsers of the kernel's files and of psutil's figures. Pure."""

import re
from collections.abc import Mapping

from tandem.hosts.host import HostCpu


def host_cpu(times: Mapping[str, float]) -> HostCpu:
    """The counters of psutil.cpu_times() that the harness tells apart. A guest's time, which is there too, is in the user time
    already. https://docs.kernel.org/filesystems/proc.html, 1.7"""
    busy = times["user"] + times["nice"] + times["system"]
    idle, irq, softirq = times["idle"], times["irq"], times["softirq"]
    total = busy + idle + times["iowait"] + irq + softirq + times["steal"]
    return HostCpu(busy, irq + softirq, times["steal"], total)


def parse_swapped(vmstat: str) -> int | None:
    """Pages swapped in and out since boot, from /proc/vmstat; None where the kernel counts none."""
    fields = dict(line.split() for line in vmstat.splitlines())
    if "pswpin" not in fields or "pswpout" not in fields:
        return None
    return int(fields["pswpin"]) + int(fields["pswpout"])


def parse_listen_overflows(netstat: str) -> int | None:
    """TcpExt's ListenOverflows, from /proc/PID/net/netstat, which has pairs of lines: names, values."""
    lines = [line.split() for line in netstat.splitlines() if line.startswith("TcpExt:")]
    if len(lines) != 2 or "ListenOverflows" not in lines[0]:
        return None
    return int(lines[1][lines[0].index("ListenOverflows")])


def count_established(table: bytes, *, local_port: int | None = None, remote_port: int | None = None) -> int:
    """Established connections in /proc/PID/net/tcp or tcp6, by the port of either end; None: any."""
    ours, theirs = (b"[0-9A-F]{4}" if port is None else b"%04X" % port for port in (local_port, remote_port))
    return len(re.findall(rb"[0-9A-F]:%b [0-9A-F]+:%b 01 " % (ours, theirs), table))


def kernel_parameters(command_line: str | None) -> str | None:
    """The kernel's own part of its command line: without words that name or follow the first process."""
    if command_line is None:
        return None
    words = command_line.partition(" -- ")[0].split()
    return " ".join(word for word in words if not word.startswith(("init=", "rdinit=")))
