"""Run by prime-rl's Python, its configs on the path: validate a file as `rl` does, and print what it resolves to."""

import json
import sys
import tomllib
import warnings

warnings.simplefilter("error", FutureWarning)  # a key that prime-rl is about to drop

from prime_rl.configs.rl import RLConfig  # noqa: E402

with open(sys.argv[1], "rb") as file:
    resolved = RLConfig.model_validate(tomllib.load(file))
json.dump(resolved.model_dump(mode="json"), sys.stdout)
