"""The figures of benches in the documents, from the committed records."""

from harness_places import ROOT

from documents import bench
from documents.records import Records
from tandem.studies.questions.conditions import APP_BOUND

RECORDS = Records(ROOT)


def test_the_readme_ranks_only_rates_that_the_application_limited() -> None:
    """A rate that another resource limits is told as that; the cheapest stands first."""
    result = RECORDS.questions()
    lines = bench.questions_brief(RECORDS, "15 ms, pool 20").splitlines()[2:]
    rows = {line.split("`")[1]: [cell.strip() for cell in line.split("|")[2:-1]] for line in lines}
    assert set(rows) == {variant.label for variant in result.request.variants}
    costs = [float(cells[0].split()[0].replace(",", "")) for cells in rows.values()]
    assert costs == sorted(costs)
    own = {label: result.conclusions.application_bound[f"{label} @ {APP_BOUND.name}"] for label in rows}
    assert {*own.values()} == {True, False}, "else this shows nothing"
    for label, (_, _, rate, ratio, share, _) in rows.items():
        assert rate.startswith("limited by ") is not own[label]
        assert bool(ratio) is own[label]
        assert share.endswith(" %")
