"""What the Hugging Face hub refuses, or the way to it, in words of ours."""

from collections.abc import Iterator
from contextlib import contextmanager

from tiebreak.errors import TiebreakError


@contextmanager
def hub_words(kind: str, name: str, revision: str, error: type[TiebreakError]) -> Iterator[None]:
    """Raise `error`, with what to do, for whatever the hub's client raises inside.

    kind: what is asked for, dataset or model.
    """
    from httpx2 import ConnectError, ConnectTimeout, HTTPError
    from huggingface_hub.errors import (
        CachedRepoTreeNotFoundError,
        GatedRepoError,
        IncompleteSnapshotError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    place = f"{kind} {name} at {revision}"
    try:
        yield
    except RevisionNotFoundError:
        raise error(f"{place}: the hub's {kind} has no such commit; copy it from the {kind}'s history") from None
    except GatedRepoError:
        raise error(f"{place}: the {kind} is gated; ask for access, and set HF_TOKEN") from None
    except RepositoryNotFoundError:
        raise error(f"{place}: the hub has no such {kind}, or it is private (set HF_TOKEN)") from None
    except (IncompleteSnapshotError, CachedRepoTreeNotFoundError, LocalEntryNotFoundError, OfflineModeIsEnabled):
        raise error(
            f"{place}: the hub cannot be reached, and there is no whole copy in its cache; run once with network"
        ) from None
    except (ConnectError, ConnectTimeout) as problem:
        raise error(
            f"{place}: the hub cannot be reached ({problem}), and there is no whole copy in its cache; look at the "
            f"network, HF_ENDPOINT and proxies, or run once where there is network"
        ) from None
    except (HTTPError, OSError) as problem:  # also: no network and no copy, or a download that was cut short
        first = str(problem).strip().split("\n")[0]
        raise error(
            f"{place}: the download failed: {first}; run again: what has arrived is kept and the rest is fetched"
        ) from problem
