"""One training of one arm with prime-rl: the other backend behind `job_training.Trainer`."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from tiebreak.errors import TrainingError
from tiebreak.training.export import export_adapter
from tiebreak.training.prime_rl import launch, resume, view
from tiebreak.training.prime_rl.config import Spec, build, text
from tiebreak.training.prime_rl.logs import Tail
from tiebreak.training.prime_rl.records import Records


@dataclass(frozen=True)
class PrimeTraining:
    """spec: which training; its view and its out lie in `work`. model: the SFT model; tool: prime-rl's checkout."""

    spec: Spec
    model: Path
    tool: Path
    work: Path

    @property
    def records(self) -> Records:
        """What is written down of it."""
        rlvr = self.spec.rlvr
        return Records(self.work, self.spec.out, size=rlvr.group, batch=rlvr.prompts * rlvr.group)

    def advance(self, until: int) -> None:
        """Train up to step `until`, from the last step that all of prime-rl's parts have."""
        out, records = self.spec.out, self.records
        resume.refuse_evicted(out)
        self.harvest(records)
        done = resume.last_step(out)
        if done is not None and done >= until:
            return
        launch.check(self.tool, self.spec.prime_rl, launch.visible_devices())
        resume.forget_after(out, done)
        records.forget_after(done or 0)
        view.install(self.model, self.spec.view)
        view.prove(self.spec.view, self.spec.prime_rl)
        config = self.work / "rl.toml"
        config.write_text(text(build(self.spec, until=until, resume=done)), encoding="utf-8")
        launch.run(self.tool, config, out, records)
        if resume.last_step(out) != until:
            raise TrainingError(f"{out}: expected a whole checkpoint of step {until}, found {resume.last_step(out)}")

    def harvest(self, records: Records) -> None:
        """What the logs of a run that was killed say, before the next start begins them anew."""
        logs = self.spec.out / "logs"
        for line in Tail(logs / "orchestrator.log").read():
            records.collected(line)
        for line in Tail(logs / "trainer.log").read():
            records.trained(line)

    def export(self, model: Path, step: int) -> None:
        """The adapter of a step as a folder that PEFT and transformers load, with the tokenizer that it speaks with."""
        source = resume.broadcast(self.spec.out, step)
        proof = export_adapter(source, self.model, model, also_called=[self.spec.view])
        print(f"{model}: {proof['tensors']} tensors, they change a logit by up to {proof['largest_change']:.3g}")
        for path in self.spec.view.iterdir():
            if path.name.startswith(view.TOKENIZER):
                shutil.copyfile(path, model / path.name)


def in_folder(spec: Spec, work: Path) -> Spec:
    """The training with its files in a folder, by their whole paths: prime-rl's processes need not start here."""
    whole = work.resolve()
    return replace(spec, view=whole / "view", out=whole / "prime-rl")
