"""Are captured answers right for their requests? Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tandem.catalog.golden import Answers, Created, Sums
from tandem.catalog.scenario import EARLY_MS, Scenario
from tandem.probes.exchanges import Broken, Exchange

KEPT = 3


@dataclass
class ComparedAnswers:
    """Outcome of comparing answers."""

    begun: int = 0
    compared: int = 0
    wrong: list[str] = field(default_factory=list)
    pauses_s: list[float] = field(default_factory=list)
    """The longest time within each compared answer, from one packet to the next."""
    of_class: list[int] = field(default_factory=list)
    """`compared`, by class of a mix."""


class Comparison:
    """Comparison of the answers to one class of requests with the right ones."""

    def __init__(self, scenario: Scenario, answers: Answers) -> None:
        self._scenario, self._answers = scenario, answers
        self._path = re.compile(re.escape(scenario.path).replace(re.escape("{id}"), "([0-9]+)"))
        self._of_path = {scenario.path_of(key): key for key in scenario.values}
        self._made = set[bytes]()

    def compare(self, exchanges: Iterable[Exchange | Broken | None]) -> ComparedAnswers:
        """Compare exchanges; those that are not of the scenario's own requests are left out."""
        out = ComparedAnswers()
        for exchange in exchanges:
            if exchange is None:
                out.begun += 1
                continue
            own, key = self._asked(exchange.target)
            if not own or (isinstance(exchange, Exchange) and exchange.method != self._scenario.method):
                continue
            out.begun += 1
            if isinstance(exchange, Broken):
                out.compared += 1
                out.wrong.append(f"{exchange.target}: {exchange.text}")
            elif isinstance(self._answers, Sums) and not self._answers.knows(exchange.sent):
                continue  # too little was captured of what it carried
            elif exchange.status == self._scenario.status:
                # Of another status every row tells already, and the disturbed host that may be its reason.
                out.compared += 1
                out.pauses_s.append(exchange.pause_s)
                if wrong := self._wrong(exchange, key):
                    out.wrong.append(f"{exchange.method} {exchange.target}: {wrong}")
        return out

    def _asked(self, target: str) -> tuple[bool, int | str | None]:
        """Whether a path is one of the scenario's, and what stands for {id} in it."""
        if self._of_path:
            return target in self._of_path, self._of_path.get(target)
        asked = self._path.fullmatch(target)
        return asked is not None, int(asked[1]) if asked and asked.groups() else None

    def _wrong(self, exchange: Exchange, key: int | str | None) -> str | None:
        media_type = exchange.headers.get("content-type", "").partition(";")[0].strip().lower()
        if self._answers.media_type not in (None, media_type):
            return f"of type {media_type!r}, not {self._answers.media_type!r}"
        if exchange.behind:
            return f"{exchange.behind} bytes after its end"
        if exchange.took_s is not None and exchange.took_s * 1e3 < self._scenario.delay_ms - EARLY_MS:
            return f"answered after {exchange.took_s * 1e3:.1f} ms, not {self._scenario.delay_ms} ms"
        if isinstance(self._answers, Created):
            if exchange.body in self._made:
                return f"{exchange.body[:60]!r} was returned before"
            self._made.add(exchange.body)
        return self._answers.difference(exchange.body, key, exchange.sent)


def compare_all(classes: Sequence[Comparison], found: Iterable[Exchange | Broken | None]) -> ComparedAnswers:
    """Compare exchanges, each with the class that it is of. Whose a request without an answer is, is not known."""
    every = list(found)
    each = [one.compare(of for of in every if of is not None) for one in classes]
    return ComparedAnswers(
        begun=every.count(None) + sum(one.begun for one in each),
        compared=sum(one.compared for one in each),
        wrong=[text for one in each for text in one.wrong],
        of_class=[one.compared for one in each],
        pauses_s=[pause_s for one in each for pause_s in one.pauses_s],
    )
