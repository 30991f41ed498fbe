"""One error type for each boundary. The message names the place, what was found, what was expected, and the mend."""


class TiebreakError(Exception):
    """Anything that Tiebreak refuses; the command line prints its text alone, without a traceback."""


class ConfigError(TiebreakError):
    """A study file, profile or option that cannot be used."""


class BlueprintError(TiebreakError):
    """A blueprint or case that breaks the data contract."""


class SandboxError(TiebreakError):
    """The sandbox or toolchain cannot be had (never: the program inside failed)."""


class EngineError(TiebreakError):
    """An inference engine that cannot load or serve a model."""


class RequestError(EngineError):
    """One request to a living engine that failed on every try; the rollout that made it ends in an error."""


class DeviceError(TiebreakError):
    """GPUs that are not here, or not free."""


class TrainingError(TiebreakError):
    """A training that cannot start or go on."""


class TiedError(TrainingError):
    """A training that has come to its end because every group of its batches ties."""


class DataError(TiebreakError):
    """A stored table or file that is damaged, incomplete or does not fit its companions."""


class GateError(TiebreakError):
    """A gate said stop."""


class HubError(TiebreakError):
    """A release that the hub refuses, or that is not fit for it."""
