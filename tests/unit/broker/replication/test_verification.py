"""A log that may have lost its end is not counted on until it is whole again (D11)."""

import pytest

from workers.broker.replication.verification import begin_verification


@pytest.fixture
def boot(tmp_path):
    path = tmp_path / "boot_id"
    path.write_text("first\n")
    return path


@pytest.fixture
def root(tmp_path):
    return tmp_path / "store"


def begin(root, boot):
    return begin_verification(root, boot_id_path=boot)


def test_a_new_store_and_one_that_was_closed_are_verified(root, boot):
    assert begin(root, boot).is_verified
    boot.write_text("second\n")
    assert begin(root, boot).is_verified


def test_a_process_that_was_killed_has_lost_nothing(root, boot):
    begin(root, boot)
    (root / "abort").write_text("1")

    assert begin(root, boot).is_verified


def test_what_a_failed_flush_left_in_memory_may_be_missing(root, boot):
    begin(root, boot)
    (root / "abort").write_text("1\nunflushed\n")

    assert not begin(root, boot).is_verified


def test_a_machine_that_went_down_may_have_lost_the_end(root, boot):
    begin(root, boot)
    (root / "abort").write_text("1")
    boot.write_text("second\n")

    assert not begin(root, boot).is_verified


def test_neither_a_clean_stop_nor_a_restart_verifies_a_log(root, boot):
    begin(root, boot)
    (root / "abort").write_text("1")
    boot.write_text("second\n")
    begin(root, boot)
    (root / "abort").unlink()

    again = begin(root, boot)

    assert not again.is_verified
    again.succeed()
    assert begin(root, boot).is_verified


def test_a_store_of_unknown_history_that_was_not_closed_is_not_verified(root, boot):
    root.mkdir()
    (root / "abort").write_text("1")

    assert not begin(root, boot).is_verified


def test_who_doubts_a_log_is_heard_by_later_starts_until_it_is_whole(root, boot):
    begin(root, boot).doubt("its end was cut")

    again = begin(root, boot)

    assert not again.is_verified
    again.succeed()
    assert begin(root, boot).is_verified


def test_a_mark_that_cannot_be_read_is_not_taken_for_a_clean_stop(root, boot):
    begin(root, boot)
    (root / "abort").symlink_to("abort")

    with pytest.raises(OSError, match="abort"):
        begin(root, boot)


def test_whatever_is_in_the_files_of_a_store_that_was_not_closed_it_is_not_verified(root, boot):
    begin(root, boot)
    (root / "abort").write_bytes(b"\xff\nunflushed\n")
    assert not begin(root, boot).is_verified

    (root / ".unverified").unlink()
    (root / "abort").write_bytes(b"\xff")
    (root / ".boot").write_bytes(b"\xff\xfe")
    assert not begin(root, boot).is_verified
