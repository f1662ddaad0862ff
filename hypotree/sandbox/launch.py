"""Start a command inside the box: `python -m hypotree.sandbox.launch SCRATCH MEMORY SECONDS COMMAND…`.

Exits with 97 where there is no Landlock: a command that nothing holds is not started.
"""

import os
import sys
from pathlib import Path

from hypotree.sandbox.box import Box, enter

NO_BOX = 97


def main() -> None:
    """Enter the box and become the command; inherited descriptors but 0 to 2 are closed."""
    scratch, memory, seconds, *command = sys.argv[1:]
    os.closerange(3, 4096)
    guard = enter(Box(Path(scratch), int(memory), int(seconds)))
    if not guard.landlock_abi:
        sys.exit(NO_BOX)
    os.execvp(command[0], command)  # noqa: S606 - the user's own command, in the box


if __name__ == "__main__":
    main()
