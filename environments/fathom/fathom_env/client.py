"""The client: one WebSocket, one session."""

from typing import Any

from openenv.core import EnvClient
from openenv.core.client_types import StepResult

from fathom_env.models import FathomAction, FathomObservation, FathomState


class FathomEnv(EnvClient[FathomAction, FathomObservation, FathomState]):
    """`FathomEnv(base_url=…).sync()`; `reset(kind=…, characters=…, shape=…, responder=…, seed=…)`, `step`, `state`."""

    def _step_payload(self, action: FathomAction) -> dict[str, Any]:
        return action.model_dump(exclude={"metadata"})

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[FathomObservation]:
        told = {"reward": payload.get("reward"), "done": payload.get("done", False)}
        observation = FathomObservation.model_validate(payload["observation"] | told)
        return StepResult(observation=observation, **told)

    def _parse_state(self, payload: dict[str, Any]) -> FathomState:
        return FathomState.model_validate(payload)
