"""Operators add brokers to containers and remove them, wherever the worker that does it dies."""

import asyncio
import socket
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from backend.brokers.asking import Brokers
from backend.brokers.errors import BrokerUnreachable
from backend.brokers.requests import containers as containers_requests
from backend.clients.clock import SystemClock
from backend.db import brokers as broker_rows
from backend.domain.cluster_scope import ClusterScope
from backend.domain.container import ContainerFilter
from backend.domain.errors import InvalidAddress
from backend.domain.operation import ATTEMPTS_MAX
from backend.domain.operation import OperationState as S
from backend.domain.operation_errors import BrokerSilent, InvalidParameters, PlanBlocked
from backend.domain.plan import CheckVerdict
from backend.operations.engine import orders
from backend.remoting.request_code import RequestCode
from backend.services.cluster.containers import list_containers
from backend.services.controller.group_changes import BrokerGroupName, find_group
from backend.views.containers import InnerBrokerOut
from tests.integration.broker.containers import inner, listed, write_broker, write_container
from tests.integration.operations.agents import ANNA, CLUSTER
from tests.integration.operations.crashing import POINTS, points
from tests.long_form import few
from tests.ports import free_port
from tests.waiting import eventually
from workers.broker.configuration.config_file import ConfigFile
from workers.broker.container.inner_broker import InnerBroker
from workers.broker.container.server import ContainerServer
from workers.broker.container.settings import load_container


def write(root, name, **properties):
    given = {"brokerClusterName": CLUSTER, "listenPort": str(free_port())} | properties
    return write_broker(root, name, **given)


@asynccontextmanager
async def running(root, agents, *brokers):
    path = write_container(root, *brokers, namesrvAddr=agents.server.address)
    server = ContainerServer(load_container(path), ConfigFile(path))
    await server.start()
    try:
        yield server
    finally:
        await server.close()


@pytest.fixture
async def container(agents, tmp_path):
    """A container of the broker group broker-x, whose only broker is a master."""
    async with running(tmp_path, agents, write(tmp_path, "broker-x")) as server:
        await await_online(agents, "broker-x")
        yield server


async def online(agents, name):
    async with agents.database.connect() as connection:
        known = await broker_rows.list_of_name(connection, CLUSTER)
    return [one.address for one in known if one.broker_group_name == name and one.is_online]


async def await_online(agents, name):
    await eventually(lambda: online(agents, name))


def addition(container, path, **more):
    given = {
        "container_address": container.container.address,
        "config_path": str(path),
        "broker_group_name": path.parent.name,
    }
    return given | more


def removal(name, **more):
    return {"broker_group_name": name, "broker_id": 0} | more


def verdicts(planned):
    return {(one.name, one.verdict) for one in planned.plan.checks}


def block_of(planned):
    return "; ".join(one.why for one in planned.plan.checks if one.verdict is CheckVerdict.BLOCK)


async def test_a_broker_is_added_and_the_undo_removes_it(agents, container, tmp_path):
    path = write(tmp_path, "broker-y")
    planned = await agents.plan("add_broker", **addition(container, path))
    assert {one.verdict for one in planned.plan.checks} == {CheckVerdict.PASS}
    await agents.confirm(planned)

    done = await agents.finish(planned.id)

    assert (done.state, done.outcome) == (S.DONE, "read back as intended")
    assert await online(agents, "broker-y") == [f"127.0.0.1:{inner(container, 'broker-y').port}"]
    assert listed(tmp_path / "container.conf") == ["broker-x", "broker-y"]

    back = await agents.undo(done)
    assert (back.kind, back.state, back.outcome) == (
        "remove_broker",
        S.DONE,
        "read back as intended",
    )
    assert ("the broker group goes on", CheckVerdict.WARN) in verdicts(back)
    assert await online(agents, "broker-y") == []
    assert listed(tmp_path / "container.conf") == ["broker-x"]


@pytest.mark.parametrize("is_lost", [False, True])
async def test_a_store_that_recovers_for_long_is_waited_for(
    agents, container, tmp_path, monkeypatch, is_lost
):
    path = write(tmp_path, "broker-y")
    opens, is_open = [], asyncio.Event()
    add = container.container.add

    async def add_later(path_text):
        opens.append(path_text)
        await is_open.wait()
        if not is_lost:
            await add(path_text)

    monkeypatch.setattr(container.container, "add", add_later)
    monkeypatch.setattr(containers_requests.AddBroker, "answer_timeout_s", 0.1)
    planned = await agents.plan("add_broker", **addition(container, path))
    await agents.confirm(planned)

    for _ in range(ATTEMPTS_MAX + 1):
        waiting = await agents.end(planned.id)
    is_open.set()

    assert [one.state for one in waiting.steps] == ["done", "waiting"]
    assert "does not list" in waiting.steps[1].error
    assert opens == [str(path)]
    if is_lost:
        await orders.cancel_operation(planned.id, ANNA, agents.context)
        cancelled = await agents.finish(planned.id)
        assert cancelled.state is S.PARTLY
        return
    done = await agents.finish(planned.id)
    assert (done.state, done.outcome) == (S.DONE, "read back as intended")


@pytest.mark.usefixtures("container")
async def test_a_broker_that_takes_long_to_stop_is_removed(agents, tmp_path, monkeypatch):
    stop, may_stop = InnerBroker.stop, asyncio.Event()

    async def stop_later(broker):
        is_clean = await stop(broker)
        await may_stop.wait()
        return is_clean

    monkeypatch.setattr(InnerBroker, "stop", stop_later)
    monkeypatch.setattr(containers_requests.RemoveBroker, "answer_timeout_s", 0.1)

    done = await agents.order("remove_broker", **removal("broker-x", interrupts_group=True))
    may_stop.set()

    assert (done.state, done.outcome) == (S.DONE, "read back as intended")
    assert max(one.attempt_count for one in done.steps) == 1
    assert listed(tmp_path / "container.conf") == []


async def test_a_path_is_read_back_as_the_container_lists_it(agents, container, tmp_path):
    path = write(tmp_path, "broker-y")
    other = f" {path.parent}/./{path.name} "
    meant = addition(container, path, config_path=other)

    done = await agents.order("add_broker", **meant)

    assert (done.state, done.outcome) == (S.DONE, "read back as intended")
    assert listed(tmp_path / "container.conf") == ["broker-x", "broker-y"]
    back = await agents.undo(done)
    assert (back.state, back.outcome) == (S.DONE, "read back as intended")


async def test_a_broker_is_removed_and_the_undo_adds_it(agents, container, tmp_path):
    port = inner(container, "broker-x").port

    done = await agents.order("remove_broker", **removal("broker-x", interrupts_group=True))

    assert (done.state, done.outcome) == (S.DONE, "read back as intended")
    assert await online(agents, "broker-x") == []
    assert listed(tmp_path / "container.conf") == []
    back = await agents.undo(done)
    assert (back.kind, back.state, back.outcome) == ("add_broker", S.DONE, "read back as intended")
    assert await online(agents, "broker-x") == [f"127.0.0.1:{port}"]
    assert listed(tmp_path / "container.conf") == ["broker-x"]


@pytest.mark.parametrize("name", few(POINTS, 1))
async def test_a_worker_may_die_anywhere(agents, container, tmp_path, name):
    for passed in points(name):
        group = f"broker-{passed}"
        path = write(tmp_path, group)
        planned = await agents.plan("add_broker", **addition(container, path))
        await agents.confirm(planned)

        lives = await agents.run(planned.id, (name, passed))
        done = await agents.finish(planned.id)

        assert (done.state, done.outcome) == (S.DONE, "read back as intended"), passed
        gone = await agents.plan("remove_broker", **removal(group, interrupts_group=True))
        await agents.confirm(gone)
        await agents.run(gone.id, (name, passed))
        done = await agents.finish(gone.id)
        assert (done.state, done.outcome) == (S.DONE, "read back as intended"), passed
        assert await online(agents, group) == []
        if lives:
            break


async def test_a_plan_names_what_is_wrong_with_a_file(agents, container, tmp_path):  # S24, S135
    with socket.create_server(("127.0.0.1", 0)) as taken:
        busy = write(tmp_path, "broker-y", listenPort=str(taken.getsockname()[1]))
        store = tmp_path / "broker-y" / "store"
        store.mkdir()
        (store / ".broker.meta").write_text("c#other#1#code\n")
        wrong = write(tmp_path, "wrong", listenPort="many")
        present = tmp_path / "broker-x" / "broker.conf"
        # It is online, in another process.
        namesake = write(tmp_path, "broker-a")
        plans = {
            path.parent.name: await agents.plan("add_broker", **addition(container, path))
            for path in (busy, wrong, present, namesake)
        }
        other = await agents.plan(
            "add_broker", **addition(container, busy, broker_group_name="broker-z")
        )

    assert "cannot listen" in block_of(plans["broker-y"])
    assert "belongs to broker other" in block_of(plans["broker-y"])
    assert "listenPort=many" in block_of(plans["wrong"])
    assert "has already been added" in block_of(plans["broker-x"])
    assert "broker-a-0 is online at" in block_of(plans["broker-a"])
    assert "names broker-y-0 of cluster c" in block_of(other)
    with pytest.raises(PlanBlocked):
        await agents.confirm(plans["broker-y"])
    assert listed(tmp_path / "container.conf") == ["broker-x"]


@pytest.mark.usefixtures("container")
async def test_a_master_is_removed_only_if_its_group_may_be_interrupted(agents):
    blocked = await agents.plan("remove_broker", **removal("broker-x"))
    taken = await agents.plan("remove_broker", **removal("broker-x", interrupts_group=True))

    assert "master of its group" in block_of(blocked)
    assert "interrupts_group" in block_of(blocked)
    assert ("the broker group goes on", CheckVerdict.WARN) in verdicts(taken)
    assert block_of(taken) == ""


async def test_a_replica_leaves_and_the_last_one_in_sync_stays(agents, tmp_path):
    controlled = {"enableControllerMode": "true", "controllerAddr": agents.server.address}
    named = {"brokerName": "broker-g", "controllerHeartBeatTimeoutMills": "20000", **controlled}
    async with AsyncExitStack() as stack:
        for place, ids in (("one", {1}), ("two", {1, 2})):
            root = tmp_path / place
            root.mkdir()
            path = write(root, "broker-g", **named)
            await stack.enter_async_context(running(root, agents, path))
            # The first one leads.
            await eventually(lambda ids=ids: in_sync(agents, ids))

        def meant(broker_id):
            return removal("broker-g", broker_id=broker_id)

        leader = await agents.plan("remove_broker", **meant(1))
        replica = await agents.plan("remove_broker", **meant(2))
        done = await agents.order("remove_broker", **meant(2))
        await eventually(lambda: in_sync(agents, {1}))
        last = await agents.plan("remove_broker", **meant(1))

        checks = {one.name: one for one in replica.plan.checks}
        gate = checks["the broker group goes on"]
        assert gate.verdict is CheckVerdict.PASS
        assert gate.why == "broker-g-1 leads it; alive and in sync: broker-g-1"
        assert "no other replica is in sync" in checks["another replica has new messages"].why
        assert "leads its group" in block_of(leader)
        assert "no other replica in sync" not in block_of(leader)
        assert (done.state, done.outcome) == (S.DONE, "read back as intended")
        assert "no other replica in sync is alive" in block_of(last)
        back = await agents.undo(done)
        assert (back.state, back.outcome) == (S.DONE, "read back as intended")
        await eventually(lambda: in_sync(agents, {1, 2}))


async def test_a_broker_without_a_known_id_is_removed_by_its_file(agents, container, tmp_path):
    """Its controller does not answer, so it joins no group, and no name server lists it."""
    silent = f"127.0.0.1:{free_port()}"
    controlled = {"enableControllerMode": "true", "controllerAddr": silent}
    path = write(tmp_path, "broker-y", **controlled)
    planned = await agents.plan("add_broker", **addition(container, path))
    await agents.confirm(planned)
    waiting = await agents.end(planned.id)
    assert waiting.steps[1].state == "waiting"
    shown = {one.path: one for one in (await containers(agents)).page.items[0].brokers}
    assert InnerBrokerOut.of(shown[str(path)]).own_id is None
    assert InnerBrokerOut.of(shown[str(path)]).name is None
    named = removal("broker-y", config_path=str(path))

    by_file = await agents.plan(
        "remove_broker", **named, container_address=container.container.address
    )
    await orders.cancel_operation(planned.id, ANNA, agents.context)
    cancelled = await agents.finish(planned.id)
    back = await agents.undo(cancelled)

    assert [one.name for one in by_file.plan.steps] == ["remove"]
    assert by_file.target == f"broker-y of {path}"
    assert block_of(by_file) == ""
    assert (back.state, back.outcome) == (S.DONE, "read back as intended")
    assert listed(tmp_path / "container.conf") == ["broker-x"]


async def test_a_former_master_that_does_not_run_is_removed_from_its_container(agents, tmp_path):
    controlled = {"enableControllerMode": "true", "controllerAddr": agents.server.address}
    named = {"brokerName": "broker-g", "controllerHeartBeatTimeoutMills": "3000", **controlled}
    async with AsyncExitStack() as stack:
        servers = []
        # The file of the second one has another id.
        for place, own in (("one", {}), ("two", {"brokerId": "1", "brokerRole": "SLAVE"})):
            root = tmp_path / place
            root.mkdir()
            path = write(root, "broker-g", **named, **own)
            servers.append(await stack.enter_async_context(running(root, agents, path)))
            await eventually(lambda: led_by(agents, 1))
        await eventually(lambda: in_sync(agents, {1, 2}))
        path = str(tmp_path / "one" / "broker-g" / "broker.conf")
        where = {"container_address": servers[0].container.address, "config_path": path}
        # The container can't start it again.
        await asyncio.to_thread(Path(path).write_text, "listenPort=many\n")
        inner(servers[0], "broker-g").failed.set()
        await eventually(lambda: led_by(agents, 2))
        await eventually(lambda: in_sync(agents, {2}))

        by_id = await agents.plan("remove_broker", **removal("broker-g", **where, broker_id=1))
        done = await agents.order("remove_broker", **removal("broker-g", **where))

        assert block_of(by_id) == ""
        assert (done.state, done.outcome) == (S.DONE, "read back as intended")
        assert listed(tmp_path / "one" / "container.conf") == []
        assert listed(tmp_path / "two" / "container.conf") == ["broker-g"]


async def test_the_undo_adds_a_broker_under_a_controller_by_the_id_of_its_file(agents, tmp_path):
    controlled = {"enableControllerMode": "true", "controllerAddr": agents.server.address}
    own = {"brokerId": "1", "brokerRole": "SLAVE"}
    path = write(tmp_path, "broker-g", **controlled, **own)
    other = write(tmp_path, "broker-x")
    async with running(tmp_path, agents, path, other) as server:
        await await_online(agents, "broker-g")
        meant = removal("broker-g", broker_id=1, interrupts_group=True)
        done = await agents.order("remove_broker", **meant)

        back = await agents.undo(done)

        assert (back.kind, back.state, back.outcome) == (
            "add_broker",
            S.DONE,
            "read back as intended",
        )
        assert listed(tmp_path / "container.conf") == ["broker-x", "broker-g"]
        assert inner(server, "broker-g") is not None


async def test_a_replica_that_acts_for_its_master_stays(agents, tmp_path, monkeypatch):
    acting = {"enableSlaveActingMaster": "true", "brokerId": "1", "brokerRole": "SLAVE"}
    path = write(tmp_path, "broker-g", **acting)
    async with running(tmp_path, agents, path) as server:
        await await_online(agents, "broker-g")
        request = agents.client.request

        async def be_silent(address, code, **fields):
            """The broker itself reports no figures: the records say that it acts."""
            if code == RequestCode.GET_BROKER_RUNTIME_INFO:
                raise BrokerUnreachable(address, "no answer within 3 s")
            return await request(address, code, **fields)

        monkeypatch.setattr(agents.client, "request", be_silent)
        where = {"container_address": server.container.address}
        planned = await agents.plan("remove_broker", **removal("broker-g", broker_id=1), **where)

    assert "acts for the absent master" in block_of(planned)


async def test_a_replica_stays_if_its_master_would_refuse_sends(agents, tmp_path):
    controlled = {"enableControllerMode": "true", "controllerAddr": agents.server.address}
    least = {"totalReplicas": "2", "inSyncReplicas": "2", "minInSyncReplicas": "2"}
    async with AsyncExitStack() as stack:
        for place in ("one", "two"):
            root = tmp_path / place
            root.mkdir()
            path = write(root, "broker-g", **controlled, **least)
            await stack.enter_async_context(running(root, agents, path))
            await eventually(lambda: led_by(agents, 1))
        await eventually(lambda: in_sync(agents, {1, 2}))

        planned = await agents.plan("remove_broker", **removal("broker-g", broker_id=2))

        why = "the master refuses sends then: 1 in sync, minInSyncReplicas is 2"
        assert why in block_of(planned)


async def led_by(agents, broker_id):
    view = await find_group(BrokerGroupName("broker-g", CLUSTER), agents.context.controller)
    return view is not None and view.group.master_id == broker_id


async def in_sync(agents, ids):
    """Return whether the replicas are in sync and online: a replica may be in sync first."""
    view = await find_group(BrokerGroupName("broker-g", CLUSTER), agents.context.controller)
    if view is None or view.group.sync_state_set.members != ids:
        return False
    return len(await online(agents, "broker-g")) == len(ids)


async def test_a_broker_and_its_container_must_be_there(agents, container, tmp_path):  # S136
    path = write(tmp_path, "broker-y")
    silent = {"container_address": f"127.0.0.1:{free_port()}"}

    with pytest.raises(InvalidParameters, match="reports no container"):
        await agents.plan("remove_broker", **removal("broker-a"))
    with pytest.raises(BrokerSilent):
        await agents.plan("add_broker", **addition(container, path, **silent))
    with pytest.raises(InvalidAddress):
        await agents.plan("add_broker", **addition(container, path, container_address="nowhere"))
    here = {"container_address": container.container.address}
    elsewhere = await agents.plan("remove_broker", **removal("broker-a", **here))
    assert "does not list broker-a-0" in block_of(elsewhere)


async def test_a_plan_expires_once_another_broker_is_added(agents, container, tmp_path):
    planned = await agents.plan("add_broker", **addition(container, write(tmp_path, "broker-y")))
    await agents.confirm(planned)
    await container.container.add(str(write(tmp_path, "broker-z")))

    done = await agents.finish(planned.id)

    assert done.state is not S.DONE
    assert listed(tmp_path / "container.conf") == ["broker-x", "broker-z"]


async def containers(agents, **chosen):
    return await list_containers(
        ContainerFilter(**chosen),
        size=10,
        after=None,
        database=agents.database,
        brokers=Brokers(agents.client),
        clock=SystemClock(),
    )


async def test_containers_are_found_by_what_their_brokers_report(agents, container, tmp_path):
    found = await containers(agents, cluster_name=CLUSTER)
    elsewhere = await containers(agents, within=ClusterScope.of(["other"]))
    other = await containers(agents, address="127.0.0.1:1")

    (one,) = found.page.items
    assert (one.address, one.why_unknown) == (container.container.address, "")
    (broker,) = one.brokers
    assert (broker.broker_group_name, broker.is_master) == ("broker-x", True)
    assert broker.path == str(tmp_path / "broker-x" / "broker.conf")
    assert found.unknown == ()
    assert elsewhere.page.items == other.page.items == ()
