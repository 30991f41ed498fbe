"""Rows and a reader for tests of the audits: a made-up domain whose turns say what is to be read of them."""

from tiebreak.audits.stored import Row
from tiebreak.domains.reading import ReadCall, Reading, StoredRollout


class WordReader:
    """Reads turns such as `reach:ran slip:bad call:peek/failed pay:2`; `reads` counts how often it was asked."""

    phases = ("nothing", "ran", "success")
    slips = ("bad", "worse")
    tampering = ("peek",)
    shaping = ("bonus",)
    shapes = ("dense",)

    def __init__(self) -> None:
        self.reads = 0

    def read(self, rollout: StoredRollout) -> Reading:
        self.reads += 1
        words = [word.split(":") for turn in rollout.turns for word in turn["content"].split()]
        told = {name: [value for key, value in words if key == name] for name in ("reach", "slip", "call", "pay")}
        calls = tuple(ReadCall(*call.split("/"), detail="why") for call in told["call"])
        slips = {slip: told["slip"].count(slip) for slip in self.slips}
        paid = dict.fromkeys(self.shapes, float(told["pay"][0])) if told["pay"] else {}
        return Reading((told["reach"] or ["nothing"])[0], slips, calls, paid)


def row(words: str = "", **labels: object) -> Row:
    """A rollout whose one assistant turn is `words`."""
    core = {
        "source": "evaluation",
        "run": "dense-seed0",
        "arm": "dense",
        "repetition": 0,
        "step": None,
        "group": None,
        "case_id": "a",
        "family": "f",
        "template": "t",
        "sample": 0,
        "stop": "final",
        "valid": False,
        "success": False,
        "graded": False,
        "new_tokens": 10,
        "truncated": False,
    } | {name: value for name, value in labels.items() if name != "reward"}
    turns = [{"role": "user", "content": ""}, {"role": "assistant", "content": words}]
    return Row(core, StoredRollout(str(core["case_id"]), turns, str(core["stop"])), labels.get("reward"))
