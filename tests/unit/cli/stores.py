"""Small stores, and what the command line says about them."""

from regent_engine import Store, encode_properties

from backend.cli.app import run

SEGMENT_SIZE = 65_536
INDEX = {"index_slot_count": 50, "index_entry_count": 150}
INDEX_OPTIONS = ("--index-slots", 50, "--index-entries", 150)
NOW_MS = 1_758_000_000_000


def open_store(path, **settings):
    sizes = {"segment_size_bytes": SEGMENT_SIZE, "queue_file_size_bytes": 2_000}
    return Store(str(path), **{**sizes, **INDEX, **settings})


def fill(path):
    """Make a closed store with 200 indexed messages in 4 queues and 2 epochs, over segments."""
    store = open_store(path)
    for turn in range(200):
        if turn % 100 == 0:
            store.begin_epoch(turn + 1)
        properties = encode_properties({"KEYS": f"key-{turn}", "TAGS": "blue"})
        store.append("orders", turn % 4, b"body of %d" % turn + b"." * 900, properties)
    while store.advance_followers(NOW_MS, 0):
        pass
    store.close()
    return path


def append_made_up(path):
    """Append three messages, the second with what looks like a checksum of its record.

    A client gets it into the log as a part of a batch; here it is written into the file.
    """
    store = open_store(path)
    for body, end in ((b"one", b""), (b"two", b"__CRC33#\x010123456789\x02"), (b"three", b"")):
        store.append("orders", 0, body, b"TAGS\x01x\x02" + end)
    while store.advance_followers(NOW_MS, 0):
        pass
    store.close()
    for segment in (path / "commitlog").glob("0*"):
        segment.write_bytes(segment.read_bytes().replace(b"__CRC33#", b"__CRC32#"))


def ask(capsys, *arguments):
    """Run `regent store …`; return its exit code and what it printed."""
    shape = () if "--index-slots" in arguments else INDEX_OPTIONS
    code = run(["store", *map(str, (*arguments, *shape))])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def files_of(directory):
    return {
        path.relative_to(directory): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


def flip(directory, needle):
    """Change one bit of a message's body."""
    for path in sorted((directory / "commitlog").iterdir()):
        content = bytearray(path.read_bytes())
        at = content.find(needle)
        if at >= 0:
            content[at] ^= 1
            path.write_bytes(content)
            return
    raise AssertionError("no such record")
