"""The section `probe`: what trained weights are asked beside the questions."""

from stages.settings.section import Count, Section


class ProbeSettings(Section):
    unseen_entities: Count
