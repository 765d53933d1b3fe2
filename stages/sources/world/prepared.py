"""A generated world as prepared data, without files."""

from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from stages.settings.sources import Synthetic
from stages.sources.world.generation import generate


def prepared_world(settings: Synthetic) -> Prepared:
    """Generate a world, and encode its pages and the questions of all splits."""
    world = generate(settings)
    questions = {}
    for split, people in (("train", world.train), ("dev", world.dev), ("test", world.test)):
        rows = enumerate(people, 1)
        questions[split] = [Question(row, person.question, person.name, person.birthplace) for row, person in rows]
    return Prepared.of([page for person in world.people for page in person.pages], questions)
