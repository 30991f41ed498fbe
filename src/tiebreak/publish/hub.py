"""One repository of the hub brought to the state of a release, by one commit or none.

A commit names its parent, so nothing that came in between is overwritten. What was sent from here is remembered
(`memory`): only a state of the remote that we made ourselves is replaced.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tiebreak.errors import HubError
from tiebreak.publish.access import hub_refusals, patient
from tiebreak.publish.memory import Memory
from tiebreak.publish.plan import OWN_FILES, Content, Contents, Plan, content_of, plan_of

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

BRANCH = "main"
ATTEMPTS = 3
SHOWN = 5


@dataclass(frozen=True)
class Target:
    """A repository and the files that it is to hold, by their paths in it."""

    kind: Literal["dataset", "model"]
    repo: str
    files: Mapping[str, Path]

    def __str__(self) -> str:
        return f"{self.kind} {self.repo}"

    def contents(self) -> dict[str, Content]:
        """The files' digests. Raises HubError for one that is not there."""
        return {name: content_of(path) for name, path in self.files.items()}


@dataclass(frozen=True)
class State:
    """A repository at the head of its branch."""

    head: str
    private: bool
    files: Contents


@dataclass(frozen=True)
class Outcome:
    """Where a release is: repository, commit, address, and whether this run made the commit."""

    repo: str
    commit: str
    url: str
    changed: bool


def look(api: "HfApi", target: Target) -> State | None:
    """The state of a target's repository; None where there is none that the token can see."""
    from huggingface_hub.errors import RepositoryNotFoundError
    from huggingface_hub.hf_api import RepoFile

    with hub_refusals(str(target)):
        try:
            about = patient(lambda: api.repo_info(target.repo, repo_type=target.kind, revision=BRANCH))
        except RepositoryNotFoundError:
            return None
        tree = patient(
            lambda: list(api.list_repo_tree(target.repo, repo_type=target.kind, revision=about.sha, recursive=True))
        )
    files = {
        item.path: Content(item.size, item.lfs.sha256 if item.lfs else None, None if item.lfs else item.blob_id)
        for item in tree
        if isinstance(item, RepoFile)
    }
    return State(str(about.sha), bool(about.private), files)


def place(api: "HfApi", target: Target) -> str:
    """A repository's name among all hubs and kinds."""
    return f"{api.endpoint} {target}"


def check(api: "HfApi", target: Target, state: State | None, plan: Plan, memory: Memory, *, private: bool) -> None:
    """Refuse a remote that is ahead of us, or public where the study wants it private. Raises HubError."""
    if state is None:
        return
    if private and not state.private:
        raise HubError(f"{target}: is public, and publish.private is true; make it private at the hub, or write false")
    if (
        plan.is_empty
        or not state.files.keys() - set(OWN_FILES)
        or memory.knows(place(api, target), state.head, state.files)
    ):
        return
    differs = [*plan.changed, *plan.removed, *plan.added]
    names = ", ".join(differs[:SHOWN]) + (f" and {len(differs) - SHOWN} more" if len(differs) > SHOWN else "")
    raise HubError(
        f"{target}: the remote is ahead: its {BRANCH} is at {state.head}, which was not published from here, and "
        f"differs in {names}; look at it, and if it may be replaced: add --over {state.head} to tiebreak publish"
    )


def release(api: "HfApi", target: Target, memory: Memory, *, message: str, private: bool) -> Outcome:
    """Bring a repository to the state of a target: at most one commit upon the head that was looked at.

    Where another commit came first (412), the head is read again, and what is ours is replaced. Raises HubError.
    """
    ours = target.contents()
    for _ in range(ATTEMPTS):
        state = look(api, target) or created(api, target, private=private)
        plan = plan_of(ours, state.files)
        check(api, target, state, plan, memory, private=private)
        if plan.is_empty:
            memory.sent(place(api, target), state.head)
            return Outcome(target.repo, state.head, address(api, target, state.head), changed=False)
        memory.sending(place(api, target), state.head, ours)
        commit = committed(api, target, plan, state.head, message)
        if commit is not None:
            memory.sent(place(api, target), commit)
            return Outcome(target.repo, commit, address(api, target, commit), changed=True)
    raise HubError(f"{target}: {ATTEMPTS} times somebody's commit came first; run the same command again later")


def created(api: "HfApi", target: Target, *, private: bool) -> State:
    """A new repository's state."""
    with hub_refusals(str(target)):
        patient(lambda: api.create_repo(target.repo, repo_type=target.kind, private=private, exist_ok=True))
    found = look(api, target)
    if found is None:
        raise HubError(f"{target}: was made, and the hub does not show it to this token; look at the token's rights")
    return found


def committed(api: "HfApi", target: Target, plan: Plan, parent: str, message: str) -> str | None:
    """The new commit; None where the parent is no longer the head."""
    from huggingface_hub.errors import HfHubHTTPError

    def once() -> str:
        made = api.create_commit(
            target.repo,
            operations(target, plan),  # anew each time: the client changes them
            commit_message=message,
            repo_type=target.kind,
            revision=BRANCH,
            parent_commit=parent,
            num_threads=1,
        )
        return str(made.oid)

    with hub_refusals(str(target)):
        try:
            return patient(once)
        except HfHubHTTPError as problem:
            if problem.response.status_code == HTTPStatus.PRECONDITION_FAILED:
                return None
            raise


def operations(target: Target, plan: Plan) -> "list[CommitOperationAdd | CommitOperationDelete]":
    """What the client is to send: only what differs."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    return [
        *(CommitOperationAdd(path, target.files[path]) for path in plan.sent),
        *(CommitOperationDelete(path, is_folder=False) for path in plan.removed),
    ]


def address(api: "HfApi", target: Target, commit: str) -> str:
    """Where a person looks at a commit."""
    return f"{api.endpoint}/{'datasets/' if target.kind == 'dataset' else ''}{target.repo}/tree/{commit}"
