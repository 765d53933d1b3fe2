"""The report's section on what a recipe owes to its parts: a reference to the page that tells it."""

from stages.reporting.markdown import Markdown, code
from stages.reporting.template import Part, fill
from stages.settings import FULL, Ablation

TEMPLATE = "changes.md.jinja"


def changes_part(settings: Ablation, recipe: str) -> Part | None:
    """The section, if it is this recipe that section `ablation` of params.yaml takes apart, else None.

    The figures are on a page of their own: a report does not wait for a training of each change.
    """
    if settings.recipe != recipe:
        return None
    changes = Markdown(", ".join(code(name) for name in settings.changes if name != FULL))
    return Part(fill(TEMPLATE, changes=changes, held_out=settings.held_out))
