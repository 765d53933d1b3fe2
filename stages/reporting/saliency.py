"""The report's section on the characters of a question that an answer hangs on."""

from collections.abc import Sequence
from pathlib import Path

from stages.reporting.evaluations import broken
from stages.reporting.markdown import Markdown, escape
from stages.reporting.probes import Probe, read_probes
from stages.reporting.saliency_figure import attention_svg, gradients_svg
from stages.reporting.template import Part, fill

TEMPLATE = "saliency.md.jinja"


def saliency_part(folder: Path, variants: Sequence[str]) -> Part | None:
    """The section on the one question about an invented person; None where none was asked.

    Raises StudyError where a probe is broken.
    """
    probes = [probe for probe in read_probes(folder, variants) if probe.saliency]
    if not probes:
        return None
    try:
        attending = [probe for probe in probes if probe.saliency and probe.saliency["attention"]]
        files = {"saliency.svg": gradients_svg(probes)}
        if attending:
            files["saliency_attention.svg"] = attention_svg(attending)
        first = probes[0].saliency
        text = fill(TEMPLATE, question=first and first["question"], findings=findings(probes), attending=attending)
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise broken(folder / probes[0].variant / "probe.json", error) from None
    return Part(text, files)


def findings(probes: Sequence[Probe]) -> Markdown:
    """What each variant answers, and how much of the gradient at the embedding falls on the name."""
    sentences = []
    for probe in probes:
        assert probe.saliency is not None
        start, end = probe.saliency["name"]
        row = probe.saliency["gradients"][0]
        answer = escape(probe.saliency["answer"]) or "nothing"
        sentences.append(
            f"**{escape(probe.variant)}** answers {answer} ({100 * probe.saliency['probability']:.1f} %), and "
            f"{100 * sum(row[start:end]):.0f} % of the gradient falls on the name, which is "
            f"{100 * (end - start) / len(row):.0f} % of what is read."
        )
    return Markdown(" ".join(sentences))
