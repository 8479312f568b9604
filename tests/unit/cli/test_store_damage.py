"""`regent store …` on stores with damage, with what looks like damage, and in odd surroundings."""

import json
import subprocess
import sys

import pytest

from backend.cli import store_files
from backend.cli.errors import CommandError
from tests.unit.cli.stores import (
    append_made_up,
    ask,
    files_of,
    fill,
    flip,
    open_store,
)

QUEUE_OFFSET_AT = 20
"""In a record (storage-and-ha.md 2.2); no checksum covers it."""


@pytest.fixture
def directory(tmp_path):
    return fill(tmp_path / "store")


def test_a_checksum_that_a_client_made_up_is_noted_and_is_damage_only_with_crc(directory, capsys):
    append_made_up(directory)

    code, out, _ = ask(capsys, "verify", directory, "-o", "json")
    report = json.loads(out)
    assert (code, report["is_well"]) == (0, True)
    assert [found["kind"] for found in report["findings"]] == ["wrong_record_crc"]
    assert f"regent store verify {directory} --crc" in report["findings"][0]["next_step"]

    code, out, _ = ask(capsys, "verify", directory, "--crc", "-o", "json")
    assert code == 1
    assert "damaged_log" in [found["kind"] for found in json.loads(out)["findings"]]


def test_a_checksum_that_a_client_made_up_stops_no_rebuild_without_crc(directory, capsys):
    append_made_up(directory)
    before = files_of(directory)

    code, _, err = ask(capsys, "rebuild", directory, "--crc")
    assert code == 1
    assert "checksum of the record" in err
    assert files_of(directory) == before

    code, out, err = ask(capsys, "rebuild", directory, "-o", "json")
    assert code == 0
    assert json.loads(out)["wrong_crc_count"] == 1
    position = json.loads(out)["first_wrong_crc_position"]
    assert f"checksum does not fit: 1, the first at log position {position}" in err
    assert "--crc" in err
    _, out, _ = ask(capsys, "dump", directory, "--position", position, "--limit", 1, "-o", "json")
    assert json.loads(out)[0]["body"] == "two"
    code, out, _ = ask(capsys, "verify", directory)
    assert code == 0
    assert "203 messages" in out


def test_a_rebuild_reports_records_that_no_queue_can_hold(directory, capsys):
    _, out, _ = ask(capsys, "dump", directory, "--limit", 2, "-o", "json")
    position = json.loads(out)[1]["log_position"]
    impossible = (1 << 62).to_bytes(8, "big")
    with (directory / "commitlog" / f"{0:020}").open("r+b") as segment:
        segment.seek(position + QUEUE_OFFSET_AT)
        segment.write(impossible)

    code, out, err = ask(capsys, "rebuild", directory, "-o", "json")

    assert code == 0
    assert json.loads(out)["unqueued_count"] == 1
    assert "no queue can hold and no consumer gets: 1" in err
    code, out, _ = ask(capsys, "verify", directory, "-o", "json")
    assert code == 1
    assert [found["kind"] for found in json.loads(out)["findings"]] == ["missing_entry"]


def test_dump_shows_a_message_with_a_made_up_checksum_and_says_so(directory, capsys):
    append_made_up(directory)

    code, out, err = ask(capsys, "dump", directory, "--limit", 300, "-o", "json")

    records = json.loads(out)
    assert code == 0
    assert [record["body"] for record in records[-3:]] == ["one", "two", "three"]
    position, end = (record["log_position"] for record in records[-2:])
    assert f"log positions {position} to {end}: the record's own checksum does not fit" in err


def test_dump_says_where_the_log_is_damaged_as_far_as_it_goes(directory, capsys):
    whole = json.loads(ask(capsys, "dump", directory, "--limit", 200, "-o", "json")[1])
    flip(directory, b"body of 100")
    position, end = (record["log_position"] for record in whole[100:102])
    gap = f"log positions {position} to {end}: "

    code, out, err = ask(capsys, "dump", directory, "--limit", 200, "-o", "json")
    assert code == 6
    assert len(json.loads(out)) == 199
    assert gap in err
    assert f"next: regent store verify {directory}" in err

    code, _, err = ask(capsys, "dump", directory, "--limit", 100)
    assert (code, err) == (0, "")


def test_dump_goes_on_behind_damage_at_the_end_of_a_page(directory, capsys, monkeypatch):
    monkeypatch.setattr("backend.cli.store_log.PAGE_RECORDS", 100)
    flip(directory, b"body of 100")

    code, out, _ = ask(capsys, "dump", directory, "--limit", 200, "-o", "json")

    assert (code, len(json.loads(out))) == (6, 199)


def test_dump_and_stats_say_that_segments_are_missing(directory, capsys):
    second = sorted((directory / "commitlog").glob("0*"))[1]
    second.unlink()

    code, _, err = ask(capsys, "dump", directory, "--limit", 200)
    assert code == 6
    assert f"log positions {int(second.name)} to {2 * int(second.name)}: " in err

    code, out, err = ask(capsys, "stats", directory, "-o", "json")
    assert code == 6
    counted = json.loads(out)
    assert (counted["is_log_whole"], counted["log_finding_count"]) == (False, 1)
    # What is left is counted.
    assert 0 < sum(queue["record_count"] for queue in counted["queues"]) < 200
    assert f"next: regent store verify {directory}" in err


def test_stats_say_that_the_end_of_a_flushed_log_is_lost(directory, capsys):
    last = max((directory / "commitlog").glob("0*"))
    last.write_bytes(bytes(last.stat().st_size))

    code, _, err = ask(capsys, "stats", directory)

    assert code == 6
    assert f"next: regent store verify {directory}" in err


def test_dump_names_what_the_lost_end_of_a_flushed_log_held(directory, capsys):
    segments = sorted((directory / "commitlog").glob("0*"))
    end = json.loads(ask(capsys, "stats", directory, "-o", "json")[1])["end_position"]
    segments[-1].write_bytes(bytes(segments[-1].stat().st_size))

    code, _, err = ask(capsys, "dump", directory, "--limit", 300)

    lost = f"log positions {int(segments[-1].name)} to {end}: they were flushed once, and are lost"
    assert lost in err
    assert code == 6
    assert f"next: regent store verify {directory}" in err


def test_what_gives_up_damage_names_the_first_of_all(directory, capsys):
    for body in (b"body of 100", b"body of 20"):
        flip(directory, body)
    last = max((directory / "commitlog").glob("0*"))
    last.write_bytes(bytes(last.stat().st_size))

    report = json.loads(ask(capsys, "verify", directory, "-o", "json")[1])

    kinds = {"damaged_log", "lost_tail"}
    damages = [found for found in report["findings"] if found["kind"] in kinds]
    assert len(damages) == 3
    first = min(found["position"] for found in damages)
    for found in damages:
        assert f"cutDamageAt={first} " in found["next_step"], found
    out = ask(capsys, "verify", directory)[1]
    assert out.count(f"cutDamageAt={first} ") == out.count("cutDamageAt=") == 2


def test_stats_speak_of_the_log_alone(directory, capsys):
    for path in (directory / "consumequeue").rglob("0" * 15 + "*"):
        path.write_bytes(bytes(path.stat().st_size))

    code, out, _ = ask(capsys, "stats", directory, "-o", "json")

    counted = json.loads(out)
    assert (code, counted["is_log_whole"], counted["log_finding_count"]) == (0, True, 0)
    assert "finding_count" not in counted
    assert ask(capsys, "verify", directory)[0] == 1


def test_stats_of_a_store_with_notes_alone_point_to_verify(directory, capsys):
    assert ask(capsys, "stats", directory)[2] == ""
    append_made_up(directory)

    code, _, err = ask(capsys, "stats", directory)

    assert code == 0
    assert f"regent store verify {directory}" in err


def test_stores_with_more_files_than_a_process_may_open_can_be_read(tmp_path):
    directory = tmp_path / "store"
    settings = {"segment_size_bytes": 4096, "index_slot_count": 5, "index_entry_count": 4}
    store = open_store(directory, **settings)
    for turn in range(300):
        store.append("orders", 0, b"." * 900, b"KEYS\x01key-%d\x02" % turn)
    while store.advance_followers(1_758_000_000_000, 0):
        pass
    store.close()
    assert len(list((directory / "commitlog").glob("0*"))) > 60
    assert len(list((directory / "index").iterdir())) > 60

    for command in (["verify"], ["stats"], ["dump"], ["rebuild", "--only", "queues"]):
        shape = ["--index-slots", "5", "--index-entries", "4"]
        limits = "resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))"
        run = f"run({['store', *command, str(directory), *shape]})"
        program = (
            "import resource, sys; from backend.cli.app import run; import backend.cli.store;"
            f" {limits}; sys.exit({run})"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=False, text=True
        )
        assert done.returncode == 0, done.stderr


def test_who_may_only_read_a_store_sees_that_it_is_in_use(directory, capsys, monkeypatch):
    store = open_store(directory)
    lock = directory / "lock"
    lock.chmod(0o444)
    opened = []
    path_open = type(lock).open

    def open_for_reading(path, mode="r", *arguments, **options):
        if path != lock:
            # What a command loads on its first run.
            return path_open(path, mode, *arguments, **options)
        opened.append(mode)
        if set(mode) & set("wa+"):
            raise PermissionError(path)
        return path_open(path, mode, *arguments, **options)

    monkeypatch.setattr(type(lock), "open", open_for_reading)

    _, out, err = ask(capsys, "verify", directory, "-o", "json")

    assert opened == ["rb"]
    assert json.loads(out)["is_in_use"]
    assert "a broker is using this store" in err
    store.close()
    del store
    assert not json.loads(ask(capsys, "verify", directory, "-o", "json")[1])["is_in_use"]


def test_a_lock_file_that_cannot_be_read_is_no_sign_of_a_stopped_broker(directory, monkeypatch):
    def refuse(path, *_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(type(directory), "open", refuse)

    with pytest.raises(CommandError, match="could not be read"):
        store_files.is_in_use(store_files.StorePaths(directory, directory / "commitlog"))


def test_a_log_that_cannot_be_listed_is_not_called_none(tmp_path, monkeypatch):
    (tmp_path / "commitlog").mkdir()

    def refuse(_path):
        raise PermissionError

    monkeypatch.setattr("pathlib.Path.iterdir", refuse)

    assert store_files.locate(tmp_path, None).root == tmp_path
