"""The committed stores: small directories written by the stock store, and what stock reads there.

`<vector>/store` holds the files that have a format (log, queues, index, checkpoint),
`contents.jsonl.xz` what `StoreMain read` prints for them. To write them again, all or the named
ones:

    python -m tests.interop.store_vectors [NAME]...
"""

import lzma
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.interop.java import build
from tests.interop.stock_store import Contents, Sizes, StockStore, by_name, contents_of
from tests.interop.vectors import VECTORS

FORMATTED = ("commitlog", "consumequeue", "batchconsumequeue", "index", "checkpoint")
SIZES = Sizes(segment=8_192, queue_file=100, batch_queue_file=230, slots=20, indexes=60)
SEED, COUNT, BODY_SIZE_MAX = 7, 40, 120


@dataclass(frozen=True, slots=True)
class StoreVector:
    """One of them, filled by one of the scripts of `StoreMain write`."""

    name: str
    script: str

    @property
    def directory(self) -> Path:
        return VECTORS / self.name

    @property
    def store(self) -> Path:
        return self.directory / "store"

    def contents(self) -> Contents:
        """Return what the stock store reads there."""
        lines = lzma.decompress((self.directory / "contents.jsonl.xz").read_bytes())
        return contents_of(by_name(lines.decode().splitlines()))

    def write(self, stock: StockStore, directory: Path) -> None:
        """Have stock write and read a store in a directory, and keep both."""
        options = {"seed": SEED, "count": COUNT, "body_size_max": BODY_SIZE_MAX}
        stock.write(directory, sizes=SIZES, script=self.script, **options)
        shutil.rmtree(self.store, ignore_errors=True)
        for name in FORMATTED:
            source, target = directory / name, self.store / name
            if source.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        read = stock.output("read", directory, **SIZES.options())
        (self.directory / "contents.jsonl.xz").write_bytes(lzma.compress(read.encode()))


PLAIN = StoreVector("stock-store-5.5.0", "plain")
QUEUES = StoreVector("stock-store-queues-5.5.0", "queues")
ALL = (PLAIN, QUEUES)


if __name__ == "__main__":
    build()
    for vector in ALL:
        if vector.name in (sys.argv[1:] or [vector.name]):
            with tempfile.TemporaryDirectory() as temporary:
                vector.write(StockStore(Path(temporary)), Path(temporary) / "store")
