"""The process in which an isolated probe runs; stdout carries its answer and nothing else."""

import os
import pickle
import sys


def main() -> None:
    """Read one `ProbeRun` from stdin, run it, answer on stdout; whatever a probe prints is talk."""
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    from hypotree.probe.isolation import answer

    run = pickle.load(sys.stdin.buffer)  # noqa: S301, TID251 - from our own parent, by pipe
    channel.write(answer(run))
    channel.close()


if __name__ == "__main__":
    main()
