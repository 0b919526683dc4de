"""The three questions that a reader sees first: their sentences, and the rows of their pictures. Pure."""

from dataclasses import dataclass
from typing import Any

from tandem.analysis.ratios import NO_WINNER
from tandem.page.data import PageRow
from tandem.page.pairs import COST, RATE, ModelPair, Question
from tandem.page.rows import UNDECIDED, hue
from tandem.wording import ratio_with_interval

LANGUAGES = {"cpp": "C++", "python": "Python", "rust": "Rust", "node": "Node.js", "go": "Go", "java": "Java"}
ALIKE = f"the same within {NO_WINNER - 1:.0%}"
"""Word for a pair whose interval leaves no larger difference."""
OPEN = "not decided"


@dataclass(frozen=True)
class QuestionWords:
    """How a question is asked and answered."""

    asks: str
    begin: str
    """Beginning of the sentence that answers the question."""
    missing: str
    """The sentence without any result."""
    remedy: str
    """What to run where no result answers."""


WORDS: dict[Question, QuestionWords] = {
    "cost": QuestionWords(
        "CPU time of the application per request, async against sync",
        "Compared with sync, the CPU time of async for one request is",
        "No result has the CPU time of both a sync and an async implementation of one language.",
        "just compare python-sync python-async",
    ),
    "application-bound": QuestionWords(
        "Right answers per second where the application's own CPU is the limit, async against sync",
        "Where the application is the limit, the goodput of async, compared with sync, is",
        "No result has a pair that the application itself limited.",
        "just compare rust-sync rust-async --scenario index",
    ),
    "waiting-bound": QuestionWords(
        "Right answers per second where waiting is the limit (threads, connections, delays), async against sync",
        "Where waiting is the limit, the goodput of async, compared with sync, is",
        "No result has a pair that waiting limited.",
        "just compare python-sync python-async --db-rtt 15ms",
    ),
}


def language(name: str) -> str:
    """Name of a language for people."""
    return LANGUAGES.get(name, name.capitalize())


def answer(question: Question, found: list[ModelPair]) -> dict[str, Any]:
    """A question with its sentence, and what the best evidence of each language says."""
    languages = [_of_language(pair) for pair in found]
    sentence = _sentence(WORDS[question], found)
    return {"question": question, "words": WORDS[question], "sentence": sentence, "languages": languages}


def _ratio(pair: ModelPair) -> str:
    at_least = "at least " if pair.at_least else ""
    return at_least + ratio_with_interval(pair.ratio.ratio, pair.ratio.interval)


def _undecided(pair: ModelPair) -> str:
    """Word for a pair that is not decided; empty for one that is."""
    return "" if pair.decided else ALIKE if pair.alike else OPEN


def _of_language(pair: ModelPair) -> dict[str, Any]:
    is_cost, is_more = pair.question == "cost", pair.ratio.ratio > 1
    more, less = ("costs more", "costs less") if is_cost else ("answers more", "answers fewer")
    figure, unit = (COST, " µs") if is_cost else (RATE, "/s")
    sides = " to ".join(
        f"{line.figures[figure].mean:,.0f}{unit} ({line.label})" for line in (pair.sync, pair.other)
    )
    return {
        "language": language(pair.language),
        "ratio": _ratio(pair),
        "word": _undecided(pair) or f"async {more if is_more else less}",
        "decided": pair.decided,
        "condition": f"{sides}, {pair.where}, {pair.ratio.blocks} blocks",
        "slug": pair.slug,
    }


def _sentence(words: QuestionWords, found: list[ModelPair]) -> str:
    """One sentence: what differs, what does not, then what is not decided."""
    if not found:
        return words.missing
    groups: dict[str, list[str]] = {"": [], ALIKE: [], OPEN: []}
    for pair in found:
        groups[_undecided(pair)].append(f"{_ratio(pair)} in {language(pair.language)} ({pair.sync.scenario})")
    if len(groups[OPEN]) == len(found):
        return f"Nothing is decided: {words.begin[0].lower()}{words.begin[1:]} {listed(groups[OPEN])}."
    told = [f"{lead}: {listed(of)}".removeprefix(": ") for lead, of in groups.items() if of]
    return f"{words.begin} {'; '.join(told)}."


def listed(parts: list[str]) -> str:
    """Parts as words: a, b and c."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def bars(found: dict[Question, list[ModelPair]]) -> list[PageRow]:
    """A bar for each model of each language; sync is 1."""
    out: list[PageRow] = []
    for pair in (pair for of in found.values() for pair in of):
        same = {
            "question": pair.question,
            "language": language(pair.language),
            "hue": hue(pair.language) if pair.decided else UNDECIDED,
            "run": pair.slug,
        }
        ratio, (low, high) = pair.ratio.ratio, pair.ratio.interval
        text = f"async {'≥ ' if pair.at_least else ''}× {ratio:.2f}"
        none = {"low": None, "high": None}
        out += [
            {**same, "model": "sync", "value": 1.0, **none, "end": 1.0, "text": "sync"},
            {**same, "model": "async", "value": ratio, "low": low, "high": high, "end": high, "text": text},
        ]
    return out
