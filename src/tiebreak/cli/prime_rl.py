"""`tiebreak prime-rl`: what the prime-rl backend would run."""

import argparse
from typing import Any


def register(subparsers: Any) -> None:
    """Add the parser of `tiebreak prime-rl`."""
    parser = subparsers.add_parser("prime-rl", help="what the prime-rl backend would run")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    config = actions.add_parser(
        "config",
        help="print the file of one training",
        description="Print the TOML file that prime-rl's `rl` gets for one training of one arm. A job of the workflow "
        "writes the same, with whole paths and its own work folder as output_dir.",
    )
    config.add_argument("--study", required=True, metavar="NAME", help="a name in config/studies, or a path")
    config.add_argument("--arm", required=True, help="an arm of the study")
    config.add_argument("--seed", type=int, default=0, help="a training seed of the study (default: 0)")
    config.add_argument("--until", type=int, metavar="STEP", help="the last step (default: rlvr.steps)")
    config.set_defaults(run=print_config)


def print_config(arguments: argparse.Namespace) -> int:
    """Print the file. Raises ConfigError for a study, arm or seed that is not there."""
    from tiebreak.study import load
    from tiebreak.training.prime_rl.config import build, of_study, text

    study = load(arguments.study)
    spec = of_study(study, arguments.arm, arguments.seed)
    print(text(build(spec, until=arguments.until or study.rlvr.steps)), end="")
    return 0
