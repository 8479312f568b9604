import subprocess
import threading
import time

import pytest

from tests import nightly

FIRST, SECOND, THIRD = (
    nightly.MiriGroup(name, ("-p", "regent-remoting"), (name,))
    for name in ("first", "second", "third")
)


class FakeMiri:
    """Stands in for Miri; the last argument names what the run shall come to."""

    def __init__(self, shown: dict[str, tuple[int, str]]) -> None:
        self.shown, self.running, self.running_max = shown, 0, 0
        self.lock = threading.Lock()

    def __call__(
        self, *arguments: str, output: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        with self.lock:
            self.running += 1
            self.running_max = max(self.running_max, self.running)
        time.sleep(0.02)
        with self.lock:
            self.running -= 1
        passed = f"test result: ok. 2 passed; 0 failed\n{arguments[-1]}: 3 s\n"
        code, text = self.shown.get(arguments[-1], (0, passed))
        return subprocess.CompletedProcess(arguments, code, text if output else None)


def run(monkeypatch: pytest.MonkeyPatch, **shown: tuple[int, str]) -> tuple[int, FakeMiri]:
    miri = FakeMiri({name.replace("_", "-"): one for name, one in shown.items()})
    monkeypatch.setattr(nightly, "_has_nightly", lambda: True)
    monkeypatch.setattr(nightly, "_miri", miri)
    monkeypatch.setattr(nightly, "MIRI_GROUPS", (FIRST, SECOND, THIRD))
    return nightly.main(["miri"]), miri


def rows(capsys: pytest.CaptureFixture[str]) -> dict[str, list[str]]:
    lines = (line.split() for line in capsys.readouterr().out.splitlines())
    return {line[0]: line[1:] for line in lines if line}


def test_each_group_is_named_with_its_tests_and_seconds_two_at_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    code, miri = run(monkeypatch)

    shown = rows(capsys)
    assert code == 0
    for name in ("first", "second", "third"):
        assert shown[name] == ["2", "0", "passed"]
    assert miri.running_max == 2


@pytest.mark.parametrize(
    "failed",
    [(1, "test result: FAILED. 1 passed; 1 failed\n"), (0, "test result: ok. 0 passed\n")],
    ids=["a test that failed", "no test of that name"],
)
def test_a_group_that_failed_is_shown_whole_and_the_others_run(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    failed: tuple[int, str],
):
    code, _ = run(monkeypatch, first=failed)

    shown = rows(capsys)
    assert code == 1
    assert shown["first"][2] == "FAILED"
    assert "result:" in shown["test"]
    assert shown["third"][2] == "passed"


def test_nothing_runs_where_it_cannot_be_built(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    code, _ = run(monkeypatch, __no_run=(101, ""))

    assert code == 1
    assert rows(capsys) == {}
