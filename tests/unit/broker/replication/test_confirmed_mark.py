"""What was confirmed to a log is remembered, so that a log that lost it is known by it (D27)."""

import pytest

from workers.broker.replication.confirmed_mark import ConfirmedMark, epoch_before
from workers.broker.replication.verification import begin_verification

EPOCHS = [(1, 0), (3, 500)]


@pytest.fixture
def mark(tmp_path):
    made = ConfirmedMark(tmp_path)
    made.note(3, 3, 800)
    made.save()
    return made


def again(tmp_path):
    return ConfirmedMark(tmp_path)


def test_it_is_read_back_as_it_was_saved(mark, tmp_path):
    read = again(tmp_path)

    assert (read.term, read.epoch, read.position) == (3, 3, 800)
    assert mark.is_saved


def test_it_only_rises(mark):
    mark.note(3, 3, 700)
    mark.note(2, 3, 900)
    mark.note(4, 3, 0)

    assert (mark.term, mark.position) == (3, 800)
    mark.note(4, 3, 800)
    assert (mark.term, mark.position) == (4, 800)


@pytest.mark.parametrize("text", ["", "3 3", "3 3 8", "a b c\n", "\n"])
def test_a_file_cut_short_names_nothing(tmp_path, text):
    (tmp_path / ".confirmed").write_text(text)

    assert again(tmp_path).position == 0


@pytest.mark.parametrize(
    ("epochs", "end", "reported"),
    [
        ([], 0, "800 was confirmed, and the log ends at 0"),  # rm -rf store/*
        (EPOCHS, 600, "800 was confirmed, and the log ends at 600"),  # an older copy
        ([(1, 0)], 900, "epoch 3 was confirmed, and the newest epoch of the log is 1"),
        ([], 900, "epoch 3 was confirmed, and the newest epoch of the log is -1"),  # no epoch file
        (EPOCHS, 0, "its epoch 3 begins at 500, behind the end of the log at 0"),  # no commitlog
    ],
)
def test_a_log_that_lost_something_is_known(mark, epochs, end, reported):
    # Cases A1, A2.
    assert mark.find_lack(epochs, end) == reported


@pytest.mark.parametrize("epochs", [EPOCHS, [*EPOCHS, (7, 800)]])
def test_a_log_that_holds_all_lacks_nothing(mark, tmp_path, epochs):
    assert mark.find_lack(epochs, 800) is None
    assert ConfirmedMark(tmp_path / "new").find_lack([], 0) is None


@pytest.mark.usefixtures("mark")
def test_a_broker_doubts_a_log_that_lacks_what_its_files_say(tmp_path):
    # Case A2.
    log_dir = tmp_path / "commitlog"
    verification = begin_verification(tmp_path, log_dir)
    verification.compare(EPOCHS, 800)
    assert verification.is_verified

    verification.compare([], 0)

    assert not verification.is_verified
    assert not begin_verification(tmp_path, log_dir).is_verified


def test_an_accepted_loss_ends_what_was_confirmed_in_older_terms(mark, tmp_path):
    mark.accept_loss(3)
    assert mark.position == 800  # confirmed in that very term

    mark.accept_loss(4)
    mark.save()

    assert again(tmp_path).position == 0
    mark.note(4, 3, 600)
    mark.save()
    assert again(tmp_path).position == 600


def test_the_epoch_of_a_position_is_that_of_the_byte_before_it():
    positions = (0, 1, 500, 501)
    assert [epoch_before(EPOCHS, position) for position in positions] == [-1, 1, 1, 3]
