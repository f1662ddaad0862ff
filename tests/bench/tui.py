"""First paint and key-to-paint of the terminal UI in a real pseudo-terminal, beside an eager Tree.

`python tests/bench/tui.py [NODES …]`: by default 100, 10,000 and 100,000.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from front.tui.store import make_session

from hypotree.session import Session

KEYS = 60
#: What people write first: every node added to textual's own Tree.
EAGER = """
import sys
from textual.app import App
from textual.widgets import Tree
class Eager(App):
    def compose(self):
        tree = Tree("symptom")
        tree.root.expand()
        for i in range(int(sys.argv[1])):
            tree.root.add_leaf(f"N{i} untested  claim {i}")
        yield tree
Eager().run()
"""


@dataclass(frozen=True)
class Figures:
    """Milliseconds and MiB of one run."""

    frame: float
    paint: float
    keys: list[float]
    memory: float


def run(command: list[str], rows: int = 40, columns: int = 120) -> Figures:
    """Start, wait for the first node, press down many times, leave."""
    started = time.perf_counter()
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
        os.execv(command[0], command)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    first = until(fd, b"symptom") - started
    paint = until(fd, b"N0 ") - started
    quiet(fd, 1.0)
    keys = [press(fd) for _ in range(KEYS)]
    memory = resident(pid)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(fd)
    return Figures(1000 * first, 1000 * paint, keys, memory)


def seen_after(folder: Path) -> list[float]:
    """Milliseconds from another process's event on disk to its text on the screen, ten times."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color")
        os.execv(sys.executable, [sys.executable, "-m", "hypotree", str(folder)])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    until(fd, b"N0 ")
    quiet(fd, 1.5)
    other, found = Session(folder), []
    for turn in range(10):
        other.note("symptom", f"event-{turn}.")
        written = time.perf_counter()
        found.append(1000 * (until(fd, f"event-{turn}.".encode()) - written))
        quiet(fd, 0.3)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(fd)
    return found


def until(fd: int, wanted: bytes, seconds: float = 60) -> float:
    """When `wanted` was written."""
    data, end = b"", time.perf_counter() + seconds
    while wanted not in data:
        if time.perf_counter() > end:
            raise TimeoutError(data[-500:])
        if select.select([fd], [], [], 0.05)[0]:
            data += os.read(fd, 65536)
    return time.perf_counter()


def quiet(fd: int, seconds: float) -> None:
    """Read on until nothing was written for that long."""
    while select.select([fd], [], [], seconds)[0]:
        os.read(fd, 65536)


def press(fd: int) -> float:
    """Milliseconds from the key to the first byte of what it changed."""
    quiet(fd, 0.1)
    started = time.perf_counter()
    os.write(fd, b"\x1b[B")
    select.select([fd], [], [], 10)
    return 1000 * (time.perf_counter() - started)


def resident(pid: int) -> float:
    """Resident memory in MiB."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024


def show(name: str, nodes: int, found: Figures) -> None:
    """One row."""
    keys = sorted(found.keys)
    p95 = keys[int(0.95 * (len(keys) - 1))]
    sys.stdout.write(
        f"{name:<14} {nodes:>7,} nodes  frame {found.frame:7.0f} ms  first node {found.paint:7.0f} ms"
        f"  key median {statistics.median(keys):5.1f}  p95 {p95:6.1f}  max {keys[-1]:6.1f} ms"
        f"  {found.memory:5.0f} MiB\n"
    )
    sys.stdout.flush()


def main() -> None:
    """Print all figures."""
    sizes = [int(word) for word in sys.argv[1:]] or [100, 10_000, 100_000]
    with tempfile.TemporaryDirectory(prefix="hypotree-bench-") as scratch:
        os.environ["XDG_STATE_HOME"] = f"{scratch}/state"
        for nodes in sizes:
            folder = Path(scratch, str(nodes))
            folder.mkdir()
            make_session(folder, nodes, 0)
            ours = run([sys.executable, "-m", "hypotree", str(folder)])
            show("hypotree", nodes, ours)
            eager = run([sys.executable, "-c", EAGER, str(nodes)])
            show("eager Tree", nodes, eager)
            late = sorted(seen_after(folder))
            sys.stdout.write(
                f"{'':<14} another's event is seen after {statistics.median(late):.0f} ms"
                f" (at most {late[-1]:.0f})\n"
            )
            sys.stdout.write(f"{'':<14} first node: {eager.paint / ours.paint:.1f} times as fast\n")


if __name__ == "__main__":
    main()
