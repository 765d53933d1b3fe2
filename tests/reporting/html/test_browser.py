"""The page in a real browser, opened from a file as its reader would."""

import json
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

from stages.reporting.folder import write_report
from tests.reporting.html.test_index import predictions, render
from tests.support.browser import driver_fixture, needs_browser, visit  # noqa: F401
from tests.support.example import SHOWN, write_baseline, write_variant
from tests.support.tiny import ROOT

pytestmark = needs_browser
PERSON = '<img src=x onerror=alert(1)> </script> "Zoë\'s" \u202eאבג e\u0301 {}'


@pytest.fixture(scope="module", name="page")
def page_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """index.html of two variants and two seeds, whose people's names are hostile."""
    base = tmp_path_factory.mktemp("study")
    write_baseline(base / "evaluations")
    right = {"<b>rope": 5, "vanilla": 10}
    for name, number in right.items():
        marks = [1] * number + [0] * (10 - number)
        write_variant(base / "evaluations", name, ([0] * 10,) * 2, (marks,) * 2, person=PERSON)
    write_report(base / "evaluations", base / "report", "quick", "compared", [*right], settings=SHOWN)
    return base / "report" / "index.html"


def part(driver: Chrome, name: str) -> WebElement:
    return driver.find_element(By.ID, f"answers--{name}")


def wait_for_count(driver: Chrome, start: str) -> None:
    WebDriverWait(driver, 20).until(lambda _: part(driver, "count").text.startswith(start), f"never {start}")


def column(driver: Chrome, name: str) -> list[str]:
    """What the shown rows have in a column."""
    found: list[str] = driver.execute_script(
        "return [...document.querySelectorAll('#answers--rows td')]"
        ".filter((cell) => cell.dataset.label === arguments[0]).map((cell) => cell.textContent)",
        name,
    )
    return found


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("committed", [False, True])
def test_it_opens_from_a_file_without_errors_or_a_network_and_is_no_wider_than_its_window(
    driver: Chrome, page: Path, committed: bool, width: int
) -> None:
    page = ROOT / "reports/quick/compared/index.html" if committed else page
    visit(driver, page, width)
    assert driver.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [each["params"]["request"]["url"] for each in messages if each["method"] == "Network.requestWillBeSent"]
    assert page.as_uri() in asked  # the log is awake
    assert all(url.startswith(("file:", "data:")) for url in asked)
    assert len(driver.find_elements(By.CSS_SELECTOR, "figure svg")) == len(list(page.parent.glob("*.svg")))
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width


def test_search_and_filters(driver: Chrome, page: Path) -> None:
    visit(driver, page)
    wait_for_count(driver, "80 of 80 answers, 30 of them right (37.5 %)")
    Select(part(driver, "init")).select_by_visible_text("pretrained")
    wait_for_count(driver, "40 of 80 answers, 30 of them right")
    Select(part(driver, "correct")).select_by_visible_text("wrong")
    wait_for_count(driver, "10 of 80 answers, 0 of them right")
    assert set(column(driver, "variant")) == {"<b>rope"}
    driver.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    part(driver, "query").send_keys("zoe")  # without the diaeresis
    wait_for_count(driver, "80 of 80")
    part(driver, "query").clear()
    part(driver, "query").send_keys("OSLO")  # the gold place of row 10 and nobody else's
    wait_for_count(driver, "8 of 80")
    assert set(column(driver, "row")) == {"10"}


def test_the_keyboard_reaches_everything(driver: Chrome, page: Path) -> None:
    visit(driver, page)
    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    assert driver.switch_to.active_element.text == "Skip to the content"
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    seen: list[str | None] = []
    while "answers--next" not in seen and len(seen) < 60:
        driver.switch_to.active_element.send_keys(Keys.TAB)
        active = driver.switch_to.active_element
        seen.append(active.get_attribute("id") or active.text)
        if active.text == "correct":
            active.send_keys(Keys.ENTER)
            assert set(column(driver, "correct")[:30]) == {"✓ right"}
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert part(driver, "page").text == "page 2 of 2"
    assert driver.switch_to.active_element.get_attribute("id") == "answers--next"  # focus is not lost
    assert {"answers--query", "answers--variant", "answers--seed", "correct", "probability"} <= set(seen)


def test_a_large_study_is_sorted_and_searched_and_hides_what_it_must(driver: Chrome, tmp_path: Path) -> None:
    given = predictions([f"variant_{number}" for number in range(14)], seeds=3, questions=500)
    (tmp_path / "index.html").write_text(render(given, show_questions=False), encoding="utf-8")
    visit(driver, tmp_path / "index.html")
    wait_for_count(driver, "42,000 of 42,000")
    assert column(driver, "question") == column(driver, "gold") == []
    assert column(driver, "predicted")[2] == "not shown"
    driver.find_element(By.XPATH, "//tr[@id='answers--head']/th/button[.='probability']").click()
    highest = [float(each) for each in column(driver, "probability")]  # the surest come first
    assert highest[0] == pytest.approx(500 / 501, abs=1e-4)
    assert highest == sorted(highest, reverse=True)
    part(driver, "query").send_keys("nowhere 17 variant")
    wait_for_count(driver, "84 of 42,000")


def test_it_is_dark_where_asked_and_paper_is_light_without_controls(driver: Chrome, page: Path) -> None:
    visit(driver, page, scheme="dark")
    style = "const style = getComputedStyle(document.body); return [style.backgroundColor, style.color]"
    assert driver.execute_script(style)[0] == "rgb(21, 24, 28)"
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert driver.execute_script(style)[1] == "rgb(34, 34, 34)"
    assert not part(driver, "explorer").is_displayed()


def test_on_a_phone_contents_fold_what_is_wide_scrolls_and_a_note_stands_in_for_javascript(
    driver: Chrome, page: Path
) -> None:
    visit(driver, page, 390)
    contents = driver.find_element(By.ID, "contents--list")
    assert contents.get_attribute("open") is None
    contents.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
    assert contents.get_attribute("open") is not None
    box = driver.find_element(By.CSS_SELECTOR, ".scroll[tabindex]:has(> table)")
    edge = box.get_property("clientLeft") + box.get_property("clientWidth") + box.location["x"]
    ends = [cell.rect["x"] + cell.rect["width"] for cell in box.find_elements(By.CSS_SELECTOR, "tr:first-child > th")]
    assert min(abs(end - edge) for end in ends) < 4  # a whole column is the last that is seen
    box.send_keys(Keys.ARROW_RIGHT)
    WebDriverWait(driver, 10).until(lambda _: driver.execute_script("return arguments[0].scrollLeft", box) > 0)
    visit(driver, page, script=False)
    assert "predictions.tsv" in driver.find_element(By.TAG_NAME, "noscript").text
    assert not part(driver, "explorer").is_displayed()
