"""Blocks of one study on several labs at the same time. Each further lab has a process of its own, which takes whole blocks from
the last one on, while the study's own process goes through them from the first one on.

They share the journal alone. A block is of the lab whose claim was there first, so a study goes on after an interruption, and
after the loss of a lab, as it does with one: what the journal does not have is made.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tandem.engine.journal import Journal
from tandem.engine.stand_ins import is_look
from tandem.record.trial import Trial, TrialSpec

LAB = "lab"
"""Among a trial's facts, where a study has several: the lab that it was made in."""
LOOK_S = 0.2

Make = Callable[[TrialSpec], Trial]


class Helper(Protocol):
    """A process that makes blocks on a further lab."""

    @property
    def alive(self) -> bool: ...

    def end(self) -> None:
        """Ends it, if it is still there: whatever it makes now is not needed. Returns once its containers are removed."""


def own(block: Sequence[TrialSpec]) -> list[TrialSpec]:
    """The study's own trials of a block. Looks at the ceilings are made where the study's own process is."""
    return [spec for spec in block if not is_look(spec)]


def make_from_the_last(outline: Sequence[Sequence[TrialSpec]], lab: str, journal: Journal, make: Make) -> int:
    """What a further lab's process does: makes the blocks that nobody has begun. Returns how many."""
    made = 0
    for block in reversed(outline):
        if not any(journal.find(spec) for spec in own(block)) and journal.claim(block[0], lab):
            for spec in own(block):
                make(spec)
            made += 1
    return made


class Shared:
    """What the study's own process asks before each block. helpers: by their lab."""

    def __init__(
        self, lab: str, journal: Journal, helpers: Mapping[str, Helper], note: Callable[[str], None]
    ) -> None:
        self._lab, self._journal, self._helpers, self._note = lab, journal, helpers, note

    def before(self, block: Sequence[TrialSpec]) -> None:
        """Returns once what is missing of a block is this process's to make: at once where it has the block, else when
        another lab has made it, or is lost. A block of which a lab was lost is made as a whole."""
        if not self._journal.claim(block[0], self._lab):
            other = self._journal.claimed_by(block[0])
            while self._missing(block) and self._alive(other):
                time.sleep(LOOK_S)
            if self._missing(block) and other != self._lab:
                self._note(f"lab {other} was lost: block {block[0].block} is measured in lab {self._lab}")
        if self._missing(block):
            for spec in own(block):
                found = self._journal.find(spec)
                if found is not None and found.facts.get(LAB) != self._lab:
                    self._journal.set_aside(spec)

    def _alive(self, lab: str) -> bool:
        helper = self._helpers.get(lab)
        return helper is not None and helper.alive

    def _missing(self, block: Sequence[TrialSpec]) -> bool:
        return any(self._journal.find(spec) is None for spec in own(block))


def by_lab(trials: Sequence[Trial]) -> dict[str, int]:
    """How many trials each lab made; empty where there was one."""
    found: dict[str, int] = {}
    for trial in trials:
        if lab := trial.facts.get(LAB):
            found[str(lab)] = found.get(str(lab), 0) + 1
    return found
