"""A log that may have lost its end is not counted on until it is whole again (D11)."""

import pytest
from regent_engine import Store

from workers.broker.replication.verification import begin_verification

FIRST = "first 7 7"
SECOND = "second 7 7"


@pytest.fixture
def root(tmp_path):
    return tmp_path / "store"


def begin(root, run=FIRST):
    return begin_verification(root, root / "commitlog", run=run)


def test_a_new_store_and_one_that_was_closed_are_verified(root):
    assert begin(root).is_verified
    assert begin(root, SECOND).is_verified


def test_a_process_that_was_killed_has_lost_nothing(root):
    begin(root)
    (root / "abort").write_text("1")

    assert begin(root).is_verified


def test_what_a_failed_flush_left_in_memory_may_be_missing(root):
    begin(root)
    (root / "abort").write_text("1\nunflushed\n")

    assert not begin(root).is_verified


def test_a_machine_that_went_down_may_have_lost_the_end(root):
    begin(root)
    (root / "abort").write_text("1")

    assert not begin(root, SECOND).is_verified


@pytest.mark.parametrize("run", ["first 8 7", "first 7 8"])
def test_a_file_system_that_was_mounted_again_may_have_lost_the_end(root, run):
    begin(root)
    (root / "abort").write_text("1")

    assert not begin(root, run).is_verified


def test_a_former_version_named_the_boot_only(root):
    begin(root, "first")
    (root / "abort").write_text("1")

    assert begin(root).is_verified
    assert (root / ".boot").read_text() == FIRST + "\n"


def test_a_broker_names_the_run_as_its_engine_does(root):
    begin_verification(root, root / "log")
    store = Store(str(root), commit_log_path=str(root / "log"))
    run = (root / "abort").read_text().splitlines()[1]
    store.close()

    assert (root / ".boot").read_text() == run + "\n"


def test_neither_a_clean_stop_nor_a_restart_verifies_a_log(root):
    begin(root)
    (root / "abort").write_text("1")
    begin(root, SECOND)
    (root / "abort").unlink()

    again = begin(root, SECOND)

    assert not again.is_verified
    again.succeed()
    assert begin(root, SECOND).is_verified


def test_a_store_of_unknown_history_that_was_not_closed_is_not_verified(root):
    root.mkdir()
    (root / "abort").write_text("1")

    assert not begin(root).is_verified


def test_who_doubts_a_log_is_heard_by_later_starts_until_it_is_whole(root):
    begin(root).doubt("its end was cut")

    again = begin(root)

    assert not again.is_verified
    again.succeed()
    assert begin(root).is_verified


def test_a_mark_that_cannot_be_read_is_not_taken_for_a_clean_stop(root):
    begin(root)
    (root / "abort").symlink_to("abort")

    with pytest.raises(OSError, match="abort"):
        begin(root)


def test_whatever_is_in_the_files_of_a_store_that_was_not_closed_it_is_not_verified(root):
    begin(root)
    (root / "abort").write_bytes(b"\xff\nunflushed\n")
    assert not begin(root).is_verified

    (root / ".unverified").unlink()
    (root / "abort").write_bytes(b"\xff")
    (root / ".boot").write_bytes(b"\xff\xfe")
    assert not begin(root).is_verified
