"""tandem.report.forest and tandem.page.statements: what the sessions of a statement look like."""

import math
import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import altair
import pytest
from harness_page import CHANGED, keep_nights, page_and_data
from harness_places import ROOT
from harness_sessions import MILAN, XEON, program, session

from tandem.analysis.change import LEARNED, LIMIT
from tandem.catalog.catalog import Catalog
from tandem.catalog.pins import pins_of
from tandem.facts.session import SessionControl, SessionRecord, append, read_sessions
from tandem.facts.statement import (
    Known,
    StatedAnswers,
    draws,
    every_statement,
    hit_rate,
    key_now,
    known,
    read_statements,
)
from tandem.history.night import Program
from tandem.page import nights, plots, site, statements
from tandem.report.forest import HUES, SHAPES, ForestRow, cpu_names, domain, forest, rows, small_multiples
from tandem.report.picture import COLOURS, printable

CATALOG, ASKED = Catalog(ROOT), read_statements(ROOT)
APP = "app_cpu_us_per_request"


def together(made: list[SessionRecord]) -> tuple[list[ForestRow], Known]:
    found = draws(made, key_now(ASKED, CATALOG, APP, "falcon-async", "falcon-sync"))
    summary = known(found)
    assert summary is not None
    return rows(found, cpu_names(made)), summary


FAILED = SessionControl(contrasts=[], failed=[APP])
MADE = [
    session(0),
    session(1, XEON, 1.3),
    session(2, ratio=1.42),
    session(3, ratio=1.44, control=FAILED),
    session(4, XEON, 1.31),
]


# ---- the plot ----


def test_a_line_for_each_session_those_of_a_cpu_model_together() -> None:
    lines, _ = together(MADE)
    assert [line["CPU model"] for line in lines] == ["AMD EPYC"] * 3 + ["Xeon"] * 2
    assert lines[0]["session"] == "AMD EPYC, 2026-11-26 12:00"
    assert (lines[0]["low"], lines[0]["high"]) == (pytest.approx(1.372), pytest.approx(1.428))
    # Colour is not the only mark.
    for mark in ("hue", "_shape", "CPU model"):
        assert len({line[mark] for line in lines}) == 2
    assert [line["control"] for line in lines] == ["none", "none", "failed", "none", "none"]


def test_lines_are_told_apart() -> None:
    """Two generations of one name, sessions of the same minute, and more CPU models than colours, which share the last."""
    newer = session(1, MILAN.model_copy(update={"cpu_model_number": "17"}))
    names = cpu_names([session(0), newer])
    assert "model 17" in names[newer.id]
    assert len({*names.values()}) == 2
    twins = [session(0), session(0, MILAN.model_copy(update={"cpus": 8}), 1.5)]
    assert len({line["session"] for line in together(twins)[0]}) == 2
    many = [session(n, MILAN.model_copy(update={"cpu_model": f"CPU {n}"})) for n in range(len(HUES) + 2)]
    assert [line["hue"] for line in together(many)[0]][-2:] == [HUES[-1]] * 2


def test_the_axis_has_1_and_all_sessions_and_not_what_two_sessions_expect() -> None:
    lines, summary = together(MADE[:2])
    least, most = domain(lines, [summary])
    assert summary.expected is not None
    assert least < 1
    assert 1.428 < most < summary.expected[1]
    lines, summary = together(MADE)
    assert summary.expected is not None
    assert domain(lines, [summary])[1] > summary.expected[1]


def test_the_plot_is_vega_lite_and_a_failed_control_is_hollow() -> None:
    lines, summary = together(MADE)
    spec = forest(lines, summary)
    altair.Chart.from_dict(printable(spec), validate=True)
    of = {layer["mark"]["type"]: layer for layer in spec["layer"]}
    assert of["point"]["encoding"]["fill"]["condition"]["test"] == "datum.control === 'failed'"
    [band] = of["rect"]["data"]["values"]
    assert (band["low"], band["high"]) == pytest.approx(summary.expected)
    marks = [layer["mark"]["type"] for layer in spec["layer"]]
    assert marks.count("point") == marks.count("rect") == 1
    alone = [layer["mark"]["type"] for layer in forest(*together(MADE[:1]))["layer"]]
    assert (alone.count("point"), alone.count("rect")) == (1, 0), "one session has no band"


def test_small_multiples_leave_no_variable_of_the_page() -> None:
    panel = (("a", "b"), *together(MADE))
    spec = printable(small_multiples([[panel, None], [None, None]]))
    altair.VConcatChart.from_dict(spec, validate=True)
    assert "--" not in re.sub(r"\s", "", str(spec))
    label = {"color": "--ink", "variant": "shop:my--tag"}
    assert printable(label) == {**label, "color": COLOURS["--ink"]}, "the name of an image stays"
    assert len(spec["vconcat"]) == 1
    assert {*COLOURS} >= {*HUES}
    assert len(SHAPES) == len(HUES)


# ---- the page ----


def test_each_main_statement_has_its_sentence_and_badge_or_what_to_run() -> None:
    made = statements.section(MADE, ASKED, CATALOG)
    assert len(made.main) == len(ASKED.statement)
    [figure], [one], [conditions] = made.figures, made.answers.answers, made.conditions.values()
    assert figure.title == "The application's CPU per request: falcon-async by falcon-sync"
    assert re.fullmatch(
        r"The application's CPU per request of falcon-async is × 1.36 that of falcon-sync; in the next session on such a machine"
        r" it is expected within .* \(5 sessions, 2 CPU models, 1 with a failed control\)\.",
        figure.says,
    )
    assert (one.name, one.finding, one.known.sessions) == ("falcon-app", True, 5)
    assert (one.sentence, one.conditions) == (figure.says, conditions)
    assert "topology full" in conditions
    assert "Xeon (family 6, model 207, stepping 2): × 1.30 in 2" in conditions
    of, told = statements.badge(one)
    assert of == "the application's CPU per request, falcon-async by falcon-sync"
    assert re.fullmatch(
        r"× 1\.36 \(\d\.\d\d to \d\.\d\d\), 5 sessions, 2 CPU models, 1 with a failed control", told
    )
    [early] = statements.section(MADE[:4], ASKED, CATALOG).answers.answers
    assert not early.finding
    for text in (early.sentence.removesuffix(")."), statements.badge(early)[1]):
        assert text.endswith("4 sessions, 2 CPU models, 1 with a failed control: no finding")


def test_later_sessions_are_held_against_what_was_expected() -> None:
    """The first two of a statement had nothing to be held against; one that lies far away was not foreseen."""

    def rate(*ratios: float) -> tuple[int, int]:
        made = [session(number, ratio=one) for number, one in enumerate(ratios)]
        found = hit_rate(every_statement(made).values())
        return found.predicted, found.inside

    assert rate(1.4, 1.42) == (0, 0)
    assert rate(1.4, 1.42, 1.41, 1.4) == (2, 2)
    assert rate(1.4, 1.42, 1.41, 2.8) == (2, 1)


@pytest.mark.parametrize(("version", "older"), [("4.3.9", True), (None, False)])
def test_a_statement_says_that_what_it_rests_on_is_older(version: str | None, older: bool) -> None:
    now = pins_of(ROOT, "falcon-async")
    pins = {**now, "falcon": version or now["falcon"]}
    programs = {name: program(name, pins=pins) for name in ("falcon-async", "falcon-sync")}
    newest = session(len(MADE), ratio=1.4, programs=programs)
    made = statements.section([*MADE, newest], ASKED, CATALOG)
    [one] = made.answers.answers
    told = [f"falcon {version}, now {now['falcon']}"] if older else []
    assert one.older == told
    assert ("Measured on older versions: falcon 4.3.9" in one.conditions) is older
    assert ("measured on older versions" in statements.badge(one)[1]) is older


def test_further_statements_need_two_sessions() -> None:
    further = [session(number, scenario="index", ratio=1.6) for number in (6, 7)]
    assert statements.section([*MADE, further[0]], ASKED, CATALOG).further.rows == []
    [row] = statements.section([*MADE, *further], ASKED, CATALOG).further.rows
    assert row[1].startswith("scenario index")
    assert row[2:] == ["× 1.60", "1.60 to 1.60", "2 sessions, one CPU model: no finding"]


def test_the_first_page_has_the_statements_right_after_the_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With five sessions and a damaged one."""
    for record in MADE:
        append(record, tmp_path)
    (tmp_path / "sessions/20260101T000000Z-broken.json").write_text("{")
    monkeypatch.setattr(site, "read_sessions", lambda _: read_sessions(tmp_path))
    site.build([ROOT / "results/questions"], tmp_path / "site", ROOT, print)
    page = (tmp_path / "site/index.html").read_text()
    assert page.index('id="answer"') < page.index('id="statements"') < page.index('id="why"')
    section = unescape(page[page.index('id="statements"') : page.index('id="why"')])
    assert section.count("<figure") == 1
    assert "Figures as a table" in section
    assert "no session yet. <code>just session</code>" in section
    assert '"statement-falcon-app":{' in page
    stated = StatedAnswers.model_validate_json((tmp_path / "site/answers.json").read_text())
    assert f"{stated.hit_rate.inside} of 3 ratios of later sessions" in section
    [told] = stated.answers
    assert f'id="{told.address.partition("#")[2]}"' in page
    badge = ElementTree.fromstring((tmp_path / f"site/badges/{told.name}.svg").read_text())
    assert "× 1.36" in "".join(badge.itertext())
    assert "20260101T000000Z-broken.json" in page


# ---- the nightly series, their alarms, and what came new under the programs ----


@pytest.fixture
def history(tmp_path: Path) -> Path:
    keep_nights(tmp_path / "results/history/machine")
    return tmp_path / "results"


def test_a_step_passes_the_limit_and_is_marked(
    history: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a long history the newest nights are drawn."""
    found, _ = nights.read_nights([history], tmp_path)
    rows = nights.rows(found)
    alarms = [row for row in rows if row["alarm"] and row["panel"] == nights.CUSUM]
    assert alarms
    assert all(row["line"] == "upwards" and row["value"] > LIMIT for row in alarms)
    assert CHANGED < min(row["night"] for row in alarms) < CHANGED + 5
    ratios = [row["value"] for row in rows if row["line"] == "today's image"]
    assert len(ratios) == 100
    assert sum(ratios[CHANGED:]) / 40 == pytest.approx(math.exp(0.05), rel=0.01)
    assert min(row["night"] for row in rows if row["panel"] == nights.CUSUM) == LEARNED + 1
    monkeypatch.setattr(nights, "ROWS_MOST", 0)
    assert {row["night"] for row in nights.rows(found)} == set(range(41, 101))


def test_what_came_under_the_programs_is_drawn(history: Path, tmp_path: Path) -> None:
    """As a line at its night, with its words, and the first image as a third line."""
    found, _ = nights.read_nights([history], tmp_path)
    assert {row["event"] for row in nights.rows(found)} == {None}
    for number, night in enumerate(found.nights):
        night.kernel = "6.2" if number >= 70 else "6.1"
        night.first_images = {"node": Program(tag="oldest")} if number >= 50 else {}
        if number >= 50:
            night.points.append(night.points[0].model_copy(update={"line": "first", "value": 0.1}))
    rows = nights.rows(found)
    assert {row["night"] for row in rows if row["event"]} == {71}
    assert {row["event"] for row in rows} == {None, "kernel 6.1 -> 6.2"}
    assert {row["panel"] for row in rows if row["event"]} == {nights.RATIO, nights.CUSUM}
    first = [row["value"] for row in rows if row["line"] == "today's image by the first"]
    assert first == [pytest.approx(math.exp(0.1))] * 50
    altair.Chart.from_dict({**plots.history(), "data": {"values": rows}}, validate=True)


def test_the_history_is_on_the_page_and_a_night_that_cannot_be_read_is_named(
    history: Path, root: Path, tmp_path: Path
) -> None:
    broken = history / "history/machine/nights/20260701T000000Z.json"
    broken.write_text("{")
    built = site.build([history], tmp_path / "site", root, print)
    assert [Path(one.name).name for one in built.broken] == [broken.name]
    assert broken.is_file()
    text, data = page_and_data(tmp_path / "site/index.html")
    assert broken.name in text
    assert "Sync or async? 0 results" in text, "a history is no result"
    assert data["sets"]["history"]["length"] == 100 * 2 + 60 * 2
    assert "machine (a CPU)" in data["conditions"]["nightly machine"]
