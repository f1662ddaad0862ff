"""Run every benchmark in this folder; each prints what it measured and the ratio."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    sys.path.insert(0, str(HERE.parent))
    for path in sorted(HERE.glob("*.py")):
        if path.stem not in {"run", "measure"}:
            runpy.run_path(str(path), run_name="__main__")


if __name__ == "__main__":
    main()
