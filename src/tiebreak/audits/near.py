"""Near duplicates: how alike two sources are, and the nearest source of another split, also among very many.

The measure is the Jaccard similarity of 5-token shingles, comments dropped, every literal one and the same token,
identifiers kept. Up to `ALL_PAIRS` pairs are all compared. Beyond, MinHash signatures with locality-sensitive hashing
(Broder 1997; Indyk and Motwani 1998) name candidate pairs: a pair of similarity s becomes one with probability
`recall(s)`, equal sources always. The value of a pair is exact either way. The work is linear in the number of sources
and of pairs that are alike.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tiebreak.audits.shingles import FACTOR, Words, scrambled, shingles, words
from tiebreak.seeds import derive

BANDS, ROWS = 16, 5
ALL_PAIRS = 1 << 21  # a few seconds
SHINGLES_AT_ONCE = 1 << 23  # of pairs, about 200 MB
QUERIES_AT_ONCE = 2048

Numbers = npt.NDArray[np.int64]


def recall(similarity: float) -> float:
    """The probability that a pair of different sources of this similarity becomes a candidate."""
    return float(1 - (1 - similarity**ROWS) ** BANDS)


@dataclass(frozen=True)
class Near:
    """A case, the nearest case of the other side, and how alike they are in the forms that are most alike."""

    case: str
    form: str
    other: str
    other_form: str
    similarity: float


class Index:
    """The sources of many cases, each in one or more forms (as given, as repaired), ready for `nearest`.

    cases: (case id, {form: source}); a case's similarity to another is the largest over all pairs of forms. Equal token
    sequences are kept once, so that memory goes with the number of different ones. all_pairs: see ALL_PAIRS.
    """

    def __init__(
        self, cases: Iterable[tuple[str, Mapping[str, str]]], seed: int = 0, all_pairs: int = ALL_PAIRS
    ) -> None:
        self.all_pairs = all_pairs
        self.forms: dict[str, dict[int, str]] = {}
        numbers: dict[bytes, int] = {}
        sets: list[Words] = []
        signatures: list[npt.NDArray[np.uint64]] = []
        hashes = _hashes(seed)
        for case, sources in cases:
            own: dict[int, str] = {}
            for form, source in sources.items():
                tokens = words(source)
                key = hashlib.blake2b("\n".join(tokens).encode("utf-8", "surrogatepass"), digest_size=16).digest()
                if key not in numbers:
                    numbers[key] = len(sets)
                    sets.append(shingles(tokens))
                    signatures.append(_signature(sets[-1], *hashes))
                own.setdefault(numbers[key], form)
            self.forms[case] = own
        self.sizes = np.array([len(found) for found in sets], dtype=np.int64)
        self.matrix = _matrix(sets)
        self.bands = _bands(signatures)

    def nearest(self, queries: Collection[str], targets: Collection[str]) -> dict[str, Near]:
        """For each query case, the target case that is nearest of those looked at; a query without one is left out.

        Ties go to the first case by name, so that the order of cases decides nothing. No case is both query and target.
        """
        holders = self._holders(targets)
        best = self._best(np.unique(self._documents(queries)), np.array(sorted(holders), dtype=np.int64), holders)
        found = {}
        for case in queries:
            options = [(-best[number][0], best[number][1], number) for number in self.forms[case] if number in best]
            if options:
                negative, other, number = min(options)
                there = best[number][2]
                found[case] = Near(case, self.forms[case][number], other, self.forms[other][there], -negative)
        return found

    def over(self, queries: Collection[str], targets: Collection[str], threshold: float) -> set[str]:
        """The query cases whose nearest target is over the threshold."""
        return {case for case, near in self.nearest(queries, targets).items() if near.similarity > threshold}

    def _documents(self, cases: Iterable[str]) -> Numbers:
        return np.array([number for case in cases for number in self.forms[case]], dtype=np.int64)

    def _holders(self, cases: Iterable[str]) -> dict[int, str]:
        """The first case by name of each document."""
        found: dict[int, str] = {}
        for case in sorted(cases):
            for number in self.forms[case]:
                found.setdefault(number, case)
        return found

    def _best(
        self, queries: Numbers, targets: Numbers, holders: Mapping[int, str]
    ) -> dict[int, tuple[float, str, int]]:
        """(similarity, case, document) of the nearest target of each query document that has a candidate."""
        ranks = {number: rank for rank, number in enumerate(sorted(holders, key=lambda number: holders[number]))}
        shared = np.intersect1d(queries, targets)
        best = {int(number): (1.0, holders[int(number)], int(number)) for number in shared}
        rest = np.setdiff1d(queries, shared)
        small = len(rest) * len(targets) <= self.all_pairs
        tables = [] if small else [_Table(band, targets) for band in self.bands]
        for start in range(0, len(rest), QUERIES_AT_ONCE):
            part = rest[start : start + QUERIES_AT_ONCE]
            left, right = _all_pairs(part, targets) if small else _candidates(tables, self.bands, part)
            common = self._common_of_all(part, targets) if small else self._common(left, right)
            values = common / (self.sizes[left] + self.sizes[right] - common)
            places = np.array([ranks[int(number)] for number in right], dtype=np.int64)
            order = np.lexsort((places, -values, left))
            firsts = order[np.unique(left[order], return_index=True)[1]]
            for place in firsts:
                number = int(right[place])
                best[int(left[place])] = (float(values[place]), holders[number], number)
        return best

    def _common_of_all(self, queries: Numbers, targets: Numbers) -> Numbers:
        """The shingles that each pair of `_all_pairs` has in common; the work goes with these alone."""
        found = (self.matrix[queries] @ self.matrix[targets].T).toarray()
        return np.asarray(found, dtype=np.int64).ravel()

    def _common(self, left: Numbers, right: Numbers) -> Numbers:
        """The shingles that each pair of documents has in common, so many pairs at a time as memory can hold."""
        common = np.zeros(len(left), dtype=np.int64)
        portions = np.cumsum(self.sizes[left] + self.sizes[right]) // SHINGLES_AT_ONCE
        starts: list[int] = np.unique(portions, return_index=True)[1].tolist() if len(left) else []
        for start, end in pairwise([*starts, len(left)]):
            both = self.matrix[left[start:end]].multiply(self.matrix[right[start:end]])
            common[start:end] = np.asarray(both.sum(axis=1)).ravel()
        return common


class _Table:
    """The targets of one band, in the order of their keys."""

    def __init__(self, band: Words, targets: Numbers) -> None:
        order = np.argsort(band[targets], kind="stable")
        self.numbers = targets[order]
        self.keys = band[self.numbers]

    def pairs(self, keys: Words, queries: Numbers) -> tuple[Numbers, Numbers]:
        """Every (query, target) with equal keys."""
        begin = np.searchsorted(self.keys, keys, side="left")
        counts = np.searchsorted(self.keys, keys, side="right") - begin
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(queries, counts), self.numbers[np.repeat(begin, counts) + within]


def _all_pairs(queries: Numbers, targets: Numbers) -> tuple[Numbers, Numbers]:
    return np.repeat(queries, len(targets)), np.tile(targets, len(queries))


def _candidates(tables: Sequence[_Table], bands: Sequence[Words], queries: Numbers) -> tuple[Numbers, Numbers]:
    """The pairs (query, target) that share a band, each once."""
    found = [table.pairs(band[queries], queries) for table, band in zip(tables, bands, strict=True)]
    codes = np.unique(np.concatenate([left << 32 | right for left, right in found]))
    return codes >> 32, codes & 0xFFFFFFFF


def _hashes(seed: int) -> tuple[Words, Words]:
    """The multipliers (odd) and summands of the MinHash functions, one column."""
    draw = [derive(seed, "minhash", number) for number in range(2 * BANDS * ROWS)]
    values = np.array(draw, dtype=np.uint64).reshape(2, -1, 1)
    return values[0] | np.uint64(1), values[1]


def _signature(found: Words, factors: Words, summands: Words) -> npt.NDArray[np.uint64]:
    """The smallest value of each hash function over a shingle set."""
    return np.asarray(((found[None, :] * factors + summands) >> np.uint64(32)).min(axis=1))


def _bands(signatures: Sequence[npt.NDArray[np.uint64]]) -> list[Words]:
    """For each band, a key of each document: equal where the band's rows are (else with a probability of 1e-19)."""
    if not signatures:
        return [np.zeros(0, dtype=np.uint64)] * BANDS
    table = np.array(signatures).reshape(len(signatures), BANDS, ROWS)
    keys = np.zeros(table.shape[:2], dtype=np.uint64)
    for row in range(ROWS):
        keys = scrambled(keys * FACTOR + table[:, :, row])
    return [np.ascontiguousarray(keys[:, band]) for band in range(BANDS)]


def _matrix(sets: Sequence[Words]) -> sparse.csr_matrix:
    """Documents by shingles, 1 where a document has a shingle."""
    places = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum([len(found) for found in sets], dtype=np.int64)])
    joined = np.concatenate(sets) if sets else np.zeros(0, dtype=np.uint64)
    names, columns = np.unique(joined, return_inverse=True)
    ones = np.ones(len(columns), dtype=np.int32)
    return sparse.csr_matrix((ones, columns.astype(np.int32), places), shape=(len(sets), len(names)))
