"""R1, R1b and R2: records appended over bytes copied, and what a connection leaves of that."""

import shutil
import tempfile
import time
from pathlib import Path
from statistics import harmonic_mean

from regent_engine import Connection, HotPath, Store, encode_command

from backend.remoting.request_code import RequestCode
from tests.bench.measure import BLOCK_COUNT, Measure, median, spread
from tests.bench.memory import warm_memory
from tests.bench.native import run_json, taking_turns

BODY_SIZE = 1024
OTHER_SIZES = (128, 4096)
BATCH_SIZE = 64
QUEUE_COUNT = 8
TURN_SENDS = (8 << 20) // BODY_SIZE
WARM_TURN_COUNT, TURN_COUNT = 2, 16
"""As of the native program: what comes first does not count, since a processor that slept needs
some milliseconds to be as fast as it can."""

SEGMENT_BYTES = 256 << 20
BLOCK_MEMORY = 512 << 20
"""What a block takes of the page cache."""

POPULATE_TIMEOUT_S = 60
TOPIC = "Benchmark"
NOW_MS = 1_758_000_000_000
PROPERTIES = "UNIQ_KEY\x01AC11000200002A9F0000000000000001\x02WAIT\x01true\x02"


def measure_appends() -> list[Measure]:
    """Interleave the native program with blocks through Python, on one file system."""
    blocks: dict[int, list[dict[str, float]]] = {size: [] for size in (BODY_SIZE, *OTHER_SIZES)}
    through_python = []
    with tempfile.TemporaryDirectory(prefix="regent-bench-") as directory:
        for _ in range(BLOCK_COUNT):
            for size in (*OTHER_SIZES, BODY_SIZE, BODY_SIZE):
                blocks[size].append(native_block(directory, size))
            through_python += [python_block(directory) for _ in range(2)]
    ratios = [block["gb_per_s"] / block["native_gb_per_s"] for block in through_python]
    return [
        append_measure("R1", BODY_SIZE, blocks[BODY_SIZE], floor=0.30),
        append_measure("R1b", 128, blocks[128], floor=0.25),
        append_measure("R1b", 4096, blocks[4096], floor=0.30),
        Measure(
            "R2",
            "64 sends of 1 KiB in a chunk, through Connection.receive / R1's rate",
            median(ratios),
            floor=0.25,
            facts={
                "blocks": spread(ratios),
                "GB/s": round(median([block["gb_per_s"] for block in through_python]), 3),
            },
            blocks=through_python,
        ),
    ]


def native_block(directory: str, body_size: int) -> dict[str, float]:
    warm_memory(BLOCK_MEMORY)
    figures: dict[str, float] = run_json("limits", directory, str(body_size))
    return figures


def append_measure(
    name: str, body_size: int, blocks: list[dict[str, float]], *, floor: float
) -> Measure:
    """Compare appends with copies on the clock of their thread; print the wall's clock too."""
    ratios = [block["append_gb_per_s"] / block["memcpy_gb_per_s"] for block in blocks]
    wall = [block["append_wall_gb_per_s"] / block["memcpy_wall_gb_per_s"] for block in blocks]
    return Measure(
        name,
        f"append of {body_size} byte records / memcpy of as much",
        median(ratios),
        floor=floor,
        facts={
            "blocks": spread(ratios),
            "by the wall's clock": round(median(wall), 3),
            "memcpy GB/s": median([block["memcpy_gb_per_s"] for block in blocks]),
            "append GB/s": median([block["append_gb_per_s"] for block in blocks]),
            "ns a message": median([block["append_ns"] for block in blocks]),
        },
        blocks=blocks,
    )


def python_block(directory: str) -> dict[str, float]:
    """Send through a connection in turn with the native program, each to a fresh store, in GB/s.

    In turns of a millisecond both meet the same machine, whose speed moves by a quarter within a
    second. The pages are touched just before, as the native program's are: one that the kernel has
    written back meanwhile costs a fault more.
    """
    warm_memory(BLOCK_MEMORY)
    path = Path(directory) / "store"
    with taking_turns("limits", directory, str(BODY_SIZE), "turns") as native_turn:
        store = Store(
            str(path), segment_size_bytes=SEGMENT_BYTES, populate_ahead_bytes=SEGMENT_BYTES
        )
        connection = connect(store)
        chunks = [chunk_of_sends(queue_id) for queue_id in range(QUEUE_COUNT)]
        send_turn(store, connection, chunks)
        deadline = time.monotonic() + POPULATE_TIMEOUT_S
        while store.populated_position < SEGMENT_BYTES:
            if time.monotonic() > deadline:
                raise TimeoutError("the segment was not populated within a minute")
            time.sleep(0.01)
        turns = [
            (send_turn(store, connection, chunks), float(native_turn()))
            for _ in range(WARM_TURN_COUNT + TURN_COUNT)
        ][WARM_TURN_COUNT:]
        sent_count = store.counters().messages
    store.close()
    shutil.rmtree(path)
    if sent_count != (1 + WARM_TURN_COUNT + TURN_COUNT) * TURN_SENDS:
        raise RuntimeError(f"only {sent_count} sends were appended")
    of_python, of_native = zip(*turns, strict=True)
    return {"gb_per_s": harmonic_mean(of_python), "native_gb_per_s": harmonic_mean(of_native)}


def connect(store: Store) -> Connection:
    """Open a connection that takes sends to the topic."""
    host = ("127.0.0.1", 10_911)
    hot = HotPath(store, broker_name="bench-a", cluster_name="bench", store_host=host)
    hot.set_topic(TOPIC, perm=6, read_queue_count=QUEUE_COUNT, write_queue_count=QUEUE_COUNT)
    return Connection(hot, ("127.0.0.1", 50_000))


def chunk_of_sends(queue_id: int) -> bytes:
    """Encode as many sends to a queue as a client keeps in flight."""
    header = {
        "a": "bench",
        "b": TOPIC,
        "c": "TBW102",
        "d": "8",
        "e": str(queue_id),
        "f": "0",
        "g": str(NOW_MS),
        "h": "0",
        "i": PROPERTIES,
        "j": "0",
        "k": "false",
        "m": "false",
    }
    return b"".join(
        encode_command(
            code=RequestCode.SEND_MESSAGE_V2,
            opaque=opaque,
            language="JAVA",
            version=479,
            ext=header,
            body=b"\x42" * BODY_SIZE,
        )
        for opaque in range(BATCH_SIZE)
    )


def send_turn(store: Store, connection: Connection, chunks: list[bytes]) -> float:
    """Append as much as the native program does in a turn.

    Returns GB/s of records on this thread's clock, as of the native program.
    """
    started_at_position = store.max_position
    started_at = time.thread_time()
    for number in range(TURN_SENDS // BATCH_SIZE):
        connection.receive(chunks[number % QUEUE_COUNT], NOW_MS)
    elapsed_s = time.thread_time() - started_at
    return (store.max_position - started_at_position) / elapsed_s / 1e9
