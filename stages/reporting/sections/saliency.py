"""The report's section on the characters of a question that an answer hangs on."""

from collections.abc import Sequence
from pathlib import Path

from stages.reporting.evaluations import broken
from stages.reporting.markdown import Markdown, escape, table
from stages.reporting.sections.probes import Probe, read_probes
from stages.reporting.sections.saliency_figure import attention_svg, gradients_svg
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
        text = fill(
            TEMPLATE,
            question=first and first["question"],
            findings=findings(probes),
            answers_table=answers_table(probes),
            attending=attending,
            others=[probe.variant for probe in probes if probe not in attending],
        )
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise broken(folder / probes[0].variant / "probe.json", error) from None
    return Part(text, files)


def on_the_name(probe: Probe) -> float:
    """The share of the gradient at the embedding that falls on the name's characters."""
    assert probe.saliency is not None
    start, end = probe.saliency["name"]
    return float(sum(probe.saliency["gradients"][0][start:end]))


def findings(probes: Sequence[Probe]) -> Markdown:
    """How much of the gradient falls on the name, beside its share of the characters."""
    saliency = probes[0].saliency
    assert saliency is not None
    start, end = saliency["name"]
    length = f"The name is {100 * (end - start) / len(saliency['read']):.0f} % of what is read"
    order = sorted(probes, key=lambda probe: (on_the_name(probe), probe.variant))
    least, most = (f"{100 * on_the_name(probe):.0f} %" for probe in (order[0], order[-1]))
    share = least
    if len(order) > 1:
        share = f"from {least} ({escape(order[0].variant)}) to {most} ({escape(order[-1].variant)})"
    return Markdown(f"{length}; {share} of the gradient at the embedding falls on it.")


def answers_table(probes: Sequence[Probe]) -> Markdown:
    """Each variant's answer, and the share of the gradient on the name."""
    header = ("variant", "answer", "probability, %", "gradient on the name, %")
    rows = [
        (
            probe.variant,
            probe.saliency["answer"] or Markdown("*nothing*"),
            f"{100 * probe.saliency['probability']:.1f}",
            f"{100 * on_the_name(probe):.1f}",
        )
        for probe in probes
        if probe.saliency
    ]
    return table(header, rows, right=header[2:])
