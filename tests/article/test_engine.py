"""The page's model in JavaScript, in a real browser, against the model in torch with the same stored weights."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from selenium.webdriver import Chrome

from stages.article.models import restored, stored
from stages.article.page import HTML
from stages.asking.generation import generate
from stages.corpus.example import MASK
from stages.corpus.text import Vocabulary
from stages.model.gpt import GPT
from tests.support.browser import driver_fixture, needs_browser, visit  # noqa: F401
from tests.support.tiny import MODEL, SETTINGS, loud, tiny_model

CHARACTERS = "□⁇\n ?abcdefghijklmnopqrstuvwxyzéł"
TEXTS = ["where was ada born?⁇", "é", "ł a⁇b", "x" * MODEL.context, " \n".join("abcdefgh")]


@pytest.fixture(scope="module", name="page")
def page_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = tmp_path_factory.mktemp("engine") / "index.html"
    script = (HTML / "engine.js").read_text(encoding="utf-8")
    page.write_text(f'<meta charset="utf-8"><script>{script}</script>', encoding="utf-8")
    return page


def pair(variant: str) -> tuple[GPT, dict[str, object]]:
    """A model with the stored weights, in torch and for the page."""
    model = loud(tiny_model(variant, len(CHARACTERS)))
    tensors = stored(model.state_dict())
    model.load_state_dict(restored(tensors))
    shape = MODEL.model_dump(include={"layers", "heads", "width", "context"})
    theta = SETTINGS.variants["rope"]["theta"] if variant == "rope" else None
    return model, {"shape": shape, "theta": theta, "tensors": tensors}


def numbers(text: str) -> np.ndarray:
    return np.array([CHARACTERS.index(character) for character in text])


@needs_browser
@pytest.mark.parametrize("variant", ["rope", "vanilla"])
def test_logits_and_answers_are_those_of_torch(driver: Chrome, page: Path, variant: str) -> None:
    model, shown = pair(variant)
    visit(driver, page)
    logits = driver.execute_script(
        """const model = new Model(JSON.parse(arguments[0]));
        return arguments[2].map((text) => {
          const cache = model.emptyCache();
          return encoded(text, arguments[1]).map((number) => [...model.read(number, cache)]);
        });""",
        json.dumps(shown), CHARACTERS, TEXTS,
    )  # fmt: skip
    for text, computed in zip(TEXTS, logits, strict=True):
        expected = model(torch.from_numpy(numbers(text))[None])[0].detach().numpy()  # (T, V)
        assert expected.std() > 0.3  # far from all alike: 1e-3 tells
        assert np.abs(np.array(computed) - expected).max() < 1e-3
    answers = driver.execute_script(
        "const model = new Model(JSON.parse(arguments[0]));"
        "return arguments[2].map((text) => answer(model, arguments[1], text, 20));",
        json.dumps(shown), CHARACTERS, TEXTS,
    )  # fmt: skip
    for answer, expected in zip(answers, generate(model, [numbers(text) for text in TEXTS], 20), strict=True):
        assert answer == "".join(CHARACTERS[number] for number in expected.tokens if number != MASK)


@needs_browser
def test_texts_are_encoded_as_by_the_vocabulary(driver: Chrome, page: Path) -> None:
    visit(driver, page)
    texts = ["O’Brien", "O'Brien", "Zoe\u0301", "Zoé À ﬁn…", "e\u0300", "漢 ☃", ""]
    for characters in ("□⁇\n 'ABOZbefinorté", "□⁇\n ’ABOZbefinort\u0301."):
        script = "return arguments[1].map((text) => encoded(text, arguments[0]));"
        expected = [Vocabulary(tuple(characters)).encode(text).tolist() for text in texts]
        assert driver.execute_script(script, characters, texts) == expected
