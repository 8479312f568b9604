"""`regent store …` on stores that are whole, in use, damaged and absent."""

import json

import pytest
from regent_engine import Store, encode_properties

from backend.cli.app import run

SEGMENT_SIZE = 65_536


@pytest.fixture
def directory(tmp_path):
    """Give a closed store with 200 messages in 4 queues over several segments."""
    store = open_store(tmp_path / "store")
    for turn in range(200):
        properties = encode_properties({"KEYS": f"key-{turn}", "TAGS": "blue"})
        store.append("orders", turn % 4, b"body of %d" % turn + b"." * 900, properties)
    store.close()
    return tmp_path / "store"


def open_store(path):
    return Store(str(path), segment_size_bytes=SEGMENT_SIZE, queue_file_size_bytes=2_000)


def ask(capsys, *arguments):
    code = run(["store", *map(str, arguments)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def files_of(directory):
    return {
        path.relative_to(directory): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


def flip(directory, needle):
    for path in sorted((directory / "commitlog").iterdir()):
        content = bytearray(path.read_bytes())
        at = content.find(needle)
        if at >= 0:
            content[at] ^= 1
            path.write_bytes(content)
            return
    raise AssertionError("no such record")


def test_verify_of_a_whole_store_finds_nothing_and_changes_nothing(directory, capsys):
    before = files_of(directory)

    code, out, _ = ask(capsys, "verify", directory)

    assert code == 0
    assert "200 messages" in out
    assert "nothing is wrong" in out
    assert files_of(directory) == before


def test_verify_says_what_is_lost_and_where(directory, capsys):
    flip(directory, b"body of 100")

    code, out, err = ask(capsys, "verify", directory, "-o", "json")

    assert code == 1
    report = json.loads(out)
    assert not report["is_well"]
    assert report["findings"][0]["kind"] == "damaged_log"
    assert "cannot be read" in err
    assert "restore it from a replica" in err


def test_verify_of_queues_that_do_not_fit_points_to_rebuild(directory, capsys):
    queue = directory / "consumequeue" / "orders" / "2" / f"{0:020}"
    queue.write_bytes(bytes(2_000))

    code, out, err = ask(capsys, "verify", directory)

    assert code == 1
    assert "missing_entry" in out
    assert f"regent store rebuild {directory}" in err


def test_rebuild_brings_the_queues_back_byte_for_byte(directory, capsys):
    before = files_of(directory / "consumequeue")
    (directory / "consumequeue" / "orders" / "2" / f"{0:020}").write_bytes(bytes(2_000))

    code, out, _ = ask(capsys, "rebuild", directory)

    assert code == 0
    assert "4 queues with 200 messages" in out
    assert files_of(directory / "consumequeue") == before
    assert ask(capsys, "verify", directory)[0] == 0
    assert not list(directory.glob("consumequeue.*"))


def test_rebuild_can_leave_the_old_files(directory, capsys):
    before = files_of(directory / "consumequeue")

    code, _, err = ask(capsys, "rebuild", directory, "--keep-old")

    (old,) = directory.glob("consumequeue.*")
    assert code == 0
    assert str(old) in err
    assert files_of(old) == before


def test_a_store_in_use_is_surveyed_but_not_rebuilt(directory, capsys):
    store = open_store(directory)
    before = files_of(directory)

    code, _, err = ask(capsys, "verify", directory)
    assert code == 0
    assert "a broker is using this store" in err
    code, _, err = ask(capsys, "rebuild", directory)
    assert code == 1
    assert "stop the broker and try again" in err

    assert files_of(directory) == before
    store.close()


def test_dump_pages_through_a_queue(directory, capsys):
    code, out, _ = ask(capsys, "dump", directory, "--queue-id", "3", "--limit", "7", "-o", "json")

    records = json.loads(out)
    assert code == 0
    assert [record["queue_offset"] for record in records] == list(range(7))
    assert records[0]["body"].startswith("body of 3.")
    assert records[0]["properties"]["KEYS"] == "key-3"

    position = records[6]["log_position"]
    _, out, _ = ask(capsys, "dump", directory, "--position", position, "--limit", "1", "-o", "json")
    assert json.loads(out)[0]["queue_offset"] == 6


def test_dump_from_the_middle_of_a_record_is_an_error_with_the_next_step(directory, capsys):
    code, out, err = ask(capsys, "dump", directory, "--position", "17")

    assert (code, out) == (1, "")
    assert "17" in err
    assert "next:" in err


def test_stats_count_by_queue(directory, capsys):
    code, out, _ = ask(capsys, "stats", directory, "-o", "json")

    queues = json.loads(out)["queues"]
    assert code == 0
    assert [(queue["queue_id"], queue["record_count"]) for queue in queues] == [
        (queue_id, 50) for queue_id in range(4)
    ]


def test_a_directory_without_a_store_names_those_inside_it(directory, capsys):
    code, _, err = ask(capsys, "stats", directory.parent)

    assert code == 4
    assert f"try {directory}" in err


def test_delay_levels_that_are_none_are_refused(directory, capsys):
    before = files_of(directory)

    code, _, err = ask(capsys, "rebuild", directory, "--delay-levels", "1s 5x")

    assert code == 2
    assert "'5x' is no delay level" in err
    assert files_of(directory) == before


def test_a_rebuild_that_fails_puts_the_old_queues_back(directory, capsys):
    before = files_of(directory / "consumequeue")
    first = min((directory / "commitlog").iterdir())
    first.write_bytes(first.read_bytes()[:1000])

    code, _, err = ask(capsys, "rebuild", directory)

    assert code == 1
    assert "could not be read" in err
    assert files_of(directory / "consumequeue") == before
    assert not list(directory.glob("consumequeue.*"))


def test_a_rebuild_from_a_damaged_log_puts_the_old_queues_back(directory, capsys):
    flip(directory, b"body of 150")
    before = files_of(directory)

    code, _, err = ask(capsys, "rebuild", directory)

    assert code == 1
    assert "read-only" in err
    assert files_of(directory) == before
