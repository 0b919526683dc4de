"""tandem.lab.live on a pseudo-terminal and elsewhere, under the real engine with a fake laboratory."""

import io
import os
import pty
import re
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from harness_engine import FakeLab, made_trial, request, session
from rich.console import Console

from tandem.catalog.catalog import Catalog
from tandem.cli import measure, options
from tandem.engine.run import run
from tandem.hosts.host import HostCpu, Usage
from tandem.lab.live import Lines, LiveView, make_view
from tandem.probes.haproxy import ProxyCounters
from tandem.probes.sampler import Sample
from tandem.record.trial import WindowRecord
from tandem.record.window import Verdict
from tandem.studies.bench.study import Bench

WIDTH = 100
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def in_a_terminal(work: Callable[[Console], None]) -> str:
    """What a person sees who runs this in a terminal of 100 columns, all frames one after the other."""
    ours, theirs = pty.openpty()
    seen: list[bytes] = []

    def read() -> None:
        try:
            while chunk := os.read(ours, 65536):
                seen.append(chunk)
        except OSError:  # the other side is closed
            return

    reading = Thread(target=read)
    reading.start()
    with os.fdopen(theirs, "w") as stream:
        console = Console(file=stream, width=WIDTH, height=40, color_system=None)
        assert console.is_terminal
        work(console)
    reading.join()
    os.close(ours)
    return ESCAPES.sub("", b"".join(seen).decode()).replace("\r", "\n")


def measured(real: Catalog, results: Path, console: Console, lab: FakeLab | None = None) -> None:
    view = make_view(console)
    try:
        run(Bench, request("rust-async", "python-sync"), session(real, results, lab or FakeLab(), view))
    finally:
        view.close()


def sample(at_s: float) -> Sample:
    usage = {
        "app": Usage(0.8 * at_s, 0.0, 1),
        "db": Usage(0.4 * at_s, 0.0, 1),
        "loadgen": Usage(0.05 * at_s, 0.0, 1),
    }
    proxies = {
        "one": ProxyCounters(
            **{**dict.fromkeys(ProxyCounters.__dataclass_fields__, 0), "responses_2xx": int(1000 * at_s)}
        )
    }
    return Sample(at_s, usage, HostCpu(0, 0, 0, 1), None, None, proxies=proxies)


def test_a_terminal_has_the_live_view(real: Catalog, tmp_path: Path) -> None:
    lab = FakeLab(verdicts={1: Verdict.VOID})
    seen = in_a_terminal(lambda console: measured(real, tmp_path, console, lab))
    assert re.search(r"study +.* min left", seen)
    assert re.search(r"made +closed: \S+ +1,000/s, p99 ", seen)
    assert re.search(r"trials: .*\d void", seen)
    assert "last: visit 1 was odd" in seen
    assert max(map(len, seen.splitlines())) <= WIDTH


def test_the_view_tells_what_the_sampler_saw() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=WIDTH, color_system=None)
    view = LiveView(console)
    view.close()
    view.expected(600)
    view.trial("block 2: rust-async")
    view.phase("open: rust-async, 500/s", 20)
    view.offered(500)
    view.sample(sample(1.0), sample(2.0))
    made = made_trial().windows[1]
    long = made.model_copy(
        update={"windows": dict.fromkeys(["a very long name of a variant " * 4], *made.windows.values())}
    )
    few = next(iter(made.windows.values()))
    few = few.model_copy(update={"response_time_ms": few.service_time_ms.model_copy(update={"p99": None})})
    for record in (made, long, WindowRecord(spec=made.spec, windows={"one": few})):
        view.measured(record)
    shown = Console(file=io.StringIO(), width=WIDTH)
    shown.print(view.render())
    text = shown.file.getvalue()  # type: ignore[attr-defined]
    assert "block 2: rust-async" in text
    assert "about 10 min left" in text
    assert re.search(r"20 s left +open: rust-async, 500/s", text)
    assert re.search(r"offered +500/s", text)
    assert re.search(r"achieved +1,000/s", text)
    assert re.search(r"app 0.80 +db 0.40 +loadgen 0.05", text)
    assert "p99 needs 10,000 answers" in text
    assert max(map(len, text.splitlines())) <= WIDTH


def test_the_title_of_a_trial_stands_once() -> None:
    console = Console(file=io.StringIO(), width=WIDTH)
    view = LiveView(console)
    view.close()

    def told() -> str:
        console.print(view.render())
        return str(console.file.getvalue())  # type: ignore[attr-defined]

    view.trial("block 2: rust-async")
    assert told().count("block 2: rust-async") == 1, "it heads the view"
    shown = Console(file=io.StringIO(), width=WIDTH)
    view.note("  1,000/s, ok")
    shown.print(view.render())
    assert "block 2" not in shown.file.getvalue()  # type: ignore[attr-defined]
    view.note("  2,000/s, ok")
    assert told().count("block 2: rust-async") == 2, "from here on it stands above what is told of it"


def test_elsewhere_there_are_plain_lines(real: Catalog, tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=WIDTH)
    measured(real, tmp_path, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b" not in text
    assert "block 1: " in text
    assert "  1,000/s, ok" in text
    assert "findings:" not in text


def test_quiet_says_nothing(monkeypatch: pytest.MonkeyPatch, real: Catalog, tmp_path: Path) -> None:
    def work(console: Console) -> None:
        monkeypatch.setattr(measure, "progress", console)
        monkeypatch.setattr(options, "progress", console)
        options.be_quiet(True)
        view = measure.view_for(as_json=False)
        assert type(view) is Lines
        run(Bench, request("rust-async"), session(real, tmp_path, FakeLab(), view))
        view.close()

    assert in_a_terminal(work) == ""


def test_beside_json_there_are_lines_even_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(console: Console) -> None:
        monkeypatch.setattr(measure, "progress", console)
        assert type(measure.view_for(as_json=True)) is Lines
        live = measure.view_for(as_json=False)
        live.close()
        assert type(live) is LiveView

    in_a_terminal(work)
