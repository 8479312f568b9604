"""`regent store verify|stats|dump` on stores that are whole, in use, damaged and absent."""

import json
import os
import shutil
import sys
import zlib

import pytest
from regent_engine import finding_kinds

from backend.cli import store_files
from backend.cli.store_findings import NOT_REBUILT, OBSTACLES, SEVERITIES, WORDS
from tests.unit.cli.stores import ask, files_of, fill, flip, open_store


@pytest.fixture
def directory(tmp_path):
    return fill(tmp_path / "store")


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


def test_a_store_in_use_is_surveyed_and_its_marks_are_no_findings(directory, capsys):
    store = open_store(directory)
    before = files_of(directory)

    code, out, err = ask(capsys, "verify", directory)

    assert code == 0
    assert "nothing is wrong" in out
    assert "unclean_stop" not in out
    assert "a broker is using this store" in err
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


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        (("--topic", "oders"), "of topic 'oders' in this log; what there is: regent store stats "),
        (("--queue-id", 9, "--position", 0), "in queue 9 from position 0 on; what there is: "),
    ],
)
def test_dump_says_that_nothing_is_what_was_asked_for(directory, capsys, options, reported):
    code, out, err = ask(capsys, "dump", directory, *options, "-o", "json")

    assert (code, json.loads(out)) == (0, [])
    assert f"there is no message {reported}" in err


def test_dump_from_the_middle_of_a_record_is_an_error_with_the_next_step(directory, capsys):
    code, out, err = ask(capsys, "dump", directory, "--position", "17")

    assert (code, out) == (1, "")
    assert "error: no whole record begins at log position 17\n" in err
    assert f"next: take a position that this lists: regent store dump {directory}\n" in err


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


def test_a_wrong_path_is_not_searched_to_its_end(tmp_path, capsys, monkeypatch):
    for number in range(60):
        (tmp_path / f"{number:02}" / "a" / "b").mkdir(parents=True)
    (tmp_path / "loop").symlink_to(tmp_path)
    open_store(tmp_path / "50" / "store").close()
    open_store(tmp_path / "00" / "a" / "b" / "store").close()
    looked_at = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looked_at.append(path) or scan(path))
    monkeypatch.setattr(store_files, "DIRECTORIES_SEARCHED_MAX", 150)

    _, _, err = ask(capsys, "verify", tmp_path)

    assert f"next: try {tmp_path}/50/store\n" in err
    assert len(looked_at) <= 150


@pytest.mark.parametrize("inside", ["commitlog", "consumequeue/orders/0", "index"])
def test_a_directory_inside_a_store_names_the_store(directory, capsys, monkeypatch, inside):
    code, _, err = ask(capsys, "verify", directory / inside)
    monkeypatch.chdir(directory / inside)

    assert code == 4
    assert f"next: try {directory}\n" in err
    assert f"next: try {directory}\n" in ask(capsys, "verify", ".")[2]


@pytest.mark.parametrize("command", ["verify", "stats", "dump", "rebuild"])
@pytest.mark.parametrize("files", [(), ("readme.txt",)])
def test_a_directory_with_no_file_of_a_store_is_none(tmp_path, capsys, command, files):
    log = tmp_path / "commitlog"
    log.mkdir()
    for name in files:
        (log / name).write_text("once there was a log here")

    code, out, err = ask(capsys, command, tmp_path)

    assert (code, out) == (4, "")
    assert f"no message store at {tmp_path}" in err
    assert f"{log} holds no log" in err
    assert "next: give the storePathRootDir" in err


def test_a_store_that_was_never_written_to_is_one(tmp_path, capsys):
    open_store(tmp_path / "store").close()

    code, out, _ = ask(capsys, "verify", tmp_path / "store")

    assert (code, "nothing is wrong" in out) == (0, True)


def test_every_kind_of_finding_has_words_and_every_word_a_kind():
    kinds = dict(finding_kinds())

    assert set(WORDS) == set(kinds)
    assert set(kinds) >= OBSTACLES | NOT_REBUILT
    assert set(kinds.values()) == {*SEVERITIES, "note"}


def write_journal(directory, position):
    lines = f"{position}\n0\n"
    crc = zlib.crc32(lines.encode()) & 0x7FFF_FFFF
    (directory / "truncation").write_text(f"2\n{crc}\n{lines}")


def break_index(directory):
    path = min((directory / "index").iterdir())
    content = bytearray(path.read_bytes())
    content[40 + 4 * 50 + 20 * 7 + 1] ^= 1
    path.write_bytes(content)


def break_epochs(directory):
    (directory / "epochFileCheckpoint").write_text("1\n5\n1-0\n")


def break_both_epochs(directory):
    break_epochs(directory)
    (directory / "epochFileCheckpoint.bak").write_text("1\n5\n1-0\n")


def cut_segment(directory):
    path = min((directory / "commitlog").iterdir())
    path.write_bytes(path.read_bytes()[:1000])


def cut_queue_file(directory):
    path = directory / "consumequeue" / "orders" / "0" / f"{0:020}"
    # All of its entries are left.
    path.write_bytes(path.read_bytes()[:1000])


@pytest.mark.parametrize(
    ("damage", "kind", "summary"),
    [
        (break_index, "wrong_index_entry", "does not fit the log"),
        (break_epochs, "epochs_from_backup", "a safeguard of it is gone"),
        (break_both_epochs, "damaged_epochs", "no broker can open the store"),
        (cut_segment, "odd_segment", "cannot be read"),
        (cut_queue_file, "odd_queue_file", "no broker can open the store"),
        (lambda directory: (directory / "checkpoint").unlink(), "absent_checkpoint", "not fit"),
    ],
)
def test_each_damage_is_reported_with_its_place_its_meaning_and_the_next_step(
    directory, capsys, damage, kind, summary
):
    damage(directory)
    before = files_of(directory)

    code, out, err = ask(capsys, "verify", directory)
    _, reported, _ = ask(capsys, "verify", directory, "-o", "json")

    assert code == 1
    assert f"\n{kind}\n  means: " in out
    assert summary in err
    assert "next: " in err
    (found,) = [found for found in json.loads(reported)["findings"] if found["kind"] == kind][:1]
    assert found["file"].startswith(str(directory))
    assert found["consequence"]
    assert found["next_step"]
    assert "{" not in found["next_step"]
    assert files_of(directory) == before


@pytest.mark.parametrize(
    "command",
    [("verify",), ("stats",), ("dump", "--topic", "unknown"), ("rebuild",), ("dump", "--limit", 1)],
)
@pytest.mark.parametrize("is_terminal", [True, False])
def test_who_waits_at_a_terminal_sees_how_far_a_log_is_read(
    directory, capsys, monkeypatch, command, is_terminal
):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)

    code, out, err = ask(capsys, command[0], directory, *command[1:])

    assert code == 0
    assert (("reading the log" in err) or ("rebuilding" in err)) is is_terminal
    assert "reading the log" not in out


def test_notes_alone_are_no_failure(directory, capsys):
    records = json.loads(ask(capsys, "dump", directory, "--limit", "200", "-o", "json")[1])
    cut_at = records[150]["log_position"]
    write_journal(directory, cut_at)
    (directory / "abort").write_text("17")
    (directory / "index.20260101T000000").mkdir()

    code, out, _ = ask(capsys, "verify", directory)

    assert code == 0
    assert "nothing is wrong" in out
    assert f"the next start cuts the log at {cut_at}" in out
    assert all(kind in out for kind in ("interrupted_truncation", "unclean_stop", "leftover"))
    store = open_store(directory)
    assert store.max_position == cut_at
    store.close()


def test_stats_show_index_epochs_and_checkpoint(directory, capsys):
    _, out, _ = ask(capsys, "stats", directory, "-o", "json")

    reported = json.loads(out)
    assert reported["index"]["key_count"] == 400
    assert [epoch["epoch"] for epoch in reported["epochs"]] == [1, 101]
    assert reported["checkpoint"]["flushed_position"] == reported["end_position"]
    assert reported["truncation_position"] is None
    assert "key index: 400 keys in 3 files" in ask(capsys, "stats", directory)[1]


def test_dump_prints_index_entries_from_a_position_on(directory, capsys):
    records = json.loads(ask(capsys, "dump", directory, "--limit", "50", "-o", "json")[1])
    position = records[40]["log_position"]

    code, out, _ = ask(
        capsys, "dump", directory, "--index", "--position", position, "--limit", "3", "-o", "json"
    )

    assert code == 0
    positions = [key["log_position"] for key in json.loads(out)]
    assert positions == [position, position, records[41]["log_position"]]
    assert ask(capsys, "dump", directory, "--index", "--topic", "orders")[0] == 2


def test_an_index_of_another_shape_is_reported_with_the_options_it_needs(directory, capsys):
    code, out, _ = ask(capsys, "verify", directory, "--index-slots", "60")

    assert code == 1
    assert "give --config, or --index-slots and --index-entries" in out


@pytest.mark.parametrize(
    ("command", "options", "reported"),
    [
        ("dump", ("--position", 2**64), "--position"),
        ("dump", ("--limit", 2**70, "--index"), "--limit"),
        ("dump", ("--index-slots", 2**33, "--index-entries", 10, "--index"), "no index file has"),
        ("stats", ("--index-slots", 2**33, "--index-entries", 10), "no index file has"),
        ("verify", ("--index-slots", 2**29, "--index-entries", 10), "no index file has"),
        ("rebuild", ("--index-slots", 10, "--index-entries", 2**33), "no index file has"),
        ("verify", ("--index-slots", 10, "--index-entries", 1), "--index-entries"),
    ],
)
def test_numbers_that_no_store_has_are_refused_with_the_next_step(
    directory, capsys, command, options, reported
):
    code, out, err = ask(capsys, command, directory, *options)

    assert code == 2
    assert out == ""
    assert reported in err
    assert "next: " in err


@pytest.mark.parametrize("time_ms", [2**61, -(2**61), 253_402_300_800_000])
def test_a_store_time_that_no_calendar_has_is_shown_as_it_is(directory, capsys, time_ms):
    first = min((directory / "commitlog").iterdir())
    content = bytearray(first.read_bytes())
    content[56:64] = time_ms.to_bytes(8, "big", signed=True)
    first.write_bytes(content)

    for command in ("dump", "stats"):
        code, out, _ = ask(capsys, command, directory)

        assert code == 0
        assert f"{time_ms} ms" in out


@pytest.mark.parametrize("name", ["index", "checkpoint", "lock"])
def test_what_verify_cannot_read_is_named_with_another_next_step_than_verify(
    directory, capsys, name
):
    if name == "index":
        shutil.rmtree(directory / name)
        (directory / name).write_text("no directory")
    else:
        (directory / name).unlink()
        (directory / name).mkdir()

    code, _, err = ask(capsys, "verify", directory)

    assert code == 1
    assert f"{directory}/{name}" in err
    assert "next: see that what is named above" in err
