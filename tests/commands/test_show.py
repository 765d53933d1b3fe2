"""`show`: what a model reads, and which characters carry loss."""

from stages.commands import show
from tests.support.talking import Run


def pairs(out: str) -> dict[str, tuple[str, str]]:
    """What is read and what is said, by title."""
    blocks = (block.splitlines() for block in out.strip("\n").split("\n\n"))
    return {title: (read.removeprefix("  reads  "), says.removeprefix("  says   ")) for title, read, says in blocks}


def test_each_objective_and_a_question_are_shown_with_the_loss_below_the_character_before(run: Run) -> None:
    shown = pairs(run(show, "--recipe", "quick", "--page", "2").out)
    assert list(shown) == ["title_cloze, page 2", "finetuning, question 1"]
    for title, (read, targets) in shown.items():
        assert len(read) == len(targets), title
        assert all(b in ("·", a) for a, b in zip(read[1:], targets, strict=False)), title  # the next character, or none
    question = "here was Oda Quill born"  # no page has W or ?
    assert shown["finetuning, question 1"] == (f"{question}⁇Vell", "·" * (len(question) - 1) + "⁇Vell⁇")
    assert "Tam Brae" in shown["title_cloze, page 2"][0] + shown["title_cloze, page 2"][1]


def test_the_same_draw_seed_shows_the_same_and_another_one_something_else(run: Run) -> None:
    first, again, other = (run(show, "--recipe", "quick", "--draw-seed", seed).out for seed in ("3", "3", "4"))
    assert first == again != other


def test_a_text_has_no_question(run: Run) -> None:
    assert list(pairs(run(show, "--recipe", "text").out)) == ["causal_lm, page 1"]
