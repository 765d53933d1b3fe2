"""params.yaml as typed, strict settings: an unknown key, a wrong type, an impossible value is one clear line."""

from stages.settings.params import PARAMS as PARAMS
from stages.settings.params import Compute as Compute
from stages.settings.params import Settings as Settings
from stages.settings.params import load as load
from stages.settings.recipe import Finetune as Finetune
from stages.settings.recipe import ModelSettings as ModelSettings
from stages.settings.recipe import Objectives as Objectives
from stages.settings.recipe import OptimizerSettings as OptimizerSettings
from stages.settings.recipe import PhraseCloze as PhraseCloze
from stages.settings.recipe import Pretrain as Pretrain
from stages.settings.recipe import QuestionData as QuestionData
from stages.settings.recipe import QuestionRecipe as QuestionRecipe
from stages.settings.recipe import Recipe as Recipe
from stages.settings.recipe import Schedule as Schedule
from stages.settings.recipe import SpanCorruption as SpanCorruption
from stages.settings.recipe import TitleCloze as TitleCloze
from stages.settings.recipe import WordCloze as WordCloze
from stages.settings.section import Count as Count
from stages.settings.section import Section as Section
from stages.settings.section import check as check
from stages.settings.sources import CORPUS_FILE as CORPUS_FILE
from stages.settings.sources import QUESTION_FILES as QUESTION_FILES
from stages.settings.sources import TEXT_FILE as TEXT_FILE
