"""The command's entry point; `--version` answers before anything is imported."""

import sys


def main() -> None:
    """Run the command line; exits with the codes of `hypotree.errors`."""
    if sys.argv[1:] == ["--version"]:
        from hypotree import __version__

        sys.stdout.write(f"hypotree {__version__}\n")
        return
    from hypotree.cli.main import run

    run()


if __name__ == "__main__":
    main()
