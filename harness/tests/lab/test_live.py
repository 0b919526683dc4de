"""tandem.lab.live on a pseudo-terminal and elsewhere, under the real engine with a fake laboratory."""

import io
import os
import pty
import re
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from harness_engine import FakeLab, made_trial, request, session
from rich.console import Console

from tandem.catalog.catalog import Catalog
from tandem.cli import measure, options
from tandem.engine.run import run
from tandem.hosts.host import HostCpu, Usage
from tandem.lab.live import LiveView, View, make_view
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
        name: Usage(cores * at_s, 0.0, 1) for name, cores in (("app", 0.8), ("db", 0.4), ("loadgen", 0.05))
    }
    answered = ProxyCounters(int(1000 * at_s), 0, 0, 0, 0, 0)
    return Sample(at_s, usage, HostCpu(0, 0, 0, 1), None, None, proxies={"one": answered})


def shown(view: LiveView) -> str:
    """What the view shows at this moment."""
    to = io.StringIO()
    Console(file=to, width=WIDTH).print(view.render())
    return to.getvalue()


def stopped(**options: Any) -> tuple[LiveView, io.StringIO]:
    """A view that renders where it is asked to, and what it writes above itself."""
    to = io.StringIO()
    view = LiveView(Console(file=to, width=WIDTH, color_system=None, **options))
    view.close()
    return view, to


def test_a_terminal_has_the_live_view(real: Catalog, tmp_path: Path) -> None:
    lab = FakeLab(verdicts={1: Verdict.VOID})
    seen = in_a_terminal(lambda console: measured(real, tmp_path, console, lab))
    for told in (r"study +.* min left", r"made +closed: \S+ +1,000/s, p99 ", r"trials: .*\d void"):
        assert re.search(told, seen)
    assert "last: visit 1 was odd" in seen
    assert max(map(len, seen.splitlines())) <= WIDTH


def test_the_view_tells_what_the_sampler_saw() -> None:
    view, _ = stopped(force_terminal=True)
    view.expected(600)
    view.trial("block 2: rust-async")
    view.phase("open: rust-async, 500/s", 20)
    view.offered(500)
    view.sample(sample(1.0), sample(2.0))
    made = made_trial().windows[1]
    [window] = made.windows.values()
    long = made.model_copy(update={"windows": {"a very long name of a variant " * 4: window}})
    few = window.model_copy(
        update={"response_time_ms": window.service_time_ms.model_copy(update={"p99": None})}
    )
    for record in (made, long, WindowRecord(spec=made.spec, windows={"one": few})):
        view.measured(record)
    text = shown(view)
    for told in (
        *("block 2: rust-async", "about 10 min left", r"20 s left +open: rust-async, 500/s"),
        *(r"offered +500/s", r"achieved +1,000/s", r"app 0.80 +db 0.40 +loadgen 0.05"),
        "p99 needs 10,000 answers",
    ):
        assert re.search(told, text), told
    assert max(map(len, text.splitlines())) <= WIDTH


def test_the_title_of_a_trial_stands_once() -> None:
    view, above = stopped()
    view.trial("block 2: rust-async")
    assert (shown(view).count("block 2"), above.getvalue().count("block 2")) == (1, 0), "it heads the view"
    view.note("  1,000/s, ok")
    view.note("  2,000/s, ok")
    assert (shown(view).count("block 2"), above.getvalue().count("block 2")) == (0, 1), (
        "above what is told of it"
    )


def test_elsewhere_there_are_plain_lines(real: Catalog, tmp_path: Path) -> None:
    to = io.StringIO()
    measured(real, tmp_path, Console(file=to, width=WIDTH))
    text = to.getvalue()
    assert "block 1: " in text
    assert "  1,000/s, ok" in text
    assert "\x1b" not in text
    assert "findings:" not in text


def test_quiet_says_nothing_and_beside_json_there_are_lines(
    monkeypatch: pytest.MonkeyPatch, real: Catalog, tmp_path: Path
) -> None:
    def kinds(console: Console) -> None:
        monkeypatch.setattr(measure, "progress", console)
        assert type(measure.view_for(as_json=True)) is View
        live = measure.view_for(as_json=False)
        live.close()
        assert type(live) is LiveView

    def quiet(console: Console) -> None:
        monkeypatch.setattr(measure, "progress", console)
        monkeypatch.setattr(options, "progress", console)
        options.be_quiet(True)
        view = measure.view_for(as_json=False)
        assert type(view) is View
        run(Bench, request("rust-async"), session(real, tmp_path, FakeLab(), view))
        view.close()

    in_a_terminal(kinds)
    assert in_a_terminal(quiet) == ""
