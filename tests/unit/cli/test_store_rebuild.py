"""`regent store rebuild`: what it makes, and that whatever stops it changes nothing."""

import json
import shutil

import pytest

from backend.cli import store_rebuild
from tests.unit.cli.stores import ask, files_of, fill, flip, open_store


@pytest.fixture
def directory(tmp_path):
    return fill(tmp_path / "store")


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
    (old_index,) = directory.glob("index.*")
    assert code == 0
    assert str(old) in err
    assert str(old_index) in err
    assert files_of(old) == before


def test_a_store_in_use_is_not_rebuilt(directory, capsys):
    store = open_store(directory)
    before = files_of(directory)

    code, _, err = ask(capsys, "rebuild", directory)

    assert code == 1
    assert "stop the broker and try again" in err
    assert files_of(directory) == before
    store.close()


@pytest.mark.parametrize(
    ("levels", "reported"),
    [
        ("1s 5x", "'5x' is no delay level"),
        # No broker takes these either.
        ("1s 1000000000d", "'1000000000d' is no delay level"),
        ("", "0 delay levels"),
    ],
)
def test_delay_levels_that_are_none_are_refused(directory, capsys, levels, reported):
    before = files_of(directory)

    code, _, err = ask(capsys, "rebuild", directory, "--delay-levels", levels)

    assert code == 2
    assert reported in err
    assert "write levels as in broker.conf" in err
    assert files_of(directory) == before


def test_a_store_that_no_broker_opens_is_not_rebuilt(directory, capsys):
    first = min((directory / "commitlog").iterdir())
    first.write_bytes(first.read_bytes()[:1000])
    before = files_of(directory)

    code, _, err = ask(capsys, "rebuild", directory)

    assert code == 1
    assert "cannot be rebuilt as it is" in err
    assert "odd_segment" in err
    assert files_of(directory) == before


def test_a_rebuild_from_a_damaged_log_leaves_the_store_as_it_was(directory, capsys):
    flip(directory, b"body of 150")
    before = files_of(directory)

    code, _, err = ask(capsys, "rebuild", directory)

    assert code == 1
    assert "the store is as it was" in err
    assert f"regent store verify {directory}" in err
    assert files_of(directory) == before


def test_a_rebuild_that_is_interrupted_leaves_the_store_as_it_was(directory, capsys, monkeypatch):
    before = files_of(directory)

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(store_rebuild, "read_through", interrupt)
    code, _, err = ask(capsys, "rebuild", directory)

    assert code == 130
    assert "interrupted: the store is as it was" in err
    assert files_of(directory) == before
    open_store(directory).close()


def test_a_dry_run_says_what_would_be_done_and_what_is_in_the_way(directory, capsys):
    (directory / "truncation").write_text("damaged")
    before = files_of(directory)

    code, out, err = ask(capsys, "rebuild", directory, "--dry-run")

    assert code == 1
    assert f"in {directory / 'index'}" in out
    assert "nothing was changed" in out
    assert "the log was not read" in err
    assert "damaged_journal" in err
    (directory / "truncation").unlink()
    del before[(directory / "truncation").relative_to(directory)]
    code, out, _ = ask(capsys, "rebuild", directory, "--dry-run", "--only", "queues", "-o", "json")
    assert code == 0
    assert json.loads(out)["parts"] == ["queues"]
    assert files_of(directory) == before


def test_only_the_index_is_rebuilt_if_that_is_asked_for(directory, capsys):
    contents = sorted(path.read_bytes() for path in (directory / "index").iterdir())
    for path in (directory / "index").iterdir():
        path.write_bytes(bytes(path.stat().st_size))
    queues = files_of(directory / "consumequeue")

    code, out, _ = ask(capsys, "rebuild", directory, "--only", "index", "-o", "json")

    assert code == 0
    assert json.loads(out)["key_count"] == 400
    assert sorted(path.read_bytes() for path in (directory / "index").iterdir()) == contents
    assert files_of(directory / "consumequeue") == queues
    assert ask(capsys, "verify", directory)[0] == 0


def test_an_index_of_another_shape_than_the_broker_uses_is_not_made(directory, capsys):
    before = files_of(directory)

    code, _, err = ask(capsys, "rebuild", directory, "--index-slots", "60")

    assert code == 2
    assert "maxHashSlotNum" in err
    assert files_of(directory) == before


def test_a_rebuild_says_that_it_does_not_mend_epochs(directory, capsys):
    (directory / "epochFileCheckpoint").write_text("damaged")

    code, _, err = ask(capsys, "rebuild", directory)

    assert code == 0
    assert f"not mended by this: {directory / 'epochFileCheckpoint'}" in err


def test_a_store_with_queues_that_only_stock_serves_is_not_rebuilt(directory, capsys):
    queue = directory / "batchconsumequeue" / "batches" / "0"
    queue.mkdir(parents=True)
    (queue / f"{0:020}").write_bytes(bytes(46))
    before = files_of(directory)

    told = [ask(capsys, command, directory) for command in ("rebuild", "verify", "stats")]

    for code, _, err in told:
        assert code == 1
        assert "holds batch queues, which only RocketMQ serves" in " ".join(err.split())
        assert "use the tools of the RocketMQ broker that wrote the store" in err
    assert files_of(directory) == before


def test_lost_queues_are_made_in_the_size_that_is_given(directory, capsys):
    before = files_of(directory / "consumequeue")
    shutil.rmtree(directory / "consumequeue")

    # Rounded up to whole entries, as a broker does it.
    code, _, err = ask(capsys, "rebuild", directory, "--queue-file-size", 1_999)

    assert code == 0
    assert "shows the size" not in err
    assert files_of(directory / "consumequeue") == before
    store = open_store(directory)
    assert store.append("orders", 0, b"next", b"").queue_offset == 50
    store.close()


@pytest.mark.parametrize("dry_run", [(), ("--dry-run",)])
def test_a_size_that_nothing_shows_is_named(directory, capsys, dry_run):
    shutil.rmtree(directory / "consumequeue")

    code, out, err = ask(capsys, "rebuild", directory, "-o", "json", *dry_run)

    assert code == 0
    assert "6000000 bytes, as without mappedFileSizeConsumeQueue" in err
    assert "give the same with --queue-file-size" in err
    assert json.loads(out)["queue_file_size_bytes"] == 6_000_000
    # Now its own files show it.
    if not dry_run:
        _, out, err = ask(capsys, "rebuild", directory, "--dry-run")
        assert "would make queue files of 6000000 bytes" in out
        assert "shows the size" not in err


def test_a_size_that_contradicts_the_files_there_is_refused(directory, capsys):
    before = files_of(directory)

    code, _, err = ask(capsys, "rebuild", directory, "--queue-file-size", 4_600)

    assert code == 2
    assert "give --queue-file-size as broker.conf has mappedFileSizeConsumeQueue" in err
    assert "it 4600" in err
    assert files_of(directory) == before


def cut_short(queues, *, count):
    """Leave the first files of as many queues as a crash does: with blocks, without their size."""
    for queue in sorted(queues.glob("*/*"))[:count]:
        (last,) = queue.iterdir()
        last.write_bytes(last.read_bytes()[:65_536])


@pytest.fixture
def crashed(tmp_path):
    """Give a store of 6 000 000 bytes to a queue file, whose broker was killed."""
    directory = tmp_path / "crashed"
    store = open_store(directory, queue_file_size_bytes=6_000_000)
    for turn in range(200):
        store.append("orders", turn % 4, b"body", b"")
    store.close()
    (directory / "abort").write_text("1\n")
    return directory


@pytest.mark.parametrize(("count", "is_assumed"), [(4, True), (3, False)])
def test_files_cut_short_by_a_crash_do_not_show_the_size(crashed, capsys, count, is_assumed):
    before = files_of(crashed / "consumequeue")
    cut_short(crashed / "consumequeue", count=count)

    code, out, err = ask(capsys, "rebuild", crashed, "-o", "json")

    assert code == 0
    assert json.loads(out)["queue_file_size_bytes"] == 6_000_000
    assert ("no queue file shows the size" in err) == is_assumed
    assert files_of(crashed / "consumequeue") == before
    open_store(crashed, queue_file_size_bytes=6_000_000).close()


def test_a_size_that_is_given_overrides_files_cut_short_by_a_crash(crashed, capsys):
    before = files_of(crashed / "consumequeue")
    cut_short(crashed / "consumequeue", count=4)

    code, _, err = ask(capsys, "rebuild", crashed, "--queue-file-size", 6_000_000)

    assert (code, "shows the size" in err) == (0, False)
    assert files_of(crashed / "consumequeue") == before


def test_a_size_that_is_given_overrides_no_file_that_a_clean_stop_left(crashed, capsys):
    (crashed / "abort").unlink()
    cut_short(crashed / "consumequeue", count=4)

    code, _, err = ask(capsys, "rebuild", crashed, "--queue-file-size", 6_000_000)

    assert code == 2
    assert "their sizes in bytes are [65536]" in err


def test_a_file_without_entries_does_not_show_the_size_even_after_a_clean_stop(crashed, capsys):
    (crashed / "abort").unlink()
    queue = crashed / "consumequeue" / "orders" / "0"
    (queue / f"{6_000_000:020}").write_bytes(bytes(4_096 * 5))

    for options in ([], ["--queue-file-size", 6_000_000]):
        code, out, _ = ask(capsys, "rebuild", crashed, "--dry-run", *options)

        assert code == 0
        assert "queue files of 6000000 bytes" in out


def test_files_that_may_be_torn_show_the_size_where_no_others_do(tmp_path, capsys):
    directory = tmp_path / "store"
    size = 5 * 65_536
    store = open_store(directory, queue_file_size_bytes=size)
    store.append("orders", 0, b"body", b"")
    store.close()
    (directory / "abort").write_text("1\n")

    code, out, err = ask(capsys, "rebuild", directory, "--dry-run")

    assert code == 0
    assert f"queue files of {size} bytes" in out
    # The broker's size may be a larger one.
    assert f"that a crash may have cut short show the size of the new ones: {size} bytes" in err
    assert "--queue-file-size" in err
