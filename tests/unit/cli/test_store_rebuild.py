"""`regent store rebuild`: what it makes, and that whatever stops it changes nothing."""

import json

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


def test_delay_levels_that_are_none_are_refused(directory, capsys):
    before = files_of(directory)

    code, _, err = ask(capsys, "rebuild", directory, "--delay-levels", "1s 5x")

    assert code == 2
    assert "'5x' is no delay level" in err
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
