"""Run by the Python of verifiers 0.1: the rollouts of an order (JSON on stdin) through `load_environment`."""

import asyncio
import json
import sys

import verifiers as vf
from verifiers.utils.save_utils import make_serializable


async def main(order: dict) -> list[dict]:
    env = vf.load_environment("glyph", **order["arguments"])
    env.timeout_seconds = order.get("seconds")
    client = vf.ClientConfig(api_base_url=order["url"], api_key_var="NO_KEY", max_retries=0)
    found = await env.evaluate(
        client,
        order["model"],
        sampling_args={"temperature": 1.0, "max_tokens": 64},
        rollouts_per_example=order["rollouts"],
        max_concurrent=order.get("concurrent", -1),
        independent_scoring=order.get("independent", False),
        state_columns=["trajectory"],
    )
    for output in found["outputs"]:
        output["tokens"] = [step["response"].usage.completion_tokens for step in output.pop("trajectory")]
    return found["outputs"]


if __name__ == "__main__":
    outputs = asyncio.run(main(json.load(sys.stdin)))
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(outputs, file, default=make_serializable)
