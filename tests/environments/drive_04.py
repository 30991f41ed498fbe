"""Run by the Python of verifiers 0.4: the rollouts of an order (JSON on stdin) through the taskset and its harness."""

import asyncio
import json
import sys

import verifiers.v1 as vf
from verifiers.v1.utils.loaders import load_environment, resolve_env_config


async def main(order: dict) -> list[dict]:
    agent = {"agent": {"timeout": {"rollout": order["seconds"]}}} if "seconds" in order else {}
    config = resolve_env_config({"taskset": {"id": "glyph", "task": order["arguments"]}, **agent})
    env = load_environment(config)
    client = vf.EvalClientConfig(base_url=order["url"], api_key_var="NO_KEY")
    context = vf.ModelContext(order["model"], client, vf.Sampling(temperature=1.0, max_tokens=64))
    gate = asyncio.Semaphore(order.get("concurrent") or 1000)

    async def one(task: vf.Task) -> vf.Episode:
        async with gate:
            return await env.run_episode(task, context)

    async with env.serving():
        episodes = await asyncio.gather(*[one(task) for task in env.taskset for _ in range(order["rollouts"])])
    return [row(episode) for episode in episodes]


def row(episode: vf.Episode) -> dict:
    """An episode in the form of verifiers 0.1's outputs."""
    (trace,) = episode.traces
    found = trace.model_dump(mode="json")
    messages = [message.model_dump(exclude_none=True) for message in trace.messages]
    return {
        "info": {name: getattr(trace.task.data, name) for name in ("case_id", "family", "template")},
        "prompt": messages[:2],
        "completion": messages[2:],
        "reward": trace.reward,
        "metrics": {**trace.metrics, **{name: reward.value for name, reward in trace.rewards.items()}},
        "error": found["errors"][-1] if found["errors"] else None,
        "stop_condition": trace.stop_condition,
        "tokens": [call.usage.completion_tokens for call in trace.calls if call.usage],
        "ok": episode.ok,
        "branches": len(trace.branches),
    }


if __name__ == "__main__":
    outputs = asyncio.run(main(json.load(sys.stdin)))
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(outputs, file)
