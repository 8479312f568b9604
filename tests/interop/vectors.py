"""The committed frames: a compact choice of what stock clients and stock servers said.

`vectors/<recording>/<request code>-<request|answer>-from-<client|server>.frames` holds a few whole
frames back to back. To choose them again from a recording:

    python -m tests.interop.vectors RECORDING_DIRECTORY NAME
"""

import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tests.interop.frames import NamedFrame, connections, named

VECTORS = Path(__file__).parent / "vectors"
FRAME_SIZE_MAX = 12_000
"""Larger frames differ from smaller ones in nothing but their body."""


def choose(frames: Iterable[NamedFrame]) -> dict[str, list[bytes]]:
    """Choose, for every kind of frame, a few of different size."""
    kinds: dict[str, list[bytes]] = defaultdict(list)
    for frame in frames:
        role = "answer" if frame.frame.is_response else "request"
        kinds[f"{frame.request_code}-{role}-from-{frame.sender}"].append(frame.frame.content)
    chosen = {}
    for kind, contents in kinds.items():
        by_size = sorted(contents, key=len)
        small = [content for content in by_size if len(content) <= FRAME_SIZE_MAX] or by_size[:1]
        few = (small[0], small[len(small) // 2], small[-1])
        chosen[kind] = list(dict.fromkeys(few))
    return chosen


def write(recording: Path, name: str) -> None:
    frames = (frame for pair in connections(recording) for frame in named(*pair))
    directory = VECTORS / name
    directory.mkdir(parents=True, exist_ok=True)
    for kind, contents in choose(frames).items():
        (directory / f"{kind}.frames").write_bytes(b"".join(contents))


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2])
