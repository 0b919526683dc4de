"""tandem.studies.registry: what is read, alone and in a list of many, what is refused, and the schema of all of it."""

import json
import time
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from harness_engine import as_recorded, made_trial
from harness_page import UNCOMMITTED, uncommitted
from harness_places import ROOT, result_alone
from rich.console import Console

from tandem.catalog.catalog import Catalog
from tandem.commands import report as command
from tandem.commands.report import listed, report, variants
from tandem.engine.run import conclude
from tandem.engine.stand_ins import is_look
from tandem.engine.study import Study
from tandem.errors import TandemError, UsageError
from tandem.record.store import PACKED, RESULT
from tandem.report.markdown import of_result
from tandem.studies.registry import (
    FIRST_BYTES,
    STUDIES,
    IndexEntry,
    index,
    json_schema,
    read_folder,
    read_result,
)

REFERENCE, LONG = ROOT / "results/reference", ROOT / "results/reference-experiments/file-io"


def keep(folder: Path, of: Path = REFERENCE, **changes: Any) -> Path:
    """Keeps a record as a result whose trials nobody kept. changes: of its keys; None: without that key. Returns its file."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {**result_alone(of), "id": folder.name, **changes}
    file = folder / RESULT
    file.write_text(json.dumps({name: value for name, value in told.items() if value is not None}))
    return file


def test_a_study_has_at_most_eight_members() -> None:
    members = {name for name in (*vars(Study), *Study.__annotations__) if not name.startswith("_")}
    assert members == {*["name", "kind", "variants", "outline", "plan", "windows", "conclude", "report"]}


def test_a_result_alone_has_no_trials(tmp_path: Path) -> None:
    kind, result, trials = read_folder(keep(tmp_path))
    assert (kind.name, trials) == ("bench", [])
    assert result == read_folder(tmp_path)[1]
    assert kind.report(result), "what does not need them is told"


@pytest.mark.parametrize(
    ("changes", "told", "is_listed"),
    [
        ({"schema_version": 2}, "schema version 2 is not known; this Tandem reads 3", False),
        ({"schema_version": 4}, "schema version 4 is not known; this Tandem reads 3", False),
        ({"schema_version": None}, "schema version None is not known", False),
        ({"request": None}, "the record cannot be read: KeyError('request')", False),
        ({"request": {"study": "bensh"}}, "the study 'bensh' is not known; the studies are ", False),
        ({"verdict": "fine"}, "verdict: Input should be 'ok', ", False),
        ({"conclusions": {"contexts": 3}}, "conclusions -> contexts: Input should be a valid array", True),
        ({"surprise": 1}, "surprise: Extra inputs are not permitted", True),
    ],
)
def test_a_result_that_cannot_be_read_is_named_and_the_rest_is_listed(
    tmp_path: Path, changes: dict[str, Any], told: str, is_listed: bool
) -> None:
    """A list needs the beginning of a result alone."""
    keep(tmp_path / "good")
    bad = keep(tmp_path / "bad", **changes)
    with pytest.raises(TandemError) as error:
        read_result(bad)
    assert str(error.value).startswith(f"{bad}: ")
    assert told in str(error.value)
    found = index(tmp_path)
    assert [entry.folder for entry in found.entries] == (["bad", "good"] if is_listed else ["good"])
    assert [reason.partition(": ")[0] for reason in found.unreadable] == ([] if is_listed else [str(bad)])


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"3", b"\xff\xfe\x00", b"# Tandem"])
def test_a_file_that_is_no_result_is_named(tmp_path: Path, text: bytes) -> None:
    (tmp_path / RESULT).write_bytes(text)
    with pytest.raises(TandemError, match=r"result\.json: the record cannot be read"):
        read_folder(tmp_path)


def test_a_trial_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    keep(tmp_path)
    (tmp_path / "trials").mkdir()
    (tmp_path / "trials/1.json").write_text("{")
    with pytest.raises(TandemError, match=r"trials/1\.json: the record cannot be read"):
        read_folder(tmp_path)


def test_a_committed_record_without_its_trials_is_named(tmp_path: Path) -> None:
    (tmp_path / RESULT).write_text((REFERENCE / RESULT).read_text())
    with pytest.raises(TandemError, match=rf"{PACKED}: the trials cannot be read: .*No such file"):
        read_folder(tmp_path)
    (tmp_path / PACKED).write_bytes((REFERENCE / PACKED).read_bytes())
    assert len(read_folder(tmp_path)[2]) == 43, "the control"
    keep(tmp_path)
    with pytest.raises(TandemError, match=rf"{PACKED}: the trials cannot be read: .* names None"):
        read_folder(tmp_path)


@pytest.mark.parametrize("name", ["", "none"])
def test_a_folder_without_a_result(tmp_path: Path, name: str) -> None:
    with pytest.raises(TandemError, match="holds no finished study"):
        read_folder(tmp_path / name)


# ---- a folder of many ----


def test_the_newest_is_first_and_each_tells_what_it_is(tmp_path: Path) -> None:
    keep(tmp_path / "one", started_at="2026-01-01T00:00:00Z")
    keep(tmp_path / "two", LONG, started_at="2026-01-03T00:00:00Z", verdict="void")
    keep(tmp_path / "below/three", started_at="2026-01-02T00:00:00Z")
    found = index(tmp_path)
    places = [(entry.folder, entry.verdict) for entry in found.entries]
    assert places == [("two", "void"), ("below/three", "ok"), ("one", "ok")]
    entry = found.entries[0]
    assert (entry.id, entry.study, entry.scenario) == ("two", "reproduce", "file-io")
    assert len(entry.variants) == 220
    assert entry.headline.endswith(" claims stand")
    assert (found.unreadable, found.unfinished) == ([], [])


def test_a_half_written_result_and_a_study_that_has_not_ended_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = keep(tmp_path / "good", verdict="invalid").read_text()
    half = keep(tmp_path / "half", LONG)
    half.write_text(half.read_text()[: 2 * FIRST_BYTES])
    keep(tmp_path / "brief").write_text(text[: len(text) // 2])
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun/request.json").write_text("{}")
    found = index(tmp_path)
    assert ([entry.folder for entry in found.entries], found.unfinished) == (["good"], ["begun"])
    assert ["result.json: the record cannot be read" in reason for reason in found.unreadable] == [True, True]
    monkeypatch.setattr(command, "out", Console(width=200))
    report(tmp_path)
    said = capsys.readouterr().out
    phrases = "1 results", "recipes", "invalid", "half/result.json", "begun: not finished", "rust-async 646/s"
    assert [phrase for phrase in phrases if phrase not in said] == []
    report(tmp_path, as_json=True)
    assert [entry["folder"] for entry in json.loads(capsys.readouterr().out)["entries"]] == ["good"]
    with pytest.raises(UsageError, match="--markdown: a list of results"):
        report(tmp_path, as_markdown=True)


def test_only_the_beginning_of_a_long_result_is_read(tmp_path: Path) -> None:
    """Unless its request alone is longer."""
    file = keep(tmp_path / "one", LONG)
    file.write_text(file.read_text()[: FIRST_BYTES + 10] + "what stands here is not looked at}\n")
    request = result_alone(LONG)["request"] | {"options": {"long": "x" * FIRST_BYTES}}
    keep(tmp_path / "two", LONG, request=request)
    headlines = [entry.headline for entry in index(tmp_path).entries]
    assert headlines == [result_alone(LONG)["headline"]] * 2


def test_only_the_first_variants_are_named() -> None:
    few, many = (
        IndexEntry("f", "f", "bench", list(names), "recipes", "2026-01-01", "ok", "")
        for names in ("abc", "abcde")
    )
    assert (variants(few), variants(many)) == ("a, b, c", "5: a, b, c, …")


def test_a_hundred_results_take_a_fraction_of_a_second(tmp_path: Path) -> None:
    """A tenth of what a second is for, with room for a busy machine."""
    for number in range(100):
        keep(tmp_path / f"copy-{number}", LONG)
    began = time.process_time()
    found = index(tmp_path)
    Console(width=140, quiet=True).print(listed(found))
    assert len(found.entries) == 100
    assert time.process_time() - began < 1.0


# ---- the schema ----


def test_every_study_is_in_the_schema() -> None:
    schema = json_schema()
    jsonschema_rs.meta.validate(schema)
    described = schema["$defs"].values()
    titles = {definition.get("title") for definition in described}
    assert {"a file of trials/, a line of trials.jsonl.xz", "a file of results/sessions/"} <= titles
    requests = [
        known["properties"]["request"] for known in described if "conclusions" in known.get("properties", {})
    ]
    studies = [name for request in requests for name in request["allOf"][1]["properties"]["study"]["enum"]]
    assert sorted(studies) == sorted(STUDIES)
    assert len(schema["oneOf"]) == len(requests) + 4


def test_what_is_written_is_valid_and_nothing_else() -> None:
    valid = jsonschema_rs.validator_for(json_schema())
    result = json.loads((REFERENCE / RESULT).read_text())
    _, whole, trials = read_folder(REFERENCE)
    written = [result, *(one.model_dump(mode="json") for one in (made_trial(), whole, *trials))]
    sessions = [json.loads(file.read_text()) for file in (ROOT / "results/sessions").glob("*.json")]
    assert [one for one in (*written, *sessions) if not valid.is_valid(one)] == []
    other_study = {"request": {**result["request"], "study": "compare"}}
    for wrong in ({"verdict": "fine"}, {"surprise": 1}, other_study):
        assert not valid.is_valid({**result, **wrong})
    assert not valid.is_valid({name: value for name, value in result.items() if name != "conclusions"})


def test_the_promised_names_of_the_record() -> None:
    """Others build on these; a test that has to change here breaks them."""
    result = read_folder(REFERENCE)[1].model_dump(mode="json")
    asked, found = result["request"], result["conclusions"]
    estimates, contrast = found["estimates"], found["contrasts"][0]
    assert result["schema_version"] == json.loads((REFERENCE / RESULT).read_text())["schema_version"] == 3
    for names, promised in (
        (result, "request verdict reasons findings trials baselines conclusions environments"),
        (asked, "study variants scenario conditions plan seed"),
        (estimates[0], "metric variant mean interval n limit verdict"),
        (contrast, "metric of to ratio interval n word"),
        (
            [one["metric"] for one in estimates],
            "goodput_rps app_cpu_us_per_request anonymous_memory_mib memory_rest_mib"
            " response_time_p50_ms response_time_p90_ms response_time_p99_ms",
        ),
    ):
        assert {*promised.split()} <= {*names}


# ---- for a page ----

KEPT = (
    "first-number/warm",
    "comparisons/falcon",
    "capacities/falcon-async",
    "reference-experiments/cpp-connections",
    "reference-experiments/file-io",
)


@pytest.mark.parametrize("name", [*KEPT, *UNCOMMITTED])
def test_every_result_has_tables_for_a_page(name: str) -> None:
    result = uncommitted(name) if name in UNCOMMITTED else read_folder(ROOT / "results" / name)[1]
    page = of_result(STUDIES[result.request.study].report(result), result)
    assert "| --- |" in page or "| ---: |" in page
    assert page.endswith(f"seed {result.request.seed}.")


# ---- what is committed ----

CONCLUDED = ("reference", "questions", "first-number", "capacities", "crossovers", "explanations", "starts")


@pytest.mark.parametrize("below", CONCLUDED)
def test_committed_records_follow_from_their_trials(real: Catalog, below: str) -> None:
    folders = [file.parent for file in sorted((ROOT / "results" / below).rglob(RESULT))]
    assert folders
    for folder in folders:
        kind, record, trials = read_folder(folder)
        made = [trial for trial in trials if not is_look(trial.spec)]
        today = conclude(kind(real, record.request), made, record.baselines)
        assert today.verdict is record.verdict, folder
        assert as_recorded(today.conclusions) == as_recorded(record.conclusions), folder
