"""Most tests of the page build a site for its results alone."""

import pytest

from tandem.page import site


@pytest.fixture(autouse=True)
def _results_alone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the documents and the drawing code, which are the same in every site and take seconds: whoever looks at them asks
    for `site`, which has them."""
    if "site" not in request.fixturenames:
        monkeypatch.setattr(site.Site, "write_documents", lambda _: None)
        monkeypatch.setattr(site, "bundle", lambda: "const vega = {};")
