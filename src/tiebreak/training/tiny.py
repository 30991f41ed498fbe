"""A tiny Qwen3 from scratch: the laptop study's stand-in for Qwen3-4B-Base."""

from typing import Any

import torch


def tiny_config(
    tokenizer: Any, *, hidden: int, layers: int, heads: int, kv_heads: int, feed_forward: int, rope_theta: float
) -> Any:
    """A Qwen3 configuration with tied embeddings and biased attention."""
    from transformers import Qwen3Config

    return Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=feed_forward,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        head_dim=hidden // heads,
        max_position_embeddings=4096,
        rope_parameters={"rope_type": "default", "rope_theta": rope_theta},
        tie_word_embeddings=True,
        attention_bias=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )


def new_model(config: Any, seed: int) -> Any:
    """A model with fresh weights, drawn from `seed`: matrices at 1/sqrt(fan_in), embeddings at 0.08, biases 0."""
    from transformers import Qwen3ForCausalLM

    torch.manual_seed(seed)
    model = Qwen3ForCausalLM(config).float()
    for name, weight in model.named_parameters():
        if "embed_tokens" in name:
            torch.nn.init.normal_(weight, std=0.08)
        elif weight.ndim == 2:
            torch.nn.init.normal_(weight, std=weight.shape[1] ** -0.5)
    return model
