"""A page's parts: what is taken for a name and a phrase."""

from stages.corpus.page import Page, page


def phrases(document: str) -> list[str]:
    return [document[start:end] for start, end in page(document).phrases]


def test_the_heading_ends_at_the_first_full_stop_that_closes_no_initial() -> None:
    for name in ("Oda Quill", "Tam B. Brae", "J. R. Senn", "Ivo Senn Jr. Dahl", "Žofie Ark"):
        assert page(f"{name}. A painter .").heading == len(name)


def test_phrases_are_runs_of_capitalised_words_that_are_not_the_name() -> None:
    document = "Oda Quill. Oda Quill (born 3 May 1900 in New Vell, Ilm) studied in Østby's Hall ."
    assert phrases(document) == ["May", "New Vell", "Ilm", "Østby's Hall"]


def test_a_page_without_capitals_offers_each_word() -> None:
    assert phrases("Oda Quill. a painter of birds .") == ["a", "painter", "of", "birds"]


def test_a_page_without_words_has_no_phrase() -> None:
    assert page("1900.") == Page(heading=0, phrases=())
