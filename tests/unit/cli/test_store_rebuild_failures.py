"""`regent store rebuild` where files are not what they should be, or its end fails."""

import pytest
from regent_engine import Rebuild, StoreError

from backend.cli import store_queue_sizes, store_rebuild
from tests.unit.cli.stores import ask, files_of, fill


@pytest.fixture
def directory(tmp_path):
    return fill(tmp_path / "store")


def full_disk():
    """Give the error of the engine on a full disk: the engine sets `code` on each of its errors."""
    error = StoreError("no room")
    error.code = "io"
    return error


@pytest.mark.parametrize(
    ("failure", "expected", "reported"),
    [(KeyboardInterrupt(), 130, "interrupted at the end"), (full_disk(), 1, "no room")],
    ids=["interrupted", "full disk"],
)
def test_a_rebuild_that_fails_once_the_new_files_are_in_place_claims_no_old_ones(
    directory, capsys, monkeypatch, failure, expected, reported
):
    class Failing:
        def __init__(self, *arguments, **settings):
            self._work = Rebuild(*arguments, **settings)

        def __getattr__(self, name):
            return getattr(self._work, name)

        def finish(self, **how):
            # A signal that comes while the engine works is heard once it is done.
            self._work.finish(**how)
            raise failure

    monkeypatch.setattr(store_rebuild, "Rebuild", Failing)
    (directory / "consumequeue" / "orders" / "2" / f"{0:020}").write_bytes(bytes(2_000))

    code, _, err = ask(capsys, "rebuild", directory)

    assert code == expected
    assert reported in err
    assert "as it was" not in err
    assert "each the old ones or the new ones" in err
    assert f"regent store verify {directory}" in err
    assert ask(capsys, "verify", directory)[0] == 0


@pytest.mark.parametrize("place", ["consumequeue/orders/0", "index"])
@pytest.mark.parametrize("odd", ["directory", "broken link"])
def test_what_is_no_file_in_the_place_of_one_is_no_reason_to_stop(directory, capsys, place, odd):
    file = min((directory / place).iterdir())
    file.unlink()
    if odd == "directory":
        file.mkdir()
    else:
        file.symlink_to(directory / "nowhere")

    code, _, _ = ask(capsys, "rebuild", directory)

    assert code == 0
    assert ask(capsys, "verify", directory)[0] == 0


def test_a_queue_file_that_cannot_be_read_is_named(directory, capsys, monkeypatch):
    before = files_of(directory)

    def refuse(path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(store_queue_sizes, "_may_be_torn", refuse)
    code, _, err = ask(capsys, "rebuild", directory)

    assert code == 1
    assert "Permission denied" in err
    assert "consumequeue/orders/0" in err
    assert f"next: regent store verify {directory}" in err
    assert files_of(directory) == before
