"""A server and the GPUs that its job leased, when the job is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tiebreak import devices

SERVER = """
import http.server, os, signal, socketserver, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *arguments):
        pass
def leave(*_):
    time.sleep(1)  # as a model does that is large
    os._exit(0)
signal.signal(signal.SIGTERM, leave)
open(sys.argv[1], "w").write(str(os.getpid()))
socketserver.UnixStreamServer(sys.argv[3], Handler).serve_forever()
"""
JOB = """
import os, sys, time
from pathlib import Path
from tiebreak.devices import lease
from tiebreak.engines.server import Server
folder = Path(sys.argv[1])
command = [sys.executable, str(folder / "server.py"), str(folder / "pid")]
with lease(2, folder=folder / "leases"), Server(command, os.environ, folder / "log", patience=60):
    print("up", flush=True)
    time.sleep(600)
"""


def test_gpus_are_free_when_the_server_of_a_killed_job_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(devices.SIMULATED, "0,1")
    monkeypatch.delenv(devices.ALLOCATION, raising=False)
    (tmp_path / "server.py").write_text(SERVER)
    job = subprocess.Popen([sys.executable, "-c", JOB, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    with job:
        assert job.stdout is not None and job.stdout.readline() == "up\n", (tmp_path / "log").read_text()
        os.kill(job.pid, signal.SIGKILL)
    server = Path("/proc", (tmp_path / "pid").read_text())
    assert server.exists()
    with devices.lease(2, folder=tmp_path / "leases", wait_seconds=60):
        assert not server.exists()
