"""tandem.lab.stack: what an interruption may not tear apart."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tandem.lab.stack import Stack, to_its_end


@pytest.fixture
def interruption() -> Iterator[None]:
    """After a tenth of a second, as Ctrl-C does it: to the main thread, wherever it is."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    timer = threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGUSR1])
    timer.start()
    yield
    timer.join()
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize(("through", "whole"), [(to_its_end, True), (lambda call: call(), False)])
@pytest.mark.usefixtures("interruption")
def test_an_interruption_waits_for_what_has_begun(
    through: Callable[[Callable[[], None]], None], whole: bool
) -> None:
    """The second is the control: called as it is, it ends in its midst."""
    created = []

    def start() -> None:
        for number in range(4):
            time.sleep(0.1)
            created.append(number)

    with pytest.raises(KeyboardInterrupt):
        through(start)
    assert (len(created) == 4) is whole


def test_the_log_has_the_last_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An application says on SIGTERM why it ends badly: the log is read after that, and before it is removed."""
    done: list[str] = []

    def logs(tail: int) -> str:
        done.append("logs")
        return "began\nended badly"

    container = SimpleNamespace(
        state=SimpleNamespace(running=True, exit_code=3),
        stop=lambda time: done.append("stop"),
        reload=lambda: None,
        logs=logs,
        remove=lambda **_: done.append("remove"),
    )
    monkeypatch.setattr(Stack, "_find", lambda *_: container)
    stack = Stack(tmp_path, "project", {}, tmp_path / "env")
    assert stack.stop("app", grace_s=1, log=tmp_path / "app.log") == 3
    assert done == ["stop", "logs", "remove"]
    assert (tmp_path / "app.log").read_text() == "began\nended badly\n"


def test_what_is_returned_and_raised_passes_through() -> None:
    assert to_its_end(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        to_its_end(lambda: 1 // 0)
