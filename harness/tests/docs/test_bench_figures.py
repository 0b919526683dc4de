"""The figures of benches in the documents, from the committed records."""

import pytest
from harness_places import ROOT

from documents import bench
from documents.records import Records

RECORDS = Records(ROOT)


def test_only_a_rate_that_the_application_limited_is_ranked() -> None:
    own = RECORDS.questions().conclusions.application_bound
    assert {*own.values()} == {True, False}, "else this shows nothing"
    for label, limited in own.items():
        name = label.partition(" @ ")[0]
        if limited:
            assert bench.application_bound(RECORDS, name).startswith(("× ", "1"))
        else:
            with pytest.raises(ValueError, match="was limited by"):
                bench.application_bound(RECORDS, name)
