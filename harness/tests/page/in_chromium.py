"""The site in Debian's Chromium, from file URLs. tests/containers/test_page_in_chromium.py runs this file in the image
that has a browser. Screenshots are kept in results/page-screenshots."""

import base64
import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_core_python.selenium import Axe
from harness_page import keep_crossover, keep_nights, keep_uncommitted
from harness_places import ROOT
from rich.console import Group
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tandem.page.site import build
from tandem.report.picture import Picture
from tandem.studies.capacity.study import Capacity

KEPT = ROOT / "results/page-screenshots"
WIDE, PHONE = (1280, 900), (390, 844)
FOLDERS = ("reference", "reference-experiments", "comparisons", "explanations")
RUN = "runs/results-reference.html"
COMPARISON = "runs/results-comparisons-python-sync.html"
EXPLANATION = "runs/results-explanations-published-python.html"
REPRODUCTION = "runs/results-reference-experiments-cpp-connections.html"
DOCUMENT = "docs/reference/comparing.html"
HOSTILE = '</script><img src=x onerror="window.pwned=1"><script>window.pwned=1</script>{{7*7}}'
Driver = Any
"""A webdriver.Chrome. The image of the other tests has no selenium."""
Open = Callable[..., Driver]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the committed results, and of what none of them is: a crossover and a nightly history."""
    out = tmp_path_factory.mktemp("site")
    kept = [ROOT / "results" / name for name in FOLDERS]
    made = tmp_path_factory.mktemp("made")
    keep_nights(made / "history/machine")
    keep_crossover(made / "crossover")
    build([*kept, made], out, ROOT, print)
    return out


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    options = webdriver.ChromeOptions()
    for flag in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "hide-scrollbars", "disable-gpu"):
        options.add_argument(f"--{flag}")
    options.binary_location = "/usr/bin/chromium"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService("/usr/bin/chromedriver")
    started: Driver = webdriver.Chrome(options=options, service=service)
    started.downloads = str(tmp_path_factory.mktemp("downloads"))
    behaviour = {"behavior": "allow", "downloadPath": started.downloads}
    started.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
    yield started
    started.quit()


@pytest.fixture
def show(driver: Driver, site: Path) -> Open:
    """Opens a page of the site, or of another, in a window of that size."""

    def opened(path: str = "index.html", size: tuple[int, int] = WIDE, of: Path = site) -> Driver:
        screen = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        driver.get("about:blank")
        driver.get_log("browser")
        driver.get(f"{of.as_uri()}/{path}")
        return driver

    return opened


def draw_all(driver: Driver) -> list[str]:
    """Draws every picture. Those that were not drawn."""
    driver.execute_script("dispatchEvent(new Event('beforeprint'))")
    left = (
        "return [...document.querySelectorAll('figure[data-figure]')]"
        ".filter(f => f.querySelector('.plot') && !f.querySelector('.plot svg')).map(f => f.id)"
    )
    try:
        WebDriverWait(driver, 30).until(lambda each: not each.execute_script(left))
    except Exception:
        return list(driver.execute_script(left))
    return []


def complaints(driver: Driver) -> list[str]:
    """What the browser or the page's code complained of; not Vega's notes on an empty panel or on sizes."""
    notes = ("Infinite extent", "because spec has discrete height")
    entries = [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    return [entry["message"] for entry in entries if not any(note in entry["message"] for note in notes)]


def keep(driver: Driver, name: str, height: int = 0) -> None:
    """A screenshot of the whole page, or of its first so many pixels."""
    KEPT.mkdir(parents=True, exist_ok=True)
    size = driver.execute_script("return [innerWidth, document.documentElement.scrollHeight]")
    clip = {"x": 0, "y": 0, "width": size[0], "height": min(height or size[1], 16000), "scale": 1}
    taken = driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
    (KEPT / f"{name}.png").write_bytes(base64.b64decode(taken["data"]))


EVERY_LOOK = [("wide", "light"), ("wide", "dark"), ("phone", "light"), ("phone", "dark")]
LOOKS = {
    "index.html": EVERY_LOOK,
    EXPLANATION: EVERY_LOOK,
    **{page: [("wide", "light"), ("phone", "dark")] for page in (RUN, COMPARISON, REPRODUCTION, DOCUMENT)},
    "docs/index.html": [("wide", "dark"), ("phone", "light")],
}
"""Page -> how it is looked at: each in both themes and at both widths, those with pictures of all kinds in all four ways."""


@pytest.mark.parametrize(
    ("page", "name", "theme"), [(page, *look) for page, looks in LOOKS.items() for look in looks]
)
def test_a_page_is_drawn_and_can_be_used_by_everybody(show: Open, page: str, name: str, theme: str) -> None:
    size = {"wide": WIDE, "phone": PHONE}[name]
    driver = show(f"{page}#theme={theme}", size)
    assert draw_all(driver) == []
    keep(driver, f"{page.removesuffix('.html').replace('/', '-')}-{name}-{theme}")
    if (page, name) == ("index.html", "wide"):
        keep(driver, f"first-{theme}", 760)  # docs/images/page-light.png is one
    assert complaints(driver) == []
    width = driver.execute_script("return document.documentElement.scrollWidth")
    assert width <= size[0], "the page is wider than the window"
    found = Axe().run(driver)["violations"]
    grave = [
        (each["id"], [node["html"][:200] for node in each["nodes"][:3]])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
    assert grave == []


@pytest.fixture(scope="session")
def others(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of studies that the site above has no record of, and a comparison, with a picture that a study adds."""
    out, made = tmp_path_factory.mktemp("others"), tmp_path_factory.mktemp("uncommitted")
    keep_uncommitted(made)
    kept = [ROOT / "results/capacities", ROOT / "results/comparisons/falcon"]
    spec = {
        "data": {"values": [{"part": "driver", "factor": 1.2}, {"part": "pool", "factor": 0.9}]},
        "mark": {"type": "bar", "color": "--lang-python"},
        "encoding": {"y": {"field": "part"}, "x": {"field": "factor", "type": "quantitative"}},
    }
    with pytest.MonkeyPatch.context() as patch:
        added = Picture("factors", "The gap in factors", "What each part does to it, and not why.", spec)
        report = Capacity.report
        patch.setattr(Capacity, "report", staticmethod(lambda result: Group(report(result), added)))
        built = build([*kept, made], out, ROOT, print)
    assert built.broken == []
    return out


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_records_of_other_studies_are_drawn(show: Open, others: Path, size: tuple[int, int]) -> None:
    driver = show("index.html#theme=light", size, of=others)
    assert draw_all(driver) == []
    keep(driver, f"others-{size[0]}")
    assert complaints(driver) == []
    assert overlapping(driver) == []
    drawn = driver.execute_script(
        "return [...document.querySelectorAll('figure[data-figure] .plot svg')].map(s => s.closest('figure').id)"
    )
    assert {"figure-load", "figure-sweep", "figure-forest"} <= {*drawn}
    assert sum(each.endswith("factors") for each in drawn) == 1
    assert driver.execute_script("return document.documentElement.scrollWidth") <= size[0]


def overlapping(driver: Driver) -> list[str]:
    """Pairs of texts within a picture that cover each other."""
    script = """
    return [...document.querySelectorAll('.plot svg')].flatMap((svg) => {
      const boxes = [...svg.querySelectorAll('text')].filter((t) => t.textContent.trim() && t.getAttribute('opacity') !== '0')
        .map((t) => [t.textContent, t.getBoundingClientRect()]);
      const out = [];
      boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
        const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
        const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
        if (wide > 2 && high > 4) out.push(`${svg.closest('figure').id}: ${a} / ${b}`);
      }));
      return out;
    });"""
    return list(driver.execute_script(script))


@pytest.mark.parametrize(
    ("page", "size"),
    [("index.html", WIDE), ("index.html", PHONE), (EXPLANATION, PHONE), (REPRODUCTION, PHONE)],
)
def test_no_text_of_a_picture_covers_another(show: Open, page: str, size: tuple[int, int]) -> None:
    driver = show(page, size)
    assert draw_all(driver) == []
    assert overlapping(driver) == []


def test_the_hash_says_what_a_reader_sees(show: Open) -> None:
    driver = show()
    driver.find_element(By.CSS_SELECTOR, '#table [data-state="q"]').send_keys("rust")
    driver.find_element(By.CSS_SELECTOR, '#lines th[data-field="goodput"] button').click()
    box = driver.find_element(By.CSS_SELECTOR, '[data-state="sweep.log.x"]')
    driver.execute_script("arguments[0].click()", box)
    driver.execute_script(
        "const s = document.querySelector('[data-state=theme]'); s.value='dark'; s.dispatchEvent(new Event('input'))"
    )
    url = driver.current_url
    seen = "return document.querySelector('#lines tbody').textContent"
    table = driver.execute_script(seen)
    assert {"q=rust", "sort=goodput", "theme=dark"} <= set(url.partition("#")[2].split("&"))
    driver.get("about:blank")
    driver.get(url)
    assert driver.execute_script(seen) == table
    assert driver.execute_script("return document.documentElement.dataset.theme") == "dark"
    assert not driver.find_element(By.CSS_SELECTOR, '[data-state="sweep.log.x"]').is_selected()
    rates = driver.execute_script(
        "return [...document.querySelectorAll('#lines tbody tr td:nth-child(5)')].map(c => parseFloat(c.textContent.replaceAll(',', '')))"
    )
    known = [rate for rate in rates if rate is not None and rate == rate]
    assert known == sorted(known)
    assert len(known) > 10


def saved(driver: Driver, figure: str, kind: str) -> Path:
    """The file that the button of a picture saves."""
    button = driver.find_element(By.CSS_SELECTOR, f'#{figure} [data-save="{kind}"]')
    driver.execute_script("arguments[0].click()", button)
    file = Path(driver.downloads) / f"{figure}.{kind}"
    WebDriverWait(driver, 20).until(lambda _: file.is_file() and file.stat().st_size > 1000)
    return file


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_saved_picture_has_its_conditions_in_it(show: Open, kind: str) -> None:
    driver = show()
    assert draw_all(driver) == []
    file = saved(driver, "figure-forest", kind)
    if kind == "svg":
        text = file.read_text()
        for told in ("Ratios with 95 % intervals", "topology", "2026-"):
            assert told in text


def test_a_picture_of_a_study_has_its_table_and_its_conditions(show: Open) -> None:
    cells = "return [...arguments[0].querySelectorAll('th')].map(c => c.textContent)"
    # The first page has the newest explanations, whichever those are.
    for page in ("index.html", EXPLANATION):
        driver = show(page)
        assert draw_all(driver) == []
        figure = driver.find_element(By.CSS_SELECTOR, '[id$="-waterfall-goodput"]')
        assert "scenario recipes" in figure.find_element(By.CSS_SELECTOR, ".conditions").text
        figure.find_element(By.CSS_SELECTOR, ".data summary").click()
        # The table is made when its drawer opens, which is an event of its own.
        headings = WebDriverWait(driver, 10).until(lambda each, of=figure: each.execute_script(cells, of))
        assert {"part", "changed", "factor", "low", "high", "first", "last"} <= {*headings}
        assert not [heading for heading in headings if heading.startswith(("_", " "))]
    assert "scenario recipes" in saved(driver, figure.get_attribute("id"), "svg").read_text()


def test_a_choice_of_one_is_no_choice(show: Open) -> None:
    driver = show(EXPLANATION)
    assert draw_all(driver) == []
    shown = driver.execute_script(
        "return [...document.querySelectorAll('select[data-column]')].map(s => [s.dataset.column, s.offsetParent !== null])"
    )
    assert dict(shown)["run"] is False
    assert dict(shown)["window"] is True


def test_the_table_is_copied(show: Open) -> None:
    driver = show("index.html#q=python-async&study=bench")
    driver.execute_script(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}})"
    )
    for kind in ("csv", "json"):
        driver.execute_script(
            "arguments[0].click()", driver.find_element(By.CSS_SELECTOR, f'[data-copy="{kind}"]')
        )
        WebDriverWait(driver, 5).until(lambda each: each.execute_script("return window.copied"))
        text = driver.execute_script("const text = window.copied; window.copied = ''; return text")
        rows = json.loads(text) if kind == "json" else text.splitlines()[1:]
        assert len(rows) == 1
        assert "python-async" in str(rows[0])


def test_prices_change_the_cost(show: Open) -> None:
    driver = show("index.html#price.app=28")
    assert draw_all(driver) == []
    read = "return document.querySelector('#figure-cost .plot').textContent"
    before = driver.execute_script(read)
    driver.execute_script(
        "const p = document.querySelector('[data-state=\"price.app\"]'); p.value = 2800; p.dispatchEvent(new Event('input'))"
    )
    WebDriverWait(driver, 10).until(lambda each: each.execute_script(read) != before)
    assert "price.app=2800" in driver.current_url


def test_documents_are_found(show: Open) -> None:
    driver = show("docs/index.html#find=sign-flip")
    links = driver.find_elements(By.CSS_SELECTOR, "#found a")
    assert any(link.get_attribute("href").endswith("/docs/reference/comparing.html") for link in links)
    links[0].click()
    assert "sign-flip" in driver.find_element(By.TAG_NAME, "main").text


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a record whose names and notes are attacks."""
    folder = tmp_path_factory.mktemp("hostile")
    shutil.copytree(ROOT / "results/reference", folder / "record", ignore=shutil.ignore_patterns("raw"))
    label = "cpp-async"
    for file in (folder / "record").rglob("*.json"):
        file.write_text(replaced(file.read_text(), label))
    (folder / "record/attack.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=1"><script>window.pwned=1</script></svg>'
    )
    out = tmp_path_factory.mktemp("hostile-site")
    built = build([folder], out, ROOT, print)
    assert (built.runs, built.broken) == (1, [])
    return out


def replaced(text: str, label: str) -> str:
    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return {changed(key): changed(each) for key, each in value.items()}
        if isinstance(value, list):
            return [changed(each) for each in value]
        return value.replace(label, HOSTILE) if isinstance(value, str) else value

    return json.dumps(changed(json.loads(text)))


def test_nothing_of_a_hostile_record_is_run(show: Open, hostile: Path) -> None:
    pages = ["index.html", *(f"runs/{file.name}" for file in (hostile / "runs").iterdir())]
    assert len(pages) == 2
    for page in pages:
        driver = show(page, of=hostile)
        assert draw_all(driver) == []
        for box in driver.find_elements(By.CSS_SELECTOR, "details"):
            driver.execute_script("arguments[0].open = true", box)
        assert driver.execute_script("return window.pwned ?? null") is None
        assert HOSTILE[:30] in driver.execute_script("return document.body.textContent")
        assert driver.execute_script("return document.querySelectorAll('img[onerror]').length") == 0


def test_the_policy_refuses_a_script_that_gets_in(show: Open) -> None:
    driver = show()
    driver.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.pwned = 1'; document.body.append(s)"
    )
    assert driver.execute_script("return window.pwned ?? null") is None
    assert any("Content Security Policy" in each for each in complaints(driver))


def test_without_results_it_says_what_to_run(show: Open, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    build([tmp_path / "results"], tmp_path / "site", ROOT, print)
    driver = show("index.html", of=tmp_path / "site")
    assert "just compare" in driver.find_element(By.TAG_NAME, "main").text
    assert complaints(driver) == []


PAPER = (794, 1123)
"""A4 at 96 dots an inch."""
DARK_THEME = """return [...document.querySelectorAll('.plot svg text')]
    .filter(t => ['#e8eaed', '#a3abb5'].includes(t.getAttribute('fill'))).length"""
"""Texts of pictures with the dark theme's --ink or --muted."""


@pytest.mark.parametrize("page", LOOKS)
def test_print_shows_every_picture_and_no_control(show: Open, page: str) -> None:
    driver = show(f"{page}#theme=dark", PAPER)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert draw_all(driver) == []
        hidden = "return [...document.querySelectorAll('header, .controls, .actions button')].every(e => e.offsetParent === null)"
        assert driver.execute_script(hidden)
        wider = """return [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
            .map(e => e.tagName + '.' + e.className + ' ' + (e.id || e.textContent.slice(0, 40))).slice(0, 5)"""
        assert driver.execute_script(wider) == [], "cut off at the paper's edge"
        ground = "return getComputedStyle(document.body).backgroundColor"
        assert driver.execute_script(ground) == "rgb(255, 255, 255)"
        ink = "return getComputedStyle(document.querySelector('main h1, main h2')).color"
        assert max(map(int, re.findall(r"\d+", driver.execute_script(ink))[:3])) < 100, "light ink on white"
        WebDriverWait(driver, 20).until(
            lambda each: each.execute_script(DARK_THEME) == 0, "light ink in a picture"
        )
        keep(driver, f"{page.removesuffix('.html').replace('/', '-')}-print")
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_the_keyboard_is_enough(show: Open) -> None:
    driver = show()
    wanted, reached = {"theme", "svg", "png", "roles.run", "percentiles.log.y"}, set[str | None]()
    for _ in range(400):
        if wanted <= reached:
            break
        driver.switch_to.active_element.send_keys("\ue004")
        active = driver.switch_to.active_element
        reached.add(
            active.get_attribute("data-state")
            or active.get_attribute("href")
            or active.get_attribute("data-save")
        )
        time.sleep(0.005)
    assert wanted <= reached
