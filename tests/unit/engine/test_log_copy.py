"""The thread that copies a master's log, through the Python face; the crate tests it itself."""

import subprocess
import sys
from pathlib import Path

from tests.waiting import PATIENCE_S

DROPPED = """
import os, socket, sys, threading

from regent_engine import MasterLink, ReplicaLink, Store

master, replica = (Store(f"{sys.argv[1]}/{name}", segment_size_bytes=1 << 20) for name in "mr")
master.begin_epoch(1)
ours, theirs = socket.socketpair()
end = MasterLink(master, ours.fileno(), 4000)
link = ReplicaLink(replica, broker_id=2, known_epoch=1)
end.receive(link.handshake())
assert link.receive(theirs.recv(1 << 16))
news, wake = os.pipe()
os.set_blocking(wake, False)
try:
    while True:
        os.write(wake, bytes(1 << 12))
except BlockingIOError:
    os.set_blocking(wake, True)
copy = link.begin(theirs.fileno(), wake=wake, reports_appended=True)
end.receive(ours.recv(12))
master.append("orders", 0, b"body", b"")
end.pump(0)
ours.recv(12)

# From here on the thread waits for who hears its news, who waits for the interpreter lock.
is_left = threading.Event()

def hear():
    is_left.wait()
    os.read(news, 1 << 20)

threading.Thread(target=hear, daemon=True).start()
sys.setswitchinterval(1000)
is_left.set()
del copy
"""


def test_one_that_is_dropped_keeps_no_thread_from_the_interpreter(tmp_path: Path) -> None:
    script = [sys.executable, "-c", DROPPED, str(tmp_path)]

    done = subprocess.run(script, timeout=PATIENCE_S, check=False)

    assert done.returncode == 0
