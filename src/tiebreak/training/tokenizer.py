"""A byte-level tokenizer trained on the domain's own text, for models made from scratch.

What makes copying learnable is decided here: quotes, newlines and backslashes always stand alone, so that a line of a
file has the same tokens inside a patch's JSON string, and a number of up to three digits is one token.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from tiebreak.chat import END, START, TEMPLATE

PAD = "<|pad|>"
SPECIAL = (PAD, START, END)
PIECES = r'\n|"|\\|[0-9]{1,3}|[ _]?[A-Za-z]+| ?[^\sA-Za-z0-9_"\\]+| +(?= )| +|_|\s'


def train_tokenizer(texts: Iterable[str], vocabulary: int, strings: Sequence[str] = ()) -> Any:
    """A fast tokenizer with at most `vocabulary` entries.

    strings: pieces of the protocol that become one token each wherever they occur. Encoding is lossless for any text.
    """
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(PIECES), behavior="isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary - len(strings),
        special_tokens=list(SPECIAL),
        initial_alphabet=alphabet,
        min_frequency=2,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_tokens(list(strings))
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=PAD, eos_token=END, bos_token=None)
    fast.chat_template = TEMPLATE
    return fast
