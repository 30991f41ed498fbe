"""The hub's routes: what each is asked, checked strictly, and what it answers."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from . import commits
from .listing import listing
from .messages import Answer, Refused, Request, User, told
from .store import Commit, Store

NAME = re.compile(r"(?=.{1,96}$)[A-Za-z0-9](?:[\w.-]*\w)?/[A-Za-z0-9](?:[\w.-]*\w)?$", re.ASCII)
KIND, REPO, REVISION = r"(?P<kind>models|datasets)", r"(?P<name>[^/]+/[^/]+)", r"(?P<revision>[^/]+)"
LARGE = 10 << 20
IN_LFS = (".parquet", ".safetensors", ".zst", ".gz", ".zip", ".tar")


class Routes:
    """The answers of one hub."""

    def __init__(self, store: Store, users: Mapping[str, User], endpoint: str) -> None:
        self.store, self.users, self.endpoint = store, users, endpoint

    def answer(self, request: Request) -> Answer:
        """The answer of the first route that fits; 501 where none does."""
        for method, pattern, make in ROUTES:
            match = re.fullmatch(pattern, request.path)
            if match and request.method in method.split():
                try:
                    return make(self, request, **match.groupdict())
                except Refused as refused:
                    return refused.answer
        return Answer(501, b'{"error": "this hub has no such route"}')

    def user(self, request: Request) -> User | None:
        """Who asks; nobody without a token. A token that nobody has is refused."""
        if request.token is None:
            return None
        if request.token not in self.users:
            raise Refused(401, "Invalid credentials in Authorization header")
        return self.users[request.token]

    def readable(self, request: Request, kind: str, name: str) -> None:
        """Refuse a repository that is not there, or not for who asks."""
        user = self.user(request)
        owner = name.split("/")[0]
        if self.store.exists(kind, name):
            if not self.store.is_private(kind, name):
                return
            if user is not None and owner in (user.name, *user.organizations):
                return
        raise Refused(401 if user is None else 404, "Repository not found", "RepoNotFound")

    def writable(self, request: Request, owner: str) -> None:
        """Refuse who may not write there."""
        user = self.user(request)
        if user is None:
            raise Refused(401, "Invalid username or password.")
        if user.role != "write" or owner not in (user.name, *user.organizations):
            raise Refused(403, "You don't have the rights to create or change this under the namespace")

    def at(self, kind: str, name: str, revision: str) -> Commit:
        """The commit of a revision."""
        known = self.store.commits(kind, name)
        for commit in [known[-1]] if revision == "main" else known:
            if revision in ("main", commit.id):
                return commit
        raise Refused(404, f"Invalid rev id: {revision}", "RevisionNotFound")

    def whoami(self, request: Request) -> Answer:
        """Who the token belongs to."""
        user = self.user(request)
        if user is None:
            raise Refused(401, "Invalid username or password.")
        teams = [{"type": "org", "name": name, "roleInOrg": "write"} for name in user.organizations]
        token = {"displayName": "a token", "role": user.role}
        return told({"type": "user", "name": user.name, "orgs": teams, "auth": {"accessToken": token}})

    def harnesses(self, request: Request) -> Answer:
        """The list of coding agents that the client asks for once a day, to name one in its own name; none."""
        return told({"standardEnvVars": [], "harnesses": {}})

    def create(self, request: Request) -> Answer:
        """A new repository."""
        asked = request.json
        user = self.user(request)
        owner = asked.get("organization") or (user.name if user else "")
        kind, name = f"{asked.get('type', 'model')}s", f"{owner}/{asked['name']}"
        if not NAME.match(name) or "--" in name or ".." in name or name.endswith(".git"):
            raise Refused(400, f"Invalid repo name: {name}")
        self.writable(request, owner)
        url = f"{self.endpoint}/{'' if kind == 'models' else kind + '/'}{name}"
        if self.store.exists(kind, name):
            answer = json.dumps({"error": "You already created this repo", "url": url}).encode()
            return Answer(409, answer, {"Content-Type": "application/json"})
        self.store.create(kind, name, private=asked.get("visibility") == "private" or bool(asked.get("private")))
        return told({"url": url, "name": name})

    def validate_yaml(self, request: Request) -> Answer:
        """Whether the head of a card is YAML."""
        text = request.json["content"]
        try:
            head = yaml.safe_load(text.split("---")[1]) if text.startswith("---\n") else {}
        except yaml.YAMLError as problem:
            errors = {"errors": [{"message": str(problem)}], "warnings": []}
            return Answer(400, json.dumps(errors).encode(), {"Content-Type": "application/json"})
        warnings = [] if isinstance(head, dict) and head else [{"message": "empty or missing yaml metadata"}]
        return told({"errors": [], "warnings": warnings})

    def about(self, request: Request, kind: str, name: str, revision: str = "main") -> Answer:
        """What the hub says of a repository at a commit."""
        self.readable(request, kind, name)
        commit = self.at(kind, name, revision)
        files = [{"rfilename": path, "size": entry.size} for path, entry in commit.tree.items()]
        private = self.store.is_private(kind, name)
        return told({"id": name, "sha": commit.id, "private": private, "siblings": files, "tags": []})

    def tree(self, request: Request, kind: str, name: str, revision: str, path: str = "") -> Answer:
        """The files of a commit, or of a folder in it."""
        self.readable(request, kind, name)
        found = listing(self.at(kind, name, revision), path or "", request.query.get("recursive") == ["true"])
        if path and not found:
            raise Refused(404, f"{path} does not exist", "EntryNotFound")
        return told(found)

    def paths_info(self, request: Request, kind: str, name: str, revision: str) -> Answer:
        """Files and folders of a commit by their paths; what is not there is left out."""
        self.readable(request, kind, name)
        commit = self.at(kind, name, revision)
        every = {item["path"]: item for item in listing(commit, "", recursive=True)}
        return told([every[path] for path in request.json["paths"] if path in every])

    def resolve(self, request: Request, name: str, revision: str, path: str, kind: str = "models") -> Answer:
        """A file of a commit; of a large one, where it is."""
        kind = kind.removesuffix("/") if kind else "models"
        self.readable(request, kind, name)
        commit = self.at(kind, name, revision)
        if path not in commit.tree:
            refused = Refused(404, "Entry not found", "EntryNotFound").answer
            return Answer(404, refused.body, {**refused.headers, "X-Repo-Commit": commit.id})
        entry = commit.tree[path]
        headers = {"X-Repo-Commit": commit.id, "ETag": f'"{entry.oid}"'}
        if not entry.lfs:
            return Answer(200, self.store.get(entry.sha256), headers)
        store = self.endpoint.replace("127.0.0.1", "localhost")  # another host, as the hub's own store is
        linked = {"X-Linked-Etag": f'"{entry.sha256}"', "X-Linked-Size": str(entry.size)}
        return Answer(302, b"", {**headers, **linked, "Location": f"{store}/_content/{entry.sha256}"})

    def content(self, request: Request, sha256: str) -> Answer:
        """A large file; a signed address needs no token."""
        if not self.store.has(sha256):
            raise Refused(404, "no such content")
        return Answer(200, self.store.get(sha256), {"ETag": f'"{sha256}"'})

    def preupload(self, request: Request, kind: str, name: str, revision: str) -> Answer:
        """How each file is to be sent, and what is there now."""
        self.readable(request, kind, name)
        self.writable(request, name.split("/")[0])
        tree = self.at(kind, name, revision).tree
        answers = []
        for file in request.json["files"]:
            path, there = file["path"], tree.get(file["path"])
            large = path.endswith(IN_LFS) or file["size"] > LARGE
            now = None if there is None else there.sha256 if there.lfs else there.oid
            mode = "lfs" if large else "regular"
            answers.append({"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": now})
        return told({"files": answers})

    def commit(self, request: Request, kind: str, name: str, revision: str) -> Answer:
        """One commit, or an error and nothing."""
        self.readable(request, kind, name)
        self.writable(request, name.split("/")[0])
        head = self.at(kind, name, revision)
        lines = [json.loads(line) for line in request.body.splitlines()]
        try:
            title, tree = commits.applied(self.store, head, lines)
        except commits.Unfit as problem:
            raise Refused(problem.status, str(problem), problem.code) from None
        made = self.store.commit(kind, name, head.id, title, tree)
        return told({"success": True, "commitOid": made.id, "commitUrl": f"{self.endpoint}/{name}/commit/{made.id}"})

    def batch(self, request: Request, name: str, kind: str | None = None) -> Answer:
        """Where each large file is to be put; nothing to do for those that are here."""
        self.writable(request, name.split("/")[0])
        asked = request.json
        if asked["operation"] != "upload" or "basic" not in asked["transfers"] or asked["hash_algo"] != "sha256":
            raise Refused(422, "this hub takes basic uploads by sha256")
        return told({"transfer": "basic", "objects": [self.object(item) for item in asked["objects"]]})

    def object(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """What the batch says of one large file; the address is signed, as a store's would be."""
        sha256, size = item["oid"], item["size"]
        if self.store.has(sha256):
            return {"oid": sha256, "size": size}
        place = f"{self.endpoint}/_large/{sha256}/{size}"
        actions = {"upload": {"href": f"{place}?signature=SIGNED"}, "verify": {"href": f"{place}/verify"}}
        return {"oid": sha256, "size": size, "actions": actions}

    def put(self, request: Request, sha256: str, size: str) -> Answer:
        """A large file."""
        if request.query.get("signature") != ["SIGNED"]:
            raise Refused(403, "the address is not signed")
        if len(request.body) != int(size) or commits.sha256_of(request.body) != sha256:
            raise Refused(400, "these are not the bytes that were announced")
        self.store.put(request.body)
        return Answer(200)

    def verify(self, request: Request, sha256: str, size: str) -> Answer:
        """Whether a large file has arrived."""
        self.user(request)
        if request.json != {"oid": sha256, "size": int(size)} or not self.store.has(sha256):
            raise Refused(404, "the content has not arrived")
        return told({})


ROUTES: list[tuple[str, str, Callable[..., Answer]]] = [
    ("GET", "/api/whoami-v2", Routes.whoami),
    ("GET", "/api/agent-harnesses", Routes.harnesses),
    ("POST", "/api/repos/create", Routes.create),
    ("POST", "/api/validate-yaml", Routes.validate_yaml),
    ("GET", f"/api/{KIND}/{REPO}", Routes.about),
    ("GET", f"/api/{KIND}/{REPO}/revision/{REVISION}", Routes.about),
    ("GET", f"/api/{KIND}/{REPO}/tree/{REVISION}(?:/(?P<path>.*))?", Routes.tree),
    ("POST", f"/api/{KIND}/{REPO}/paths-info/{REVISION}", Routes.paths_info),
    ("POST", f"/api/{KIND}/{REPO}/preupload/{REVISION}", Routes.preupload),
    ("POST", f"/api/{KIND}/{REPO}/commit/{REVISION}", Routes.commit),
    ("POST", r"/(?P<kind>datasets/)?(?P<name>[^/]+/[^/]+)\.git/info/lfs/objects/batch", Routes.batch),
    ("PUT", r"/_large/(?P<sha256>\w{64})/(?P<size>\d+)", Routes.put),
    ("POST", r"/_large/(?P<sha256>\w{64})/(?P<size>\d+)/verify", Routes.verify),
    ("GET HEAD", r"/_content/(?P<sha256>\w{64})", Routes.content),
    ("GET HEAD", f"/(?P<kind>datasets/)?{REPO}/resolve/{REVISION}/(?P<path>.+)", Routes.resolve),
]
