"""tandem.studies.registry: what is read, what is refused, and the schema of all of it."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from harness_engine import made_trial
from harness_page import UNCOMMITTED, uncommitted
from harness_places import ROOT, result_alone

from tandem.engine.study import Study
from tandem.errors import TandemError
from tandem.record.store import PACKED, RESULT
from tandem.report.markdown import of_result
from tandem.studies.registry import STUDIES, json_schema, read_folder, read_result

REFERENCE = ROOT / "results/reference"


def result_file(folder: Path, **changes: Any) -> Path:
    """A result whose trials nobody kept."""
    told = {**result_alone(REFERENCE), **changes}
    file = folder / RESULT
    file.write_text(json.dumps({name: value for name, value in told.items() if value is not None}))
    return file


def test_a_study_has_at_most_eight_members() -> None:
    members = {name for name in (*vars(Study), *Study.__annotations__) if not name.startswith("_")}
    assert members == {*["name", "kind", "variants", "outline", "plan", "windows", "conclude", "report"]}


def test_a_result_alone_has_no_trials(tmp_path: Path) -> None:
    kind, result, trials = read_folder(result_file(tmp_path))
    assert (kind.name, trials) == ("bench", [])
    assert result == read_folder(tmp_path)[1]
    assert kind.report(result), "what does not need them is told"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"schema_version": 2}, "schema version 2 is not known; this Tandem reads 3"),
        ({"schema_version": 4}, "schema version 4 is not known; this Tandem reads 3"),
        ({"schema_version": None}, "schema version None is not known"),
        ({"request": None}, "the record cannot be read: KeyError('request')"),
        ({"request": {"study": "bensh"}}, "the study 'bensh' is not known; the studies are "),
        ({"conclusions": {"contexts": 3}}, "conclusions -> contexts: Input should be a valid array"),
        ({"surprise": 1}, "surprise: Extra inputs are not permitted"),
    ],
)
def test_a_result_that_cannot_be_read_is_named(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    file = result_file(tmp_path, **changes)
    with pytest.raises(TandemError) as error:
        read_result(file)
    assert str(error.value).startswith(f"{file}: ")
    assert told in str(error.value)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"3", b"\xff\xfe\x00", b"# Tandem"])
def test_a_file_that_is_no_result_is_named(tmp_path: Path, text: bytes) -> None:
    (tmp_path / RESULT).write_bytes(text)
    with pytest.raises(TandemError, match=r"result\.json: the record cannot be read"):
        read_folder(tmp_path)


def test_a_trial_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    result_file(tmp_path)
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
    result_file(tmp_path)
    with pytest.raises(TandemError, match=rf"{PACKED}: the trials cannot be read: .* names None"):
        read_folder(tmp_path)


@pytest.mark.parametrize("name", ["", "none"])
def test_a_folder_without_a_result(tmp_path: Path, name: str) -> None:
    with pytest.raises(TandemError, match="holds no finished study"):
        read_folder(tmp_path / name)


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
