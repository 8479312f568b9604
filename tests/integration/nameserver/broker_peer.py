"""A broker of a controller's group, as far as a test plays one."""

import asyncio
import json
from typing import Final

PATIENT_MS: Final = 600_000
"""Who is silent for less is alive: whatever is done about a peer sooner is not for its silence."""


class BrokerPeer:
    """Speaks for one broker over one connection; one-way requests that come in are kept."""

    def __init__(self, client, broker_id, *, cluster="c", group="g"):
        self.client, self.id, self.cluster, self.group = client, broker_id, cluster, group
        self.address = f"10.0.0.{broker_id}:10911"
        self.notices = []

    async def ask(self, code, ext, body=b""):
        opaque = await self.client.send(code, ext, body)
        while True:
            command = await self.client.receive()
            if command.is_response:
                assert command.opaque == opaque
                return command
            self.notices.append(command)

    async def await_notice(self):
        if not self.notices:
            self.notices.append(await self.client.receive())
        return self.notices.pop(0)

    @property
    def names(self):
        return {"clusterName": self.cluster, "brokerName": self.group}

    async def apply(self, broker_id=None, code=None):
        ext = self.names | {
            "appliedBrokerId": str(broker_id or self.id),
            "registerCheckCode": code or f"{self.address};1",
        }
        return await self.ask(1013, ext)

    async def register(self, **changes):
        ext = self.names | {"brokerId": str(self.id), "brokerAddress": self.address}
        return await self.ask(1003, ext | changes)

    def _heartbeat(self, changes):
        values = self.names | {
            "brokerAddr": self.address,
            "brokerId": str(self.id),
            "epoch": "1",
            "maxOffset": "10",
            "confirmOffset": "10",
            "heartbeatTimeoutMills": str(PATIENT_MS),
            "electionPriority": "1",
        }
        merged = values | changes
        return {key: value for key, value in merged.items() if value is not None}

    async def beat(self, **changes):
        """Send a heartbeat one-way, as stock brokers do."""
        await self.client.send(904, self._heartbeat(changes), oneway=True)
        # The next answer comes after the heartbeat was heard.
        await self.metadata()

    async def lease(self, **changes):
        """Ask for a lease, as our own brokers do."""
        return await self.ask(904, self._heartbeat(changes))

    async def metadata(self):
        return await self.ask(1005, {})

    async def elect(self, broker_id=None, **changes):
        ext = self.names | {"brokerId": str(self.id if broker_id is None else broker_id)}
        return await self.ask(1002, ext | changes)

    async def alter(self, members, *, epoch, master=None, master_epoch=1, invoke_time=0, **changes):
        ext = changes | {
            "brokerName": self.group,
            "masterBrokerId": str(master or self.id),
            "masterEpoch": str(master_epoch),
            "invokeTime": str(invoke_time),
        }
        body = json.dumps({"syncStateSet": sorted(members), "syncStateSetEpoch": epoch}).encode()
        return await self.ask(1001, ext, body)

    async def info(self):
        return await self.ask(1004, {"brokerName": self.group})

    async def sync_state_data(self, *groups):
        body = json.dumps(groups or [self.group]).encode()
        answer = await self.ask(1006, {}, body)
        return json.loads(answer.body)["replicasInfoTable"]

    async def misses(self, broker_id):
        """Whether the controller notifies this one that another broker of its group is dead."""
        told = (await self.sync_state_data())[self.group]
        known = told["inSyncReplicas"] + told["notInSyncReplicas"]
        return not [one for one in known if one["brokerId"] == broker_id and one["alive"]]

    async def clean(self, ids=None, *, living=False, cluster="c"):
        ext = {"brokerName": self.group, "isCleanLivingBroker": str(living).lower()}
        if ids is not None:
            ext["brokerControllerIdsToClean"] = ids
        if cluster is not None:
            ext["clusterName"] = cluster
        return await self.ask(1011, ext)

    async def next_id(self):
        return int((await self.ask(1012, self.names)).ext["nextBrokerId"])

    async def close(self):
        await self.client.close()


async def make_f3(brokers, **heartbeat):
    """Make F3 of control-plane.md 9 of three brokers."""
    for broker in brokers:
        assert (await broker.apply()).code == 0
        assert (await broker.register()).code == 0
        # Answered when Postgres has it, so that every process knows that the broker is alive.
        await broker.lease(**heartbeat)
        await broker.beat(**heartbeat)
    assert (await brokers[0].elect()).code == 0
    assert (await brokers[0].alter({1, 2, 3}, epoch=1)).code == 0


async def state(broker):
    """Read master, epochs and set as brokers see them."""
    answer = await broker.info()
    body = json.loads(answer.body)
    return (
        int(answer.ext["masterBrokerId"]),
        int(answer.ext["masterEpoch"]),
        set(body["syncStateSet"]),
        body["syncStateSetEpoch"],
    )


async def settle(seconds):
    """Give a server the time in which it must not do anything."""
    await asyncio.sleep(seconds)
