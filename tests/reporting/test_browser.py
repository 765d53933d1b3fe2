"""The page in a real browser, opened from a file as its reader would."""

from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from tests.support.browser import driver_fixture, needs_browser, requests, visit  # noqa: F401
from tests.support.example import reported, write_baseline, write_variant
from tests.support.tiny import ROOT

pytestmark = needs_browser


@pytest.fixture(scope="module", name="page")
def page_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """index.html of two variants and two seeds."""
    base = tmp_path_factory.mktemp("study")
    write_baseline(base / "evaluations")
    for name, number in {"rope": 5, "vanilla": 10}.items():
        marks = [1] * number + [0] * (10 - number)
        write_variant(base / "evaluations", name, ([0] * 10,) * 2, (marks,) * 2)
    return reported(base / "evaluations", "rope", "vanilla") / "index.html"


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("committed", [False, True])
def test_it_opens_from_a_file_without_errors_or_a_network_and_is_no_wider_than_its_window(
    driver: Chrome, page: Path, committed: bool, width: int
) -> None:
    page = ROOT / "reports/quick/compared/index.html" if committed else page
    visit(driver, page, width)
    assert driver.get_log("browser") == []
    urls = requests(driver)
    assert page.as_uri() in urls  # the log is awake
    assert all(url.startswith(("file:", "data:")) for url in urls)
    assert len(driver.find_elements(By.CSS_SELECTOR, "figure img")) == len(list(page.parent.glob("*.svg")))
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width


def test_on_a_phone_contents_fold_and_what_is_wide_scrolls(driver: Chrome, page: Path) -> None:
    visit(driver, page, 390)
    contents = driver.find_element(By.ID, "contents--list")
    assert contents.get_attribute("open") is None
    contents.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
    assert contents.get_attribute("open") is not None
    box = driver.find_element(By.CSS_SELECTOR, ".scroll[tabindex]:has(> table)")
    edge = box.get_property("clientLeft") + box.get_property("clientWidth") + box.location["x"]
    heads = box.find_elements(By.CSS_SELECTOR, "tr:first-child > th")
    ends = [head.rect["x"] + head.rect["width"] for head in heads]
    assert min(abs(end - edge) for end in ends) < 4  # a whole column is the last that is seen
    box.send_keys(Keys.ARROW_RIGHT)
    WebDriverWait(driver, 10).until(lambda _: driver.execute_script("return arguments[0].scrollLeft", box) > 0)


def test_the_contents_mark_the_section_that_is_read_below_its_subheadings_too(driver: Chrome) -> None:
    visit(driver, ROOT / "reports/method/index.html")
    marked = "return document.querySelector('.contents [aria-current]')?.textContent"
    for head in driver.find_elements(By.CSS_SELECTOR, "main h3"):
        driver.execute_script("arguments[0].scrollIntoView(); window.dispatchEvent(new Event('scroll'))", head)
        section = head.find_element(By.XPATH, "preceding::h2[1]").text
        WebDriverWait(driver, 10).until(lambda page, section=section: page.execute_script(marked) == section)
