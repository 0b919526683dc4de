"""The three questions that a reader sees first: their sentences, and the rows of their pictures. Pure."""

from dataclasses import dataclass

from tandem.analysis.ratios import NO_WINNER
from tandem.page.data import PageRow
from tandem.page.pairs import COST, RATE, ModelPair, Question
from tandem.page.rows import UNDECIDED, hue
from tandem.wording import ratio_with_interval

LANGUAGES = {"cpp": "C++", "python": "Python", "rust": "Rust", "node": "Node.js", "go": "Go", "java": "Java"}
ALIKE = f"the same within {NO_WINNER - 1:.0%}"
"""Of a pair whose interval leaves no larger difference."""


@dataclass(frozen=True)
class QuestionWords:
    """How a question is asked and answered."""

    name: str
    asks: str
    begin: str
    """Of its sentence."""
    missing: str
    """The sentence without any result."""
    remedy: str
    """What to run then."""


WORDS: dict[Question, QuestionWords] = {
    "cost": QuestionWords(
        "Cost",
        "CPU time of the application per request, async against sync",
        "Compared with sync, the CPU time of async for one request is",
        "No result has the CPU time of both a sync and an async implementation of one language.",
        "just compare python-sync python-async",
    ),
    "application-bound": QuestionWords(
        "Application-bound",
        "Right answers per second where the application's own CPU is the limit, async against sync",
        "Where the application is the limit, the goodput of async, compared with sync, is",
        "No result has a pair that the application itself limited.",
        "just compare rust-sync rust-async --scenario index",
    ),
    "waiting-bound": QuestionWords(
        "Waiting-bound",
        "Right answers per second where waiting is the limit (threads, connections, delays), async against sync",
        "Where waiting is the limit, the goodput of async, compared with sync, is",
        "No result has a pair that waiting limited.",
        "just compare python-sync python-async --db-rtt 15ms",
    ),
}


@dataclass(frozen=True)
class LanguageAnswer:
    """What the best evidence of one language says to a question."""

    language: str
    ratio: str
    word: str
    decided: bool
    condition: str
    slug: str


@dataclass(frozen=True)
class QuestionAnswer:
    """A question with its sentence, and what each language says."""

    question: Question
    words: QuestionWords
    sentence: str
    languages: list[LanguageAnswer]


def language(name: str) -> str:
    """For people."""
    return LANGUAGES.get(name, name.capitalize())


def answer(question: Question, found: list[ModelPair]) -> QuestionAnswer:
    """What the best evidence of each language says."""
    return QuestionAnswer(
        question, WORDS[question], _sentence(question, found), [_of_language(pair) for pair in found]
    )


def _ratio(pair: ModelPair) -> str:
    at_least = "at least " if pair.at_least else ""
    return at_least + ratio_with_interval(pair.ratio.ratio, pair.ratio.interval)


def _of_language(pair: ModelPair) -> LanguageAnswer:
    is_more = pair.ratio.ratio > 1
    if not pair.decided:
        word = ALIKE if pair.alike else "not decided"
    elif pair.question == "cost":
        word = "async costs more" if is_more else "async costs less"
    else:
        word = "async answers more" if is_more else "async answers fewer"
    figure, unit = (COST, " µs") if pair.question == "cost" else (RATE, "/s")
    sides = " to ".join(
        f"{line.figures[figure].mean:,.0f}{unit} ({line.label})" for line in (pair.sync, pair.other)
    )
    condition = f"{sides}, {pair.where}, {pair.ratio.blocks} blocks"
    return LanguageAnswer(language(pair.language), _ratio(pair), word, pair.decided, condition, pair.slug)


def _sentence(question: Question, found: list[ModelPair]) -> str:
    """One sentence: what differs, what does not, then what is not decided."""
    if not found:
        return WORDS[question].missing
    groups: dict[str, list[str]] = {"": [], f"{ALIKE}: ": [], "not decided: ": []}
    for pair in found:
        lead = "" if pair.decided else f"{ALIKE}: " if pair.alike else "not decided: "
        groups[lead].append(f"{_ratio(pair)} in {language(pair.language)} ({pair.sync.scenario})")
    told = [lead + listed(parts) for lead, parts in groups.items() if parts]
    begin = WORDS[question].begin
    if told[0].startswith("not decided"):
        return f"Nothing is decided: {begin[0].lower()}{begin[1:]} {told[0].removeprefix('not decided: ')}."
    return f"{begin} {'; '.join(told)}."


def listed(parts: list[str]) -> str:
    """a, b and c."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def bars(found: dict[Question, list[ModelPair]]) -> list[PageRow]:
    """A bar for each model of each language; sync is 1."""
    out: list[PageRow] = []
    for pair in (pair for of in found.values() for pair in of):
        ratio, interval = pair.ratio.ratio, pair.ratio.interval
        text = f"async {'≥ ' if pair.at_least else ''}× {ratio:.2f}"
        for model, value, low, high, name in (
            ("sync", 1.0, None, None, "sync"),
            ("async", ratio, *interval, text),
        ):
            out.append(
                {
                    "question": pair.question,
                    "language": language(pair.language),
                    "hue": hue(pair.language) if pair.decided else UNDECIDED,
                    "run": pair.slug,
                    "model": model,
                    "value": value,
                    "low": low,
                    "high": high,
                    "end": high or value,
                    "text": name,
                }
            )
    return out
