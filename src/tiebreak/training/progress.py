"""One calm progress bar for a training, instead of a trainer's own, its printed logs and its libraries' warnings."""

import os
import warnings
from collections.abc import Callable
from typing import Any

Shown = Callable[[dict[str, Any]], dict[str, str] | None]


def hush() -> None:
    """Silence what libraries say about themselves; errors and our own progress stay."""
    os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
    import transformers

    transformers.logging.disable_progress_bar()
    transformers.logging.set_verbosity_error()


def show(trainer: Any, label: str, shown: Shown) -> None:
    """Give `trainer` a bar named `label`; `shown` picks what stands behind it from the trainer's latest log line."""
    from tqdm import tqdm
    from transformers import PrinterCallback, ProgressCallback, TrainerCallback

    class Bar(TrainerCallback):
        """Step, rate and time left, and the latest numbers."""

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.bar = tqdm(
                total=state.max_steps, initial=state.global_step, desc=label, unit="step", mininterval=1, smoothing=0.1
            )

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.bar.update(state.global_step - self.bar.n)

        def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
            numbers = shown(logs or {})
            if numbers:
                self.bar.set_postfix(numbers, refresh=False)

        def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.bar.close()

    for callback in (PrinterCallback, ProgressCallback):
        trainer.remove_callback(callback)
    trainer.add_callback(Bar())


def loss_only(logs: dict[str, Any]) -> dict[str, str] | None:
    """The loss, where a log line has one."""
    return {"loss": f"{float(logs['loss']):.3f}"} if "loss" in logs else None
