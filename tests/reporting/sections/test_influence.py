"""The section on influence says what the matrices show, and changes with them."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file

from stages.reporting.sections.influence import influence_part
from stages.reporting.sections.influence_figure import draw_influence, draw_targets
from stages.reporting.sections.patterns import Pattern, pattern_of
from stages.reporting.sections.pictures import Seen, read_pictures
from stages.reporting.template import Part
from stages.system.errors import StudyError

T = 16
t, s = np.indices((T, T))
CAUSAL = s <= t
SETTINGS = {"bottleneck": 4, "residual": True}


def prefix(m: int, own: bool = True) -> Seen:
    """What passes a bottleneck of m."""
    return CAUSAL & ((s < m) | ((s == t) if own else False))


def write_pictures(
    folder: Path,
    variant: str,
    matrices: Sequence[Seen] = (CAUSAL,),
    settings: Sequence[dict[str, Any]] = ({},),
    held: Sequence[Seen] | None = None,
    faintest: float = 1e-3,
) -> None:
    """Write a variant's pictures, the last of them its own; all influences are of strength 0.2."""
    target = folder / variant
    target.mkdir(parents=True)
    arrays = {}
    for number, seen in enumerate(matrices):
        arrays[f"{number}.seen"] = seen
        arrays[f"{number}.held"] = seen if held is None else held[number]
        arrays[f"{number}.strength"] = np.where(seen, 0.2, 0).astype(np.float32)
    save_file(arrays, target / "influence.safetensors")
    record = {
        "variant": variant,
        "recipe": "quick",
        "shape": {"layers": 3, "heads": 4, "width": 32, "context": T},
        "pictures": [
            {"settings": each, "own": number == len(matrices) - 1, "faintest": faintest}
            for number, each in enumerate(settings)
        ],
    }
    (target / "influence.json").write_text(json.dumps(record), encoding="utf-8")


def write_targets(folder: Path, content: bool = True) -> None:
    """Ten targets at each output, and as many of masked content from output 12 on."""
    folder.mkdir(parents=True, exist_ok=True)
    counts = {"position": range(T), "targets": 10, "masked_content": [10 * (content and at >= 12) for at in range(T)]}
    pd.DataFrame(counts).to_csv(folder / "targets.tsv", sep="\t", index=False)


def section(folder: Path, *variants: str, layers: int = 3) -> Part:
    if not (folder / "targets").is_dir():
        write_targets(folder / "targets")
    part = influence_part(folder, folder / "targets", "quick", layers, variants)
    assert part is not None
    return part


def said(part: Part, name: str) -> str:
    """The sentences about a picture."""
    lines = [line for line in part.text.splitlines() if line.startswith("- ") and f"**{name}**" in line]
    return " ".join(line.partition("**: ")[2] for line in lines)


def row(part: Part, name: str) -> list[str]:
    """The picture's row of the table."""
    (line,) = [line for line in part.text.splitlines() if line.startswith(f"| {name} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize(
    ("seen", "pattern"),
    [
        (CAUSAL, Pattern("all", T, None, 0)),
        (CAUSAL & (t - s < 5), Pattern("window", 5, 5, 66)),
        (s == t, Pattern("window", 1, 1, 120)),
        (prefix(4), Pattern("first and own", 4, 4, 66)),
        (prefix(4, own=False), Pattern("first", 4, 4, 78)),
        (prefix(1, own=False), Pattern("first", 1, 1, 120)),
        (CAUSAL & ((t != 9) | (s != 2)), Pattern("other", T, 9, 1)),
        (prefix(4) & ((t != 9) | (s != 2)), Pattern("other", T, 5, 67)),
        (CAUSAL & (t - s < 5) & ((t != 9) | (s != 9)), Pattern("other", T, 5, 67)),
        (CAUSAL | (s == t + 1), Pattern("ahead", T, None, 15)),
        (prefix(4) | ((t == 3) & (s == 12)), Pattern("ahead", T, None, 1)),
        (np.zeros_like(CAUSAL), Pattern("other", T, 0, 136)),
    ],
)
def test_a_pattern_is_named_only_where_it_is_met_to_the_bit(seen: Seen, pattern: Pattern) -> None:
    assert pattern_of(seen) == pattern


def test_variants_that_lose_nothing_share_a_sentence(tmp_path: Path) -> None:
    for variant in ("nope", "rope"):
        write_pictures(tmp_path, variant)
    part = section(tmp_path, "nope", "rope")
    assert "- **nope**; **rope**: each output knows every input up to its own.\n" in part.text
    assert list(part.files) == ["influence.svg"]  # no target is concerned
    assert "targets" not in part.text


def test_sentences_change_with_the_matrices(tmp_path: Path) -> None:
    write_pictures(tmp_path, "novelty", [CAUSAL & (t - s < 5)])
    write_pictures(tmp_path, "other", [CAUSAL & ((t != 9) | (s != 2))])
    write_pictures(tmp_path, "wrong", [CAUSAL | (s == t + 1)])
    part = section(tmp_path, "novelty", "other", "wrong")
    assert said(part, "novelty") == (
        "an output knows the last 5 inputs, its own included; nothing further back has any influence. "
        "From output 5 on stand 69 % of the targets and 100 % of the masked content."
    )
    assert said(part, "other").startswith("1 of 136 pairs have no influence, the first at output 9. From output 9 on")
    assert said(part, "wrong").startswith("looks ahead: 15 pairs have influence in which the input stands after")
    assert row(part, "novelty") == ["novelty", "48.5", "5", "68.8", "100.0"]  # 66 of 136 pairs, 11 of 16 outputs
    assert row(part, "wrong") == ["wrong", "–", "–", "0.0", "0.0"]


def test_the_perceivers_loss_is_told_for_each_of_its_settings(tmp_path: Path) -> None:
    settings = [{"bottleneck": m, "residual": residual} for m in (4, 13) for residual in (False, True)]
    matrices = [prefix(4), prefix(4), prefix(13), prefix(13)]
    held = [prefix(4, own=False), prefix(4), prefix(13, own=False), prefix(13)]
    write_pictures(tmp_path, "perceiver", matrices, settings, held)
    part = section(tmp_path, "perceiver")
    assert said(part, "perceiver, bottleneck 4, residual") == (
        "output t < 4 knows the inputs up to its own, t ≥ 4 the first 4 and its own only: x_4 … x_(t−1) are lost, for "
        "the last output 11 of its 16 inputs. "
        "From output 4 on stand 75 % of the targets and 100 % of the masked content."
    )
    assert said(part, "perceiver, bottleneck 13, residual (as trained)").endswith(
        "19 % of the targets and 75 % of the masked content."
    )
    for m in (4, 13):
        alone = f"from output {m} on an output's own input has influence through the attention weights alone"
        assert alone in said(part, f"perceiver, bottleneck {m}, no residual")
        assert alone not in said(part, f"perceiver, bottleneck {m}, residual{' (as trained)' * (m == 13)}")
    assert list(part.files) == ["influence.svg", "influence_perceiver.svg", "influence_targets.svg"]
    for name, picture in part.files.items():
        assert f"]({name})" in part.text
        ElementTree.fromstring(picture)
    assert part.text.count("](") == 3


def test_without_masked_content_none_is_spoken_of(tmp_path: Path) -> None:
    write_targets(tmp_path / "targets", content=False)
    write_pictures(tmp_path, "perceiver", [prefix(4)])
    part = section(tmp_path, "perceiver")
    assert said(part, "perceiver").endswith("From output 4 on stand 75 % of the targets.")
    assert row(part, "perceiver")[-1] == "–"


def test_influences_that_float64_can_hardly_hold_are_named(tmp_path: Path) -> None:
    write_pictures(tmp_path, "nope")
    write_pictures(tmp_path, "rnn", faintest=1e-300)
    assert "Some influences of rnn are about as small" in section(tmp_path, "nope", "rnn").text
    assert "as small as float64" not in section(tmp_path, "nope").text


def test_the_same_matrices_give_the_same_bytes(tmp_path: Path) -> None:
    write_pictures(tmp_path, "perceiver", [prefix(4), prefix(5)], [SETTINGS, SETTINGS | {"bottleneck": 5}])
    assert section(tmp_path, "perceiver") == section(tmp_path, "perceiver")


def test_pictures_are_of_their_variants_and_white_where_nothing_reaches(tmp_path: Path) -> None:
    for number in range(6):
        write_pictures(tmp_path, f"random_synthesizer_{number}", [prefix(number + 1)])
    pictures = [read_pictures(tmp_path / f"random_synthesizer_{number}").own for number in range(6)]
    figure = draw_influence(pictures, [picture.variant for picture in pictures])
    figure.draw_without_rendering()
    panels = [axes for axes in figure.axes if axes.images]
    assert [axes.get_title(loc="left") or axes.get_title() for axes in panels] == [each.variant for each in pictures]
    for axes, picture in zip(panels, pictures, strict=True):
        (image,) = axes.images
        assert (image.get_array().mask == ~picture.seen).all()
        assert tuple(image.cmap.get_bad()) == (1, 1, 1, 1)
    assert [bool(axes.get_xlabel()) for axes in panels] == [False] * 3 + [True] * 3
    assert [bool(axes.get_ylabel()) for axes in panels] == [True, False, False] * 2
    boxes = [axes.get_tightbbox() for axes in figure.axes]
    assert all(not one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])


def test_the_targets_curve_falls_from_all_to_none(tmp_path: Path) -> None:
    write_targets(tmp_path)
    table = pd.read_csv(tmp_path / "targets.tsv", sep="\t").set_index("position")
    (axes,) = draw_targets(table, {4: "4: perceiver"}).axes
    everything, dot, *_ = axes.lines
    assert everything.get_ydata()[[0, 4, 15]].tolist() == pytest.approx([100, 75, 6.25])
    assert (dot.get_xdata().tolist(), dot.get_ydata().tolist()) == ([4], [75.0])


def test_without_any_variant_there_is_no_section(tmp_path: Path) -> None:
    assert influence_part(tmp_path / "nothing", tmp_path / "targets", "quick", 3, ["vanilla"]) is None


def spoil(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def spoilt(folder: Path) -> None:
        path = folder / "rope" / "influence.json"
        record = json.loads(path.read_text(encoding="utf-8"))
        change(record)
        path.write_text(json.dumps(record), encoding="utf-8")

    return spoilt


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (spoil(lambda record: record.pop("shape")), "influence.json: broken"),
        (spoil(lambda record: record["shape"].update(context=8)), "a matrix of"),
        (spoil(lambda record: record["pictures"][0].update(own=False)), "not one picture of the variant's own"),
        (spoil(lambda record: record["pictures"].append(record["pictures"][0])), "influence.json: broken"),
        (lambda folder: (folder / "rope" / "influence.safetensors").write_bytes(b"nonsense"), "influence.json: broken"),
        (lambda folder: (folder / "rope" / "influence.safetensors").unlink(), "influence.safetensors: missing"),
        (lambda folder: (folder / "targets" / "targets.tsv").unlink(), "targets.tsv: missing"),
        (lambda folder: (folder / "targets" / "targets.tsv").write_text("position\n"), "targets.tsv: broken"),
    ],
)
def test_what_is_missing_or_broken_is_told_in_one_line(
    tmp_path: Path, damage: Callable[[Path], None], told: str
) -> None:
    write_pictures(tmp_path, "rope")
    write_targets(tmp_path / "targets")
    damage(tmp_path)
    with pytest.raises(StudyError, match=told) as caught:
        influence_part(tmp_path, tmp_path / "targets", "quick", 3, ["rope"])
    assert "\n" not in str(caught.value)
    assert "dvc repro" in str(caught.value)


def test_targets_of_a_window_are_counted_only_where_the_recipe_has_as_many_blocks(tmp_path: Path) -> None:
    write_pictures(tmp_path, "window", [CAUSAL & (t - s < 6)])
    write_pictures(tmp_path, "perceiver", [prefix(4)], [SETTINGS])
    same, other = (section(tmp_path, "window", "perceiver", layers=layers) for layers in (3, 4))
    assert "From output 6 on stand" in said(same, "window")
    assert "not counted" not in same.text
    assert "the last 6 inputs" in said(other, "window") and "stand" not in said(other, "window")
    assert "How far window reaches depends on the number of blocks, and recipe quick has 4" in other.text
    assert row(other, "window")[2:] == ["–", "–", "–"]
    assert row(other, "perceiver") == row(same, "perceiver")
