"""Questions over long documents with a Python REPL, as an OpenEnv environment: `FathomEnv` is its client."""

from fathom_env.client import FathomEnv
from fathom_env.models import FathomAction, FathomObservation, FathomState

__all__ = ["FathomAction", "FathomEnv", "FathomObservation", "FathomState"]
