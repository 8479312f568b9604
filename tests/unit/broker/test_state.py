"""What is saved of a broker, beside what its log has on the disk."""

import asyncio

import pytest
from regent_engine import StoreError
from structlog.testing import capture_logs

from tests.unit.engine.builders import open_store
from workers.broker.commit_log.delay_delivery import DelayDelivery, DelayOffsetFile
from workers.broker.configuration.settings import parse_settings
from workers.broker.tables.state import BrokerState
from workers.broker.tables.state_file import StateFile


def state_of(path, store, flush_log):
    return BrokerState(
        parse_settings({"storePathRootDir": str(path)}).settings,
        topic_listener=lambda _name, _topic: None,
        static_topic_listener=lambda _name, _topic: None,
        group_listener=lambda: None,
        build_delays=lambda stored, escaped: DelayDelivery(
            store,
            levels_ms=(1000,),
            stored=stored,
            read=lambda _: None,
            deliver=lambda _position, _record: None,
            on_thread=asyncio.to_thread,
            clock=lambda: 7,
            escaped=escaped,
        ),
        flush_log=flush_log,
        clock=lambda: 7,
    )


def saved_progress(path):
    stored = StateFile(path / "config" / "delayOffset.json").load(DelayOffsetFile)
    return None if stored is None else stored.offsets


async def test_a_delivery_is_on_the_disk_before_its_progress_is(tmp_path):
    store = open_store(tmp_path)
    at_flush = []

    def flush():
        at_flush.append(saved_progress(tmp_path))
        store.flush()

    state = state_of(tmp_path, store, flush)
    store.append("T", 0, b"delivered", b"")
    state.delays.delivered(1, 1)

    await state.save_delays()

    assert at_flush == [None]
    assert store.flushed_position == store.max_position
    assert saved_progress(tmp_path) == {1: 1}
    store.close()


async def test_progress_is_not_saved_where_the_disk_refuses_what_was_delivered(tmp_path):
    store = open_store(tmp_path)

    def refuse():
        raise StoreError("the disk is gone")

    state = state_of(tmp_path, store, refuse)
    state.delays.delivered(1, 1)

    with pytest.raises(StoreError):
        await state.save_delays()
    with capture_logs() as logs:
        await state.save_all()

    assert saved_progress(tmp_path) is None
    assert [entry["event"] for entry in logs] == ["state_not_saved"]
    store.close()
