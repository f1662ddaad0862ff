"""What the inspector says, as lines: the screen and `hypotree inspect --text` show the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from hypotree.tui.inspecting.compare import Pair
from hypotree.tui.inspecting.source import Source, TensorRow
from hypotree.tui.inspecting.statistics import Statistics
from hypotree.tui.lines import BLANK, Line, Role, Span, columns, heading, line, said

_BARS: Final = " ▁▂▃▄▅▆▇█"
_STATES: Final[dict[str, Role]] = {
    "only left": "warn", "only right": "warn", "layout differs": "bad", "same layout": "dim",
}  # fmt: skip


def tensor_line(row: TensorRow) -> Line:
    """One tensor in a list."""
    return line(
        said(f"{row.name}  ", "strong", 300), said(f"{row.dtype} {list(row.shape)}"),
        said(f"  {row.size:,} bytes", "dim"), key=row.name,
    )  # fmt: skip


def pair_line(pair: Pair) -> Line:
    """One name in two checkpoints."""
    equal = {True: "bytes equal", False: "BYTES DIFFER", None: ""}[pair.bytes_equal]
    between = pair.left if pair.left == pair.right else f"{pair.left or '-'} | {pair.right or '-'}"
    return line(
        said(f"{pair.state:<15} ", _STATES[pair.state]), said(f"{pair.name}  ", "strong", 300),
        said(between), said(f"  {equal}", "good" if pair.bytes_equal else "bad"), key=pair.name,
    )  # fmt: skip


def overview_lines(source: Source) -> Iterator[Line]:
    """Files, dtypes, metadata and config of a whole checkpoint."""
    total = sum(row.size for row in source.tensors)
    yield line(said(source.path, "strong"))
    yield line(said(f"{len(source.tensors):,} tensors, {total:,} bytes"))
    yield BLANK
    yield heading("Files")
    counts: dict[str, int] = {}
    for row in source.tensors:
        counts[row.file] = counts.get(row.file, 0) + 1
    rows = [(file, size, counts.get(file, 0)) for file, size in source.files.items()]
    yield from columns(("file", "bytes", "tensors"), rows)
    yield BLANK
    yield heading("Dtypes")
    yield from columns(("dtype", "tensors", "bytes"), _dtypes(source))
    yield BLANK
    yield from _metadata(source)
    yield from _config(source)


def _dtypes(source: Source) -> list[tuple[str, int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for row in source.tensors:
        count, size = found.get(row.dtype, (0, 0))
        found[row.dtype] = (count + 1, size + row.size)
    return [(dtype, count, size) for dtype, (count, size) in sorted(found.items())]


def _metadata(source: Source) -> Iterator[Line]:
    yield heading("Metadata")
    for file, metadata in source.metadata.items():
        for key, value in metadata.items():
            yield line(said(f"  {file}: {key} = ", "dim"), said(value, "", 4000), indent=4)
    if not any(source.metadata.values()):
        yield line(said("  none", "dim"))
    yield BLANK


def _config(source: Source) -> Iterator[Line]:
    yield heading("Config")
    if source.config_problem:
        yield line(said(f"  {source.config_problem}", "warn"), indent=4)
    elif not source.config:
        yield line(said("  none", "dim"))
    for text in json.dumps(source.config, indent=2, default=str).splitlines():
        yield line(said(f"  {text}"), indent=4)


def tensor_lines(row: TensorRow) -> Iterator[Line]:
    """What the header says of one tensor."""
    yield line(said(row.name, "strong", 1000))
    yield line(said(f"{row.dtype} {list(row.shape)}, {row.size:,} bytes"))
    yield line(said(f"{row.file}, bytes {row.begin:,} to {row.end:,}", "dim"))


def statistics_lines(found: Statistics) -> Iterator[Line]:
    """Numbers, then the histogram."""
    yield heading("Statistics")
    names = ("count", "nan", "infinite", "zero", "low", "high", "mean", "std")
    for name in names:
        value = getattr(found, name)
        role: Role = "bad" if name in {"nan", "infinite"} and value else ""
        yield line(
            said(f"  {name:<9} ", "dim"), said("none" if value is None else f"{value:,}", role)
        )
    if not found.is_whole:
        yield line(said("  stopped: of a part only", "warn"))
    if found.low is not None and found.high is not None:
        yield line(Span(f"  {found.low:<10.4g} ", "dim"), Span(_bars(found.histogram), "accent"),
                   Span(f" {found.high:.4g}", "dim"))  # fmt: skip


def _bars(counts: tuple[int, ...]) -> str:
    """Each count as a bar; what is not zero is never drawn as nothing."""
    top = max([*counts, 1])
    return "".join(_BARS[0 if c == 0 else max(1, round(8 * c / top))] for c in counts)


def values_lines(values: Iterable[object], start: int) -> Iterator[Line]:
    """Elements with their indices, eight a row."""
    yield heading("Values")
    shown = [f"{v:.6g}" if isinstance(v, float) else str(v) for v in values]
    for at in range(0, len(shown), 8):
        cells = "  ".join(cell.rjust(10) for cell in shown[at : at + 8])
        yield line(said(f"{start + at:>10}: ", "dim"), said(cells), indent=12)
