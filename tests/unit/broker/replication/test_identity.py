"""The negotiation of a broker id: one answer whatever is lost on the way (S15-S24, D5)."""

import asyncio
import itertools
import os
from pathlib import Path

import pytest

from workers.broker.replication.identity import (
    Identity,
    IdentityFiles,
    IdentityMismatch,
    IdTaken,
    PendingIdentity,
    negotiate,
)

GROUP = ("cluster-1", "broker-a")


class ControllerDouble:
    """Keeps ids as the real one does, and loses the answers that the test chooses."""

    def __init__(self):
        self.codes = {}
        self.lose_requests = self.lose_answers = 0
        self.asked = []

    async def next_broker_id(self, *_):
        self.asked.append(1012)
        self._maybe_lose("lose_requests")
        return max(self.codes, default=0) + 1

    async def apply_broker_id(self, identity, register_code):
        self.asked.append(1013)
        self._maybe_lose("lose_requests")
        if self.codes.setdefault(identity.broker_id, register_code) != register_code:
            raise IdTaken
        self._maybe_lose("lose_answers")

    def _maybe_lose(self, name):
        if getattr(self, name):
            setattr(self, name, getattr(self, name) - 1)
            raise TimeoutError(name)


def run(files, controller, codes=None, group=GROUP):
    codes = itertools.count(1) if codes is None else codes
    return asyncio.run(
        negotiate(
            files,
            controller,
            cluster_name=group[0],
            broker_name=group[1],
            new_code=lambda: f"10.0.0.1:10911;{next(codes)}",
        )
    )


@pytest.fixture
def files(tmp_path):
    return IdentityFiles(tmp_path)


def test_a_new_broker_asks_takes_and_keeps_its_id_s15(files):
    controller = ControllerDouble()

    identity = run(files, controller)

    assert identity == Identity(*GROUP, 1)
    assert files.path.read_text() == "cluster-1#broker-a#1#10.0.0.1:10911;1\n"
    assert not files.pending_path.exists()
    assert controller.asked == [1012, 1013]


def test_the_next_start_asks_nothing_and_drops_a_left_over_file_s22(files):
    controller = ControllerDouble()
    run(files, controller)
    files.save_pending(PendingIdentity(Identity(*GROUP, 9), "code"))
    controller.asked.clear()

    assert run(files, controller).broker_id == 1
    assert controller.asked == []
    assert not files.pending_path.exists()


def test_without_an_answer_to_the_first_question_nothing_is_on_the_disk_s16(files):
    controller = ControllerDouble()
    controller.lose_requests = 1

    with pytest.raises(TimeoutError):
        run(files, controller)

    assert not files.path.exists()
    assert not files.pending_path.exists()


def test_a_lost_answer_leads_to_the_same_id_in_the_same_process_s18_s21_d5(files):
    controller, codes = ControllerDouble(), itertools.count(1)
    controller.lose_answers = 2

    for _ in range(2):
        with pytest.raises(TimeoutError):
            run(files, controller, codes)
        assert not files.path.exists()
    identity = run(files, controller, codes)

    assert identity.broker_id == 1
    assert controller.codes == {1: "10.0.0.1:10911;1"}


def test_an_id_that_another_broker_took_is_given_up_for_the_next_s6(files):
    controller = ControllerDouble()
    controller.codes[1] = "10.0.0.9:10911;77"
    files.save_pending(PendingIdentity(Identity(*GROUP, 1), "mine"))

    identity = run(files, controller)

    assert identity.broker_id == 2
    assert controller.codes[1] == "10.0.0.9:10911;77"


def test_a_store_of_another_group_is_refused_and_left_alone_s24(files):
    run(files, ControllerDouble())
    before = files.path.read_bytes()

    with pytest.raises(IdentityMismatch, match="give this broker another store"):
        run(files, ControllerDouble(), group=("cluster-1", "broker-b"))

    assert files.path.read_bytes() == before


def test_a_stock_brokers_identity_is_adopted(files, tmp_path):
    (tmp_path / "brokerIdentity").write_text("cluster-1#broker-a#7")
    controller = ControllerDouble()

    assert run(files, controller).broker_id == 7
    assert controller.asked == []


@pytest.mark.parametrize("failing", ["save_pending", "settle", "drop_pending"])
def test_a_disk_that_refuses_once_costs_no_id_s17_s19(files, failing, monkeypatch):
    controller, codes = ControllerDouble(), itertools.count(1)
    with monkeypatch.context() as patch:
        patch.setattr(files, failing, lambda *_: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises(OSError, match="full"):
            run(files, controller, codes)
    assert not (failing == "settle" and files.path.exists())

    identity = run(IdentityFiles(files.path.parent), controller, codes)

    assert identity.broker_id == 1
    assert list(controller.codes) == [1]
    assert not files.pending_path.exists()


class Crash(BaseException):
    """The process ends here."""


def crashing(steps):
    """Stand in for the calls that touch the disk, and end the process at one of them."""

    def step(call):
        def wrapped(*arguments, **options):
            if next(steps) == 0:
                raise Crash
            return call(*arguments, **options)

        return wrapped

    return step


@pytest.mark.parametrize("broken_file", [None, "cut", "garbage"])
def test_a_crash_at_any_step_leads_to_one_id_s18_s20(tmp_path, monkeypatch, broken_file):
    for crash_at in range(40):
        root = tmp_path / str(crash_at)
        root.mkdir()
        controller, codes = ControllerDouble(), itertools.count(1)
        step = crashing(itertools.count(crash_at, -1))
        crashed = False
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", step(os.fsync))
            for name in ("open", "replace", "unlink"):
                patch.setattr(Path, name, step(getattr(Path, name)))
            for name in ("next_broker_id", "apply_broker_id"):
                patch.setattr(controller, name, step(getattr(controller, name)))
            try:
                run(IdentityFiles(root), controller, codes)
            except Crash:
                crashed = True
        files = IdentityFiles(root)
        if broken_file and not files.path.exists():
            files.path.write_text("cluster-1#bro" if broken_file == "cut" else "\0\0\0\n")

        identity = run(files, controller, codes)

        assert identity.broker_id == 1, f"crash at step {crash_at}"
        assert list(controller.codes) == [1]
        assert files.load() == identity
        if not crashed:
            return
    pytest.fail("the negotiation has more than 40 steps")
