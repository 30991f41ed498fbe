"""The transformers engine: batched multi-turn sampling with one cache for a whole conversation.

Randomness: a turn's seed gives a stream of uniforms, one a token, and a token is drawn by inverting the distribution
function. So a turn depends on its seed and its logits alone, not on its neighbours' draws, and two checkpoints with the
same seed draw on common random numbers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tiebreak.engines.base import Reply, Sampling
from tiebreak.engines.cache import RaggedCache
from tiebreak.engines.lookup import Lookup
from tiebreak.engines.tokens import Speech
from tiebreak.errors import EngineError

COMPACT_BELOW = 0.7
LOOKAHEAD = 6  # tokens guessed at once; a wrong guess costs time and nothing else
LIKE_LENGTH = 0.75  # a chunk this much shorter than the longest of its bunch starts another


def uniforms(seeds: Sequence[int], count: int) -> Tensor:
    """(rows, count) uniforms in [0, 1), one seeded stream a row (NumPy's, as torch keeps only 32 bits of a seed)."""
    return torch.stack([torch.from_numpy(np.random.Generator(np.random.PCG64(seed)).random(count)) for seed in seeds])


def draw(logits_RV: Tensor, uniform_R: Tensor, temperature: float) -> Tensor:
    """One token a row by inverse transform sampling; temperature 0 takes the largest logit."""
    if temperature == 0:
        return logits_RV.argmax(-1)
    cumulative_RV = torch.softmax(logits_RV.double() / temperature, -1).cumsum(-1)
    chosen_R = torch.searchsorted(cumulative_RV, uniform_R.double()[:, None] * cumulative_RV[:, -1:], right=True)
    return chosen_R[:, 0].clamp(max=logits_RV.shape[-1] - 1)


class HfSession:
    """Conversations of one batch. A row that is left out of a `reply` is dropped: conversations only ever end."""

    def __init__(self, engine: "HfEngine", size: int) -> None:
        self.engine = engine
        self.context: list[list[int]] = [[] for _ in range(size)]
        self.seen = [0] * size
        self.rows = list(range(size))
        self.lookup = Lookup()
        self.cache = RaggedCache(engine.model.config.num_hidden_layers, size)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def reply(self, rows: Sequence[int], texts: Sequence[str], seeds: Sequence[int]) -> list[Reply]:
        """See `Session.reply`; raises EngineError where a row that was dropped is asked for."""
        if missing := set(rows) - set(self.rows):
            raise EngineError(f"rows {sorted(missing)} were left out of an earlier reply and cannot go on")
        for row, text in zip(rows, texts, strict=True):
            self.context[row] += self.engine.encode(text)
        self._keep(rows)
        starts = [len(self.context[row]) for row in rows]
        limits = {row: self.engine.room(self.context[row]) for row in rows}
        self._sample({row: limit for row, limit in limits.items() if limit > 0}, dict(zip(rows, seeds, strict=True)))
        return [self.engine.turn(self.context[row][start:]) for row, start in zip(rows, starts, strict=True)]

    def _keep(self, rows: Sequence[int]) -> None:
        if list(rows) != self.rows:
            places = [self.rows.index(row) for row in rows]
            self.cache.keep(torch.tensor(places, dtype=torch.long))
            self.rows = list(rows)

    def _sample(self, limits: dict[int, int], seeds: dict[int, int]) -> None:
        """Sample one turn for the rows of `limits`; rows that are done leave the working batch in bunches."""
        if not limits:
            return
        places = torch.tensor([index for index, row in enumerate(self.rows) if row in limits])
        order = [self.rows[index] for index in places.tolist()]
        noise = uniforms([seeds[row] for row in order], max(limits.values()))
        ends = {row: len(self.context[row]) + limit for row, limit in limits.items()}
        work = self.cache.fork(places)
        logits = self._prefill(work, order)
        for row in order:
            self.seen[row] = len(self.context[row])
        tokens = draw(logits, noise[:, 0], self.engine.sampling.temperature).tolist()
        live = {row for row, token in zip(order, tokens, strict=True) if self._take(row, [], [token], ends[row])}
        while live:
            if len(live) < COMPACT_BELOW * len(order):
                self.cache.absorb(work, places, len(self.rows))
                stay = torch.tensor([index for index, row in enumerate(order) if row in live])
                order = [order[index] for index in stay.tolist()]
                noise, places = noise[stay], places[stay]
                work.keep(stay)
            live = self._advance(work, order, live, noise, ends, limits)
        self.cache.absorb(work, places, len(self.rows))

    def _advance(
        self,
        work: RaggedCache,
        order: Sequence[int],
        live: set[int],
        noise: Tensor,
        ends: Mapping[int, int],
        limits: Mapping[int, int],
    ) -> set[int]:
        """One forward pass: each live row's newest token and a guess at what follows; returns the rows still live."""
        guesses = [self._guess(row, ends[row]) if row in live else [] for row in order]
        chunks = [[self.context[row][-1], *guess] for row, guess in zip(order, guesses, strict=True)]
        hidden = self._forward(work, order, chunks)
        used = [limits[row] - (ends[row] - len(self.context[row])) for row in order]
        cells = [(r, t) for r, chunk in enumerate(chunks) if order[r] in live for t in range(len(chunk))]
        at_r, at_t = torch.tensor(cells).unbind(1)
        uniform = noise[at_r, torch.tensor(used)[at_r] + at_t]
        drawn = iter(draw(self.engine.logits(hidden[at_r, at_t]), uniform, self.engine.sampling.temperature).tolist())
        left = set()
        for row, guess in zip(order, guesses, strict=True):
            if row in live and self._take(row, guess, [next(drawn) for _ in range(len(guess) + 1)], ends[row]):
                left.add(row)
        return left

    def _guess(self, row: int, end: int) -> list[int]:
        """What may follow, as it did before; never past the row's limit."""
        return self.lookup.guess(self.context[row], min(LOOKAHEAD, end - len(self.context[row]) - 1))

    def _take(self, row: int, guess: Sequence[int], drawn: Sequence[int], end: int) -> bool:
        """Append the tokens drawn as far as the guess was right, and one more; whether the row goes on."""
        context = self.context[row]
        self.seen[row] += bool(self.seen[row] < len(context))
        for index, token in enumerate(drawn):
            context.append(token)
            self.lookup.add(context)
            if token == self.engine.end_id or len(context) == end:
                return False
            if index == len(guess) or token != guess[index]:
                break
            self.seen[row] += 1
        return True

    def _prefill(self, cache: RaggedCache, order: Sequence[int]) -> Tensor:
        """Logits (R, V) after all that the rows have not seen; conversations that are equal so far are read once."""
        firsts: dict[tuple[int, ...], int] = {}
        same = [firsts.setdefault(tuple(self.context[row]), index) for index, row in enumerate(order)]
        chunks = {index: self.context[order[index]][self.seen[order[index]] :] for index in firsts.values()}
        logits: dict[int, Tensor] = {}
        for bunch in bunches({index: len(chunk) for index, chunk in chunks.items()}):
            rows = torch.tensor(bunch)
            hidden = self._forward(cache, [order[i] for i in bunch], [chunks[i] for i in bunch], rows)
            last = torch.tensor([len(chunks[i]) - 1 for i in bunch])
            logits |= dict(zip(bunch, self.engine.logits(hidden[torch.arange(len(bunch)), last]), strict=True))
            for index in bunch:
                self.lookup.add(self.context[order[index]], len(chunks[index]))
        if copies := [(first, index) for index, first in enumerate(same) if first != index]:
            source, target = torch.tensor(copies).unbind(1)
            cache.repeat(source, target, max(len(self.context[row]) for row in order))
        return torch.stack([logits[first] for first in same])

    def _forward(
        self, cache: RaggedCache, order: Sequence[int], chunks: Sequence[list[int]], rows: Tensor | None = None
    ) -> Tensor:
        """Hidden states (R, T, D) of each row's chunk, whose first token stands at the row's first unseen position.

        rows: which rows of the cache these are, if not all.
        """
        width = max(map(len, chunks))
        ids = torch.tensor([chunk + [0] * (width - len(chunk)) for chunk in chunks])
        first = torch.tensor([self.seen[row] for row in order])
        positions = first[:, None] + torch.arange(width)
        cache.write_at(positions, rows)
        mask = torch.arange(cache.slots) <= positions[:, None, :, None]
        return self.engine.forward(ids, positions, mask, cache)


def bunches(lengths: Mapping[int, int]) -> list[list[int]]:
    """Rows of like length together, longest first, so that little is padded."""
    found: list[list[int]] = []
    longest = 0
    for row in sorted(lengths, key=lambda row: -lengths[row]):
        if not found or lengths[row] < LIKE_LENGTH * longest:
            found.append([])
            longest = lengths[row]
        found[-1].append(row)
    return found


class HfEngine(Speech):
    """A transformers causal language model on the CPU, in the precision it was loaded with."""

    def __init__(self, model: Any, tokenizer: Any, sampling: Sampling) -> None:
        super().__init__(tokenizer, sampling)
        self.model = model

    def session(self, size: int) -> HfSession:
        """Room for `size` fresh conversations; the weights are read anew at each forward pass."""
        self.model.eval()
        return HfSession(self, size)

    def forward(self, ids: Tensor, positions: Tensor, mask: Tensor, cache: RaggedCache) -> Tensor:
        """Last hidden states (R, T, D) of a chunk."""
        body = self.model.get_base_model().model if hasattr(self.model, "get_base_model") else self.model.model
        masks = {"full_attention": mask}
        output = body(input_ids=ids, position_ids=positions, attention_mask=masks, cache=cache, use_cache=True)
        return output.last_hidden_state

    def logits(self, hidden_RD: Tensor) -> Tensor:
        """Logits (R, V) of hidden states."""
        return self.model.get_output_embeddings()(hidden_RD)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def logprobs(self, tokens: Sequence[int]) -> list[float]:
        """The log probability of each token but the first, given those before it."""
        logits = self.model(input_ids=torch.tensor([list(tokens)])).logits[0, :-1]
        return logits.log_softmax(-1)[torch.arange(len(tokens) - 1), torch.tensor(tokens[1:])].tolist()

    def describe(self) -> dict[str, object]:
        """What decides the bytes that come out, apart from weights and prompts."""
        import transformers

        return {
            "engine": "hf",
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "threads": torch.get_num_threads(),
            "dtype": str(self.model.dtype),
            "temperature": self.sampling.temperature,
            "turn_tokens": self.sampling.turn_tokens,
            "max_length": self.sampling.max_length,
        }
