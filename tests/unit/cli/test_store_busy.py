"""What `regent store` says of a log that its broker writes at the same moment."""

import threading

import pytest
from regent_engine import LogReader, encode_properties

from tests.unit.cli.stores import ask, open_store

SEGMENT_SIZE = 128 << 20
SURVEYS = 5
BATCH = [(b"body" * 200, encode_properties({"TAGS": "blue"}))] * 50


@pytest.fixture
def directory(tmp_path):
    """Give a store with a writer that stops when the test is over."""
    settings = {"segment_size_bytes": SEGMENT_SIZE, "queue_file_size_bytes": 600_000}
    # With a checkpoint.
    open_store(tmp_path / "store", **settings).close()
    store = open_store(tmp_path / "store", **settings)
    for queue_id in range(4):
        store.append("orders", queue_id, b"first", b"")
    is_over = threading.Event()

    def write():
        turn = 0
        while not is_over.is_set() and store.max_position < SEGMENT_SIZE - (1 << 20):
            turn += 1
            for body, properties in BATCH:
                store.append("orders", turn % 4, body, properties)

    writer = threading.Thread(target=write)
    writer.start()
    yield tmp_path / "store"
    is_over.set()
    writer.join()
    store.close()


@pytest.mark.parametrize("command", ["stats", "verify"])
def test_a_log_that_is_being_written_is_sound(directory, capsys, command):
    for _ in range(SURVEYS):
        code, out, err = ask(capsys, command, directory)

        assert (code, "damaged" in err) == (0, False), out + err


def test_no_record_of_a_log_that_is_being_written_is_passed_over(directory):
    for _ in range(SURVEYS):
        reader = LogReader(str(directory))
        end, is_over = 0, False
        while not is_over:
            records, remarks = reader.read(500)
            is_over = len(records) < 500
            assert remarks == []
            for record in records:
                assert record.log_position == end
                end += record.size
