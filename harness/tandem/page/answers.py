"""The three sentences that a reader sees first. Pure."""

from dataclasses import dataclass

from tandem.analysis.ratios import NO_WINNER
from tandem.page.pairs import COST, RATE, ModelPair, Question
from tandem.wording import ratio_with_interval

LANGUAGES = {"cpp": "C++", "python": "Python", "rust": "Rust", "node": "Node.js", "go": "Go", "java": "Java"}
LEADS: dict[Question, tuple[str, str]] = {
    "cost": ("Cost", "CPU time of the application per request, async against sync"),
    "application-bound": (
        "Application-bound",
        "Right answers per second where the application's own CPU is the limit, async against sync",
    ),
    "waiting-bound": (
        "Waiting-bound",
        "Right answers per second where waiting is the limit (threads, connections, delays), async against sync",
    ),
}
MISSING: dict[Question, str] = {
    "cost": "No result has the CPU time of both a sync and an async implementation of one language.",
    "application-bound": "No result has a pair that the application itself limited.",
    "waiting-bound": "No result has a pair that waiting limited.",
}
REMEDY: dict[Question, str] = {
    "cost": "just compare python-sync python-async",
    "application-bound": "just compare rust-sync rust-async --scenario index",
    "waiting-bound": "just compare python-sync python-async --db-rtt 15ms",
}


ALIKE = f"the same within {NO_WINNER - 1:.0%}"
"""Of a pair whose interval leaves no larger difference."""


@dataclass(frozen=True)
class ToldPair:
    """What one language says to a question."""

    language: str
    ratio: str
    word: str
    decided: bool
    condition: str
    slug: str


@dataclass(frozen=True)
class ToldAnswer:
    """One question."""

    question: Question
    name: str
    asks: str
    sentence: str
    told: list[ToldPair]
    remedy: str


def language(name: str) -> str:
    """For people."""
    return LANGUAGES.get(name, name.capitalize())


def answer(question: Question, found: list[ModelPair]) -> ToldAnswer:
    """What the best evidence of each language says."""
    name, asks = LEADS[question]
    told = [_told(pair) for pair in found]
    return ToldAnswer(
        question, name, asks, _sentence(question, found), told, "" if found else REMEDY[question]
    )


def _word(pair: ModelPair) -> str:
    if not pair.decided:
        return ALIKE if pair.alike else "not decided"
    more = (pair.ratio.ratio or 0) > 1
    if pair.question == "cost":
        return "async costs more" if more else "async costs less"
    return "async answers more" if more else "async answers fewer"


def _told(pair: ModelPair) -> ToldPair:
    figure = COST if pair.question == "cost" else RATE
    unit = " µs" if figure == COST else "/s"
    sides = " to ".join(
        f"{line.figures[figure].mean:,.0f}{unit} ({line.label})" for line in (pair.sync, pair.other)
    )
    at_least = "at least " if pair.at_least else ""
    return ToldPair(
        language=language(pair.language),
        ratio=at_least + ratio_with_interval(pair.ratio.ratio, pair.ratio.interval),
        word=_word(pair),
        decided=pair.decided,
        condition=f"{sides}, {pair.told}, {pair.ratio.n} blocks",
        slug=pair.slug,
    )


BEGIN: dict[Question, str] = {
    "cost": "Compared with sync, the CPU time of async for one request is",
    "application-bound": "Where the application is the limit, the goodput of async, compared with sync, is",
    "waiting-bound": "Where waiting is the limit, the goodput of async, compared with sync, is",
}


def _in(pair: ModelPair) -> str:
    at_least = "at least " if pair.at_least else ""
    ratio = ratio_with_interval(pair.ratio.ratio, pair.ratio.interval)
    return f"{at_least}{ratio} in {language(pair.language)} ({pair.sync.scenario})"


def _sentence(question: Question, found: list[ModelPair]) -> str:
    """One sentence: what differs, what does not, then what is not decided."""
    if not found:
        return MISSING[question]
    groups = {
        "": [_in(pair) for pair in found if pair.decided],
        f"{ALIKE}: ": [_in(pair) for pair in found if pair.alike],
        "not decided: ": [_in(pair) for pair in found if not pair.decided and not pair.alike],
    }
    told = [lead + listed(parts) for lead, parts in groups.items() if parts]
    if told[0].startswith("not decided"):
        begin = BEGIN[question][0].lower() + BEGIN[question][1:]
        return f"Nothing is decided: {begin} {told[0].removeprefix('not decided: ')}."
    return f"{BEGIN[question]} {'; '.join(told)}."


def listed(parts: list[str]) -> str:
    """a, b and c."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
