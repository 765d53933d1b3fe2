"""params.yaml as typed, strict settings: an unknown key, a wrong type, an impossible value is one clear line."""

from stages.settings.ablation import FULL, Ablation
from stages.settings.params import ALL, COMPARED, PARAMS, Compute, Settings, load
from stages.settings.probe import ProbeSettings
from stages.settings.recipe import (
    MAX_HYPOTHESES,
    CausalLM,
    Finetune,
    Generation,
    Model,
    Objectives,
    Optimizer,
    PhraseCloze,
    Pretrain,
    QuestionRecipe,
    Recipe,
    Report,
    Schedule,
    SpanCorruption,
    TitleCloze,
    WordCloze,
    with_questions,
)
from stages.settings.section import Count, Rate, Section, Share, check
from stages.settings.sources import CORPUS_FILE, QUESTION_FILES, TEXT_FILE

__all__ = [
    "ALL",
    "COMPARED",
    "CORPUS_FILE",
    "FULL",
    "MAX_HYPOTHESES",
    "PARAMS",
    "QUESTION_FILES",
    "TEXT_FILE",
    "Ablation",
    "CausalLM",
    "Compute",
    "Count",
    "Finetune",
    "Generation",
    "Model",
    "Objectives",
    "Optimizer",
    "PhraseCloze",
    "Pretrain",
    "ProbeSettings",
    "QuestionRecipe",
    "Rate",
    "Recipe",
    "Report",
    "Schedule",
    "Section",
    "Settings",
    "Share",
    "SpanCorruption",
    "TitleCloze",
    "WordCloze",
    "check",
    "load",
    "with_questions",
]
