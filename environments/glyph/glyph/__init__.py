"""The Rust domain of Tiebreak as an environment of `verifiers`, of its 0.1 generation and of 0.4.

0.1 calls `load_environment`; 0.4 takes the taskset and the harness. Neither is imported before it is asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import verifiers

__all__ = ["GlyphEnv", "GlyphHarness", "GlyphTaskset"]


def load_environment(
    timeout: int | None = None,
    max_tool_rounds: int = 15,
    seed: int = 0,
    arm: str = "sparse",
    reward: dict[str, Any] | None = None,
    cases: str | None = None,
    prompts: str | None = None,
    toolbox: dict[str, Any] | None = None,
) -> "verifiers.MultiTurnEnv":
    """The environment for verifiers 0.1; what the arguments mean says `tiebreak.opening.environment`."""
    from glyph.multi_turn import GlyphEnv
    from tiebreak.opening import environment

    return GlyphEnv(
        environment(
            timeout=timeout,
            max_tool_rounds=max_tool_rounds,
            seed=seed,
            arm=arm,
            reward=reward,
            cases=cases,
            prompts=prompts,
            toolbox=toolbox,
        )
    )


def __getattr__(name: str) -> Any:
    """The parts for verifiers 0.4, imported when it asks for them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from glyph import taskset

    return getattr(taskset, name)
