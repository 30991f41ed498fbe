"""The verdict engine: what cargo says of many crates, cached by content, batched where that is faster."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import lru_cache, partial
from pathlib import Path
from typing import get_args

from tiebreak.digest import code_digest
from tiebreak.domains.rust.asks import Ask, Diagnostics, Tool, Verdict, Way
from tiebreak.domains.rust.batch import batch
from tiebreak.domains.rust.cargo_way import cargo
from tiebreak.domains.rust.direct import direct
from tiebreak.domains.rust.routes import route
from tiebreak.domains.rust.scratch import sweep
from tiebreak.domains.rust.toolchain import toolchain
from tiebreak.sandbox.cache import Cache, key_of
from tiebreak.sandbox.limits import Limits

__all__ = ["Ask", "Diagnostics", "Judge", "Limits", "Verdict", "Way"]

WORTH_A_BATCH = 2
WORTH_A_SHARE = 16  # crates; each share costs as much again as some ten crates: rustc starts twice or more, one linking
BATCH_SIZE = 192  # memory is about 1 MiB a crate

Task = Callable[[], list[Verdict]]


@lru_cache
def engine() -> str:
    """The digest of the code that makes verdicts: a cached one is valid for the engine that made it, and no other."""
    return code_digest(Path(__file__), Path(__file__).parents[4])


class Judge:
    """Verdicts on crates. `cache`: a folder that may be shared by processes and runs, or None.

    workers: threads that compile and run side by side. way: `auto` batches from two misses on; the other ways are
    upper bounds (a crate that a batch could see differently is judged by rustc alone, one with an unusual manifest by
    cargo). diagnostics: `full` is rustc's text, `short` one line an error and its place.
    Counters: `asked`, `hits` (answered by the cache or by an equal ask of the same call), `ran`.
    """

    def __init__(
        self,
        cache: Path | None,
        *,
        workers: int = 1,
        way: Way = "auto",
        limits: Limits = Limits(),  # noqa: B008  (frozen)
        diagnostics: Diagnostics = "full",
    ) -> None:
        self.workers, self.way, self.limits, self.diagnostics = workers, way, limits, diagnostics
        self.asked = self.hits = self.ran = 0
        self._cache = None if cache is None else Cache(cache)
        sweep()

    def __call__(self, asks: Sequence[Ask]) -> list[Verdict]:
        """One verdict an ask, in order. SandboxError if the sandbox or the toolchain cannot be had."""
        unique = self._keys(asks)
        verdicts = self._stored(unique)
        missing = [ask for ask in unique if ask not in verdicts]
        self.asked += len(asks)
        self.hits += len(asks) - len(missing)
        self.ran += len(missing)
        with ThreadPoolExecutor(self.workers) as pool:
            jobs = [(group, pool.submit(task)) for group, task in self._tasks(missing)]
            for group, job in jobs:
                found = dict(zip(group, job.result(), strict=True))
                self._store(unique, found)
                verdicts |= found
        return [verdicts[ask] for ask in asks]

    def _keys(self, asks: Sequence[Ask]) -> dict[Ask, bytes]:
        """The cache's key of each distinct ask."""
        heads = {tool: self._head(tool) for tool in get_args(Tool)}
        return {
            ask: key_of(
                heads[ask.tool], *(text.encode("utf-8", "surrogatepass") for pair in ask.files for text in pair)
            )
            for ask in asks
        }

    def _head(self, tool: str) -> bytes:
        terms = [engine(), tool, toolchain().digest, self.limits.as_dict(), self.diagnostics]
        return json.dumps(terms, sort_keys=True).encode()

    def _stored(self, keys: dict[Ask, bytes]) -> dict[Ask, Verdict]:
        if self._cache is None:
            return {}
        values = self._cache.get_many(list(keys.values()))
        return {ask: _unpack(value) for ask, value in zip(keys, values, strict=True) if value is not None}

    def _store(self, keys: dict[Ask, bytes], found: dict[Ask, Verdict]) -> None:
        if self._cache is not None:
            self._cache.put_many({keys[ask]: _pack(verdict) for ask, verdict in found.items() if not verdict.late})

    def _tasks(self, asks: Sequence[Ask]) -> list[tuple[list[Ask], Task]]:
        """The work on `asks` in pieces that may run side by side, large ones first."""
        by_way: dict[tuple[Way, str], list[Ask]] = {}
        for ask in asks:
            by_way.setdefault((route(ask, self.way), ask.tool), []).append(ask)
        tasks: list[tuple[list[Ask], Task]] = []
        for (way, _), group in sorted(by_way.items()):
            if way == "batch" and (len(group) >= WORTH_A_BATCH or self.way == "batch"):
                parts = [part for apart in strangers(group) for part in shares(apart, self.workers)]
                tasks += [(part, partial(batch, part, self.limits, self.diagnostics)) for part in parts]
            else:
                one = cargo if way == "cargo" else direct
                tasks += [([ask], partial(self._alone, one, ask)) for ask in group]
        return sorted(tasks, key=lambda task: len(task[0]), reverse=True)

    def _alone(self, one: Callable[[Ask, Limits, Diagnostics], Verdict], ask: Ask) -> list[Verdict]:
        return [one(ask, self.limits, self.diagnostics)]


def strangers(group: Sequence[Ask]) -> list[list[Ask]]:
    """The asks in groups that hold no case twice; asks without a case are all in the first."""
    groups: list[list[Ask]] = []
    seen: Counter[str] = Counter()
    for ask in group:
        place = seen[ask.case] if ask.case else 0
        seen[ask.case] += 1
        groups += [[]] if place == len(groups) else []
        groups[place].append(ask)
    return groups


def shares(group: list[Ask], workers: int) -> list[list[Ask]]:
    """Batches of about one size, none too large, as many as keep all workers busy where there is enough for them."""
    fewest = -(-len(group) // BATCH_SIZE)
    count = max(1, min(-(-fewest // workers) * workers, len(group) // WORTH_A_SHARE))
    size = -(-len(group) // count)
    return [group[start : start + size] for start in range(0, len(group), size)]


def _pack(verdict: Verdict) -> bytes:
    return json.dumps(asdict(verdict), ensure_ascii=False, sort_keys=True).encode()


def _unpack(value: bytes) -> Verdict:
    terms = json.loads(value)
    return Verdict(**{**terms, "codes": tuple(terms["codes"])})
