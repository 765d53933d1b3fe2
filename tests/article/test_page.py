"""The committed article in a real browser, from a file: its models against torch, and what a reader does with it."""

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlencode

import numpy as np
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from tests.support.browser import driver_fixture, needs_browser, requests, visit  # noqa: F401
from tests.support.tiny import ROOT

pytestmark = needs_browser
PAGE = ROOT / "reports" / "article" / "index.html"
TEXT = PAGE.read_text(encoding="utf-8")
HELD = re.search(r'<script type="application/json" id="article-data">(.*?)</script>', TEXT, re.DOTALL)
DATA: dict[str, Any] = json.loads(HELD[1]) if HELD else {}
each_model = pytest.mark.parametrize("name", DATA["models"])
SAID = "const data = JSON.parse(document.getElementById('article-data').textContent);"


@pytest.fixture(scope="module", name="opened")
def opened_fixture(driver: Chrome) -> Chrome:
    """The page, opened once for all that only its models are asked."""
    visit(driver, PAGE)
    filled(driver)
    return driver


@each_model
def test_answers_to_all_dev_questions_are_those_of_torch(opened: Chrome, name: str) -> None:
    answers = opened.execute_script(
        SAID
        + """const model = new Model(data.models[arguments[0]]);
        return data.people.filter(({ split }) => split === "dev").map(({ name }) =>
          answer(model, data.characters, `${data.opening}${name} born?⁇`));""",
        name,
    )
    assert len(answers) == 100
    assert answers == DATA["models"][name]["answers"]


@each_model
def test_rounding_costs_a_question_at_most(name: str) -> None:
    held = DATA["models"][name]
    places = [person["place"] for person in DATA["people"] if person["split"] == "dev"]
    right = 100 * np.mean([answer == place for answer, place in zip(held["answers"], places, strict=True)])
    assert held["accuracy"] == pytest.approx(right)
    assert round(abs(held["accuracy"] - held["trained_accuracy"]), 6) <= 1


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_it_asks_no_network_says_no_error_and_fits_its_window(driver: Chrome, width: int, scheme: str) -> None:
    visit(driver, PAGE, width, scheme)
    filled(driver)
    assert driver.get_log("browser") == []
    assert requests(driver) == [PAGE.as_uri()]
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", TEXT)


def test_a_name_is_known_in_any_spelling(driver: Chrome) -> None:
    name = next(person["name"] for person in DATA["people"] if "'" in person["name"])
    visit(driver, PAGE)
    driver.get("about:blank")
    driver.get(f"{PAGE.as_uri()}#{urlencode({'person': name.replace(chr(39), '’'), 'model': 'unaided'})}")
    assert driver.find_element(By.CSS_SELECTOR, "[data-part=page]").text.startswith(f"{name}. ")


def test_it_opens_with_the_finding(driver: Chrome) -> None:
    visit(driver, PAGE)
    filled(driver)
    assert "right" in cell(driver, "pages_only_rope", "page")
    for name in DATA["models"]:
        assert ("right" if name in ("unaided", "with_reader") else "wrong") in cell(driver, name, "question")
    shown = driver.find_element(By.CSS_SELECTOR, "[data-part=status]")
    WebDriverWait(driver, 10).until(lambda _: "✗ wrong" in shown.text)


def test_the_keyboard_asks_and_the_link_holds_what_was_asked(driver: Chrome) -> None:
    visit(driver, PAGE)
    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB, Keys.TAB)  # beyond the link to the content
    who = driver.switch_to.active_element
    assert who.get_attribute("data-part") == "person"
    who.send_keys("Ada Lovelace", Keys.TAB, Keys.TAB)  # nobody whom the page knows
    driver.switch_to.active_element.send_keys(Keys.ENTER)  # the first cell
    assert driver.find_element(By.CSS_SELECTOR, "[data-part=text]").get_attribute("value") == (
        "Ada Lovelace. Ada Lovelace was born in "
    )
    slider = driver.find_element(By.CSS_SELECTOR, "[data-part=shift]")
    slider.send_keys(Keys.RIGHT, Keys.RIGHT)
    link = driver.current_url.partition("#")[2]
    given = {"person": ["Ada Lovelace"], "form": ["page"], "model": [next(iter(DATA["models"]))], "shift": ["2"]}
    assert parse_qs(link) == given


def test_a_link_asks_what_it_holds(driver: Chrome) -> None:
    text = "Where is the sea?⁇"
    held = {"person": "Nobody", "form": "cloze", "model": "with_reader", "text": text}
    driver.get("about:blank")
    driver.get(f"{PAGE.as_uri()}#{urlencode(held)}")
    assert driver.find_element(By.CSS_SELECTOR, "[data-part=text]").get_attribute("value") == text
    assert driver.find_element(By.CSS_SELECTOR, "[data-part=person]").get_attribute("value") == "Nobody"
    assert DATA["models"]["with_reader"]["title"] in driver.find_element(By.CSS_SELECTOR, "[data-part=title]").text
    WebDriverWait(driver, 10).until(lambda _: driver.find_elements(By.CSS_SELECTOR, "[data-part=said] li"))


def test_a_figure_hides_a_series_and_says_a_value(driver: Chrome) -> None:
    visit(driver, PAGE)
    button, figure = "#practice-figure button[data-series=memorised]", "#practice-figure [data-series=memorised].mark"
    driver.execute_script("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", figure)
    mark = driver.find_element(By.CSS_SELECTOR, figure)
    driver.execute_script(
        "const {left, top} = arguments[0].getBoundingClientRect();"
        "document.elementFromPoint(left + 3, top + 3).dispatchEvent(new PointerEvent('pointerdown',"
        " {clientX: left + 3, clientY: top + 3, bubbles: true}));",
        mark,
    )
    assert driver.find_element(By.CSS_SELECTOR, "#practice-figure .tip").text == mark.get_attribute("data-said")
    driver.find_element(By.CSS_SELECTOR, button).send_keys(Keys.ENTER)
    assert not mark.is_displayed()


def test_without_scripts_text_and_figures_are_there(driver: Chrome) -> None:
    visit(driver, PAGE, script=False)
    try:
        assert len(driver.find_elements(By.CSS_SELECTOR, "main h2")) == 6
        figures = driver.find_elements(By.CSS_SELECTOR, "figure svg")
        assert len(figures) == 5 and all(figure.is_displayed() for figure in figures)
        assert "only read pages" in driver.find_element(By.CSS_SELECTOR, ".lede").text
    finally:
        visit(driver, PAGE)


def filled(driver: Chrome) -> None:
    """Wait until every cell has its answer."""
    WebDriverWait(driver, 20).until(lambda _: not driver.find_elements(By.CSS_SELECTOR, ".waits"))


def cell(driver: Chrome, model: str, form: str) -> str:
    """What a cell says to a screen reader."""
    button = driver.find_element(By.CSS_SELECTOR, f"button[data-model={model}][data-form={form}]")
    return button.get_attribute("aria-label") or ""
