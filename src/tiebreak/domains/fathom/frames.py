"""Made-up templates for the warm-up of a base model: none of them, and no sentence of one, occurs in a task.

`{word}` is any word, another one each time, so that a model cannot know a frame by heart and has to copy.
"""

from dataclasses import replace
from random import Random

from tiebreak.domains.fathom.templates import Template, clock, described, number, town, word
from tiebreak.domains.words import pick

LISTS = ("adjectives", "nouns", "places", "things", "keys")

FRAMES: tuple[Template, ...] = (
    Template("", "niah", "The {word} of {key} is {value}.", "What is the {word} of {key}?", number(10, 99999)),
    Template("", "niah", "The {word} {word} of {key} came at {value}.", "When did the {word} {word} of {key} come?",
             clock),
    Template("", "niah", "The {key} stand beside {word} {value}.", "Beside which {word} do the {key} stand?",
             number(100, 9999), keys="things"),
    Template("", "niah", "The {word} of the {key} has number {value}.", "Which number has the {word} of the {key}?",
             number(100, 99999), keys="nouns"),
    Template("", "extractive", "{key} has seen {value} at the {word}.", "What has {key} seen at the {word}?",
             described),
    Template("", "extractive", "{key} went to a {value}.", "To what kind of town went {key}?", town),
    Template("", "extractive", "Near the {word} {key} found {value}.", "What did {key} find near the {word}?",
             described),
    Template("", "multi_needle", "The {word} of {part} near the {key} took {value} hours.",
             "How many hours took the {word} of {parts} near the {key} in all?", number(11, 99), "add", "places",
             "things"),
    Template("", "multi_needle", "The {part} sent {value} {word} letters to {key}.",
             "How many {word} letters did the {parts} send to {key} in all?", number(101, 999), "add", parts="places"),
    Template("", "multi_needle", "Part {part} of the {word} of {key} is {value}.",
             "What are the {count} parts of the {word} of {key}, in order, joined by hyphens?", word("keys"), "join"),
    Template("", "multi_needle", "Day {part} with {key} was spent at the {value}.",
             "What are the {count} days with {key}, in order, joined by hyphens?", word("places"), "join"),
    Template("", "counting", "{value} has a {word} from the {key}.", "How many people have a {word} from the {key}?",
             word("people"), "count", "places"),
    Template("", "counting", "With {key} went {value}.", "How many people went with {key}?", word("people"), "count"),
)  # fmt: skip


def frame(rng: Random) -> Template:
    """One of the frames with words in it."""
    form = rng.choice(FRAMES)
    sentence, question = form.sentence, form.question
    while "{word}" in question:
        chosen = pick(rng, rng.choice(LISTS))
        sentence, question = (text.replace("{word}", chosen, 1) for text in (sentence, question))
    return replace(form, sentence=sentence, question=question)
