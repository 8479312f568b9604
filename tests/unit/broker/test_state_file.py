import asyncio
import contextlib
import json
import os
import threading
from pathlib import Path

import pytest

from workers.broker.commit_log.delay_delivery import DelayOffsetFile
from workers.broker.tables.consumer_offsets import ConsumerOffsetFile, ConsumerOffsets
from workers.broker.tables.state_file import StateFile, StateFileUnreadable, StateSaver


def test_nothing_is_there_before_the_first_save(tmp_path):
    assert StateFile(tmp_path / "a.json").load(dict) is None


def test_the_last_save_is_read_and_the_one_before_is_the_backup(tmp_path):
    file = StateFile(tmp_path / "config" / "a.json")

    file.save(b'{"n":1}')
    file.save(b'{"n":2}')

    assert file.load(dict) == {"n": 2}
    assert json.loads(file.backup_path.read_bytes()) == {"n": 1}


@pytest.mark.parametrize("damage", [b"", b"   ", b'{"n":', b"\xff\xff", None])
def test_the_backup_stands_in_for_a_damaged_file(tmp_path, damage):
    file = StateFile(tmp_path / "a.json")
    file.save(b'{"n":1}')
    file.save(b'{"n":2}')

    file.path.unlink() if damage is None else file.path.write_bytes(damage)

    assert file.load(dict) == {"n": 1}


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\xff"])
@pytest.mark.parametrize("calls_before_crash", range(12))
def test_a_crash_while_a_damaged_file_is_replaced_leaves_its_backup(
    tmp_path, monkeypatch, damage, calls_before_crash
):
    StateFile(tmp_path / "a.json").save(b'{"n":1}')
    StateFile(tmp_path / "a.json").save(b'{"n":2}')
    file = StateFile(tmp_path / "a.json")
    file.path.write_bytes(damage)
    assert file.load(dict) == {"n": 1}
    crash_after(monkeypatch, calls_before_crash)

    with contextlib.suppress(CrashError):
        file.save(b'{"n":3}')
    monkeypatch.undo()

    assert StateFile(tmp_path / "a.json").load(dict) in ({"n": 1}, {"n": 3})
    file.save(b'{"n":4}')
    file.save(b'{"n":5}')
    assert json.loads(file.backup_path.read_bytes()) == {"n": 4}


def test_damage_to_both_is_an_error_and_changes_nothing(tmp_path):
    file = StateFile(tmp_path / "a.json")
    file.path.write_bytes(b"{")
    file.backup_path.write_bytes(b"{")

    with pytest.raises(StateFileUnreadable, match=r"a\.json"):
        file.load(dict)

    assert file.path.read_bytes() == b"{"


@pytest.mark.parametrize("calls_before_crash", range(12))
def test_a_crash_between_any_two_system_calls_leaves_a_readable_file(
    tmp_path, monkeypatch, calls_before_crash
):
    file = StateFile(tmp_path / "a.json")
    file.save(b'{"n":1}')
    file.save(b'{"n":2}')
    crash_after(monkeypatch, calls_before_crash)

    try:
        file.save(b'{"n":3}')
        saved = True
    except CrashError:
        saved = False
    monkeypatch.undo()

    contents = [json.loads(path.read_bytes()) for path in (file.path, file.backup_path)]
    assert contents in ([{"n": 2}, {"n": 1}], [{"n": 2}, {"n": 2}], [{"n": 3}, {"n": 2}])
    found = StateFile(tmp_path / "a.json").load(dict)
    assert found in ([{"n": 3}] if saved else [{"n": 2}, {"n": 3}])
    StateFile(tmp_path / "a.json").save(b'{"n":4}')
    assert StateFile(tmp_path / "a.json").load(dict) == {"n": 4}


def test_a_full_disk_keeps_the_former_content(tmp_path, monkeypatch):
    file = StateFile(tmp_path / "a.json")
    file.save(b'{"n":1}')

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        file.save(b'{"n":2}')

    assert file.load(dict) == {"n": 1}


def test_stock_files_with_bare_keys_are_read(tmp_path):
    path = tmp_path / "consumerOffset.json"
    path.write_bytes(
        b'{\n\t"dataVersion":{"counter":2,"stateVersion":0,"timestamp":5},\n'
        b'\t"groupTopicMap":{"g":["T"]},\n\t"offsetTable":{\n\t\t"T@g":{0:41,1:7}\n\t}\n}'
    )
    delays = tmp_path / "delayOffset.json"
    delays.write_bytes(b'{"dataVersion":{},"offsetTable":{1:5,3:7}}')

    offsets = ConsumerOffsets(StateFile(path).load(ConsumerOffsetFile))
    stored = StateFile(delays).load(DelayOffsetFile)

    assert (offsets.find("g", "T", 0), offsets.find("g", "T", 1)) == (41, 7)
    assert offsets.data_version.counter == 2
    assert stored is not None
    assert stored.offsets == {1: 5, 3: 7}


def test_offsets_are_written_in_stock_shape():
    offsets = ConsumerOffsets()
    offsets.commit("g", "%RETRY%g", queue_id=0, offset=3)
    offsets.commit("g", "T", queue_id=11, offset=5)
    offsets.stamp(77)

    assert json.loads(offsets.as_file()) == {
        "dataVersion": {"counter": 1, "stateVersion": 0, "timestamp": 77},
        "groupTopicMap": {"g": ["%RETRY%g", "T"]},
        "offsetTable": {"%RETRY%g@g": {"0": 3}, "T@g": {"11": 5}},
    }


def test_removing_a_topic_forgets_its_offsets_only():
    offsets = ConsumerOffsets()
    for topic in ("T", "TT"):
        offsets.commit("g", topic, queue_id=0, offset=3)

    offsets.remove_topic("T")

    assert (offsets.find("g", "T", 0), offsets.find("g", "TT", 0)) == (None, 3)
    assert offsets.topics_of("g") == ["TT"]


async def test_changes_made_while_saving_are_saved_together_afterwards(tmp_path):
    file, content = StateFile(tmp_path / "a.json"), {"n": 0}
    contents = []
    saver = StateSaver(
        file,
        lambda: contents.append(dict(content)) or json.dumps(content).encode(),
        count=lambda: content["n"],
    )

    async def change():
        content["n"] += 1
        await saver.save()

    await asyncio.gather(*(change() for _ in range(20)))

    assert file.load(dict) == {"n": 20}
    assert len(contents) < 20
    assert not saver.is_dirty


async def test_no_save_begins_beside_one_that_was_cancelled(tmp_path, monkeypatch):
    file, content = StateFile(tmp_path / "a.json"), {"n": 1}
    saver = StateSaver(file, lambda: json.dumps(content).encode(), count=lambda: content["n"])
    content["n"] = 2
    begun, may_end, sync = threading.Event(), threading.Event(), os.fsync

    def slow(descriptor):
        begun.set()
        may_end.wait()
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    cancelled = asyncio.create_task(saver.save())
    await asyncio.to_thread(begun.wait)
    cancelled.cancel()
    content["n"] = 3
    latest = asyncio.create_task(saver.save())
    begun.clear()
    for _ in range(50):
        await asyncio.sleep(0)
    is_beside = await asyncio.to_thread(begun.wait, 0.2)
    may_end.set()
    await asyncio.wait({cancelled, latest})

    assert not is_beside
    assert (cancelled.cancelled(), latest.exception()) == (True, None)
    assert file.load(dict) == {"n": 3}
    assert json.loads(file.backup_path.read_bytes()) == {"n": 2}


class CrashError(Exception):
    pass


def crash_after(monkeypatch, count):
    """Let only so many calls that change the disk happen."""
    left = [count]

    def counted(real):
        def call(*arguments, **keywords):
            if left[0] == 0:
                raise CrashError
            left[0] -= 1
            return real(*arguments, **keywords)

        return call

    for owner, name in (
        *((os, "fsync"), (os, "open"), (os, "link")),
        *((Path, "replace"), (Path, "open"), (Path, "unlink")),
    ):
        monkeypatch.setattr(owner, name, counted(getattr(owner, name)))
