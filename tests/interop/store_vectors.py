"""The committed store: a small directory written by the stock store, and what stock reads there.

`vectors/stock-store-5.5.0/store` holds the files that have a format (log, queues, index,
checkpoint), `contents.jsonl.xz` what `StoreMain read` prints for them. Written anew with:

    python -m tests.interop.store_vectors
"""

import lzma
import shutil
import tempfile
from pathlib import Path

from tests.interop.client import build
from tests.interop.stock_store import Contents, Sizes, StockStore, by_name, contents_of
from tests.interop.vectors import VECTORS

VECTOR = VECTORS / "stock-store-5.5.0"
STORE = VECTOR / "store"
CONTENTS = VECTOR / "contents.jsonl.xz"
FORMATTED = ("commitlog", "consumequeue", "index", "checkpoint")
SIZES = Sizes(segment=8_192, queue_file=100, slots=20, indexes=60)
SEED, COUNT, BODY_SIZE_MAX = 7, 40, 120


def stored_contents() -> Contents:
    """Return what the stock store reads in the committed directory."""
    return contents_of(by_name(lzma.decompress(CONTENTS.read_bytes()).decode().splitlines()))


def write(stock: StockStore, directory: Path) -> None:
    """Have stock write and read a store in a directory, and keep both."""
    options = {"seed": SEED, "count": COUNT, "body_size_max": BODY_SIZE_MAX}
    stock.write(directory, sizes=SIZES, **options)
    shutil.rmtree(STORE, ignore_errors=True)
    for name in FORMATTED:
        source, target = directory / name, STORE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    CONTENTS.write_bytes(lzma.compress(stock.output("read", directory, **SIZES.options()).encode()))


if __name__ == "__main__":
    build()
    with tempfile.TemporaryDirectory() as temporary:
        write(StockStore(Path(temporary)), Path(temporary) / "store")
