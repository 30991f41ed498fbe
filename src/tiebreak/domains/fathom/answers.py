"""The answer of a text: what stands between the tags, and whether it is the gold one."""

OPEN, CLOSE = "<answer>", "</answer>"


def extract(text: str) -> str | None:
    """What stands in the last complete pair of tags, stripped; None where there is no pair, "" where it is empty.

    The last, so that a model which quotes its instructions first still answers; only one pair counts, so that naming
    several answers hedges nothing.
    """
    last = text.rfind(CLOSE)
    start = text.rfind(OPEN, 0, max(last, 0))
    if last < 0 or start < 0:
        return None
    return text[start + len(OPEN) : text.find(CLOSE, start)].strip()


def normal(text: str) -> str:
    """Stripped, in lower case, every run of whitespace one blank."""
    return " ".join(text.lower().split())


def is_correct(answer: str | None, gold: str) -> bool:
    """Whether an answer is the gold one after `normal`; an empty answer never is, whatever the gold."""
    return answer is not None and normal(answer) != "" and normal(answer) == normal(gold)
