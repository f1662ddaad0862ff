"""What a case is: inputs from a generator, and what `hypotree diagnose` must and must not say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

TRUE = "source-of-truth"
GUESS = "heuristic"


@dataclass(frozen=True)
class Inputs:
    """The draft and what is named beside it, by flag name without its dashes."""

    draft: str
    given: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """One case. Any code that is confirmed by truth and not in `confirmed` or `may` is a false alarm."""

    id: str
    what: str
    make: Callable[[Path], Inputs]
    confirmed: Mapping[str, str] = field(default_factory=dict)
    """Fault code to authority."""
    roots: tuple[str, ...] = ()
    """Codes that must be root causes; no other but those in `may`. None given: not compared."""
    verdict: str = "faulty"
    """`healthy` is asked for if the probes for it are installed, else anything but faulty, which is
    also what `not-faulty` says."""
    clean: tuple[str, ...] = ()
    """Codes that must not be confirmed, by whatever authority."""
    may: tuple[str, ...] = ()
    """Codes that may be confirmed besides."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """Other verdicts that must come out, by code."""
    gate: Mapping[str, str] = field(default_factory=dict)
    """What the gate must answer: `allowed` or a refusal's code, by code."""
    error: str = ""
    """Words of the message with which it must exit 2 instead."""
    says: tuple[str, ...] = ()
    """Words that the human output must hold."""
    needs: tuple[str, ...] = ()
    """Probes without which it cannot be told, besides those that decide its codes."""
    report: str = ""


def healthy(id_: str, what: str, make: Callable[[Path], Inputs], **more: object) -> Case:
    """A case that must not be called faulty."""
    return Case(id_, what, make, verdict=str(more.pop("verdict", "healthy")), **more)  # type: ignore[arg-type]


def faulty(
    id_: str, what: str, make: Callable[[Path], Inputs], *codes: str, **more: object
) -> Case:
    """A case whose codes are confirmed by truth and are its root causes."""
    more.setdefault("roots", codes)
    return Case(id_, what, make, dict.fromkeys(codes, TRUE), **more)  # type: ignore[arg-type]


def undecided(id_: str, what: str, make: Callable[[Path], Inputs], **more: object) -> Case:
    """A case in which the given artifacts determine nothing, which is to be said."""
    return Case(id_, what, make, verdict="inconclusive", **more)  # type: ignore[arg-type]


def refused(
    id_: str, what: str, make: Callable[[Path], Inputs], error: str, **more: object
) -> Case:
    """A case that must end with exit code 2 and a clear message."""
    return Case(id_, what, make, verdict="", error=error, **more)  # type: ignore[arg-type]
