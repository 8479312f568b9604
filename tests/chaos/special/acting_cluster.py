"""A group of three in acting mode: agent 1 is the master (id 0), the others act when it is absent.

It has the interface of `Cluster`, so the same faults act on it. Who is a member and who serves is
asked of the name server, by the requests of stock brokers and clients.
"""

from collections.abc import Mapping

from backend.remoting import java_json
from backend.remoting.errors import RemotingError
from backend.remoting.request_code import RequestCode
from backend.requester import Requester, connect
from tests.chaos.cluster import AGENTS, GROUP, Cluster, Standing
from tests.chaos.stores import NO_EPOCH
from tests.chaos.workload import TOPIC

MASTER = AGENTS[0]


class ActingCluster(Cluster):
    """One group without a controller; the control plane is its name server only."""

    silence_scan_interval_s = 0.25
    _requester: Requester | None = None

    async def standing(self) -> Standing | None:
        """Return the registered members; None if the name server does not answer."""
        header = {"clusterName": "TestCluster", "brokerName": GROUP}
        told = await self._ask(RequestCode.GET_BROKER_MEMBER_GROUP, header)
        if told is None:
            return None
        members = {int(key) + 1 for key in told["brokerMemberGroup"]["brokerAddrs"]}
        master = MASTER if MASTER in members else None
        return Standing(master, NO_EPOCH, frozenset(members), revision=0)

    async def elections(self) -> dict[int, int] | None:
        """Return the master of the only epoch."""
        return {NO_EPOCH: MASTER}

    async def serving_agent(self) -> int | None:
        """Return the agent to which the route leads clients; None if there is no route."""
        told = await self._ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": TOPIC})
        addresses = told["brokerDatas"][0]["brokerAddrs"] if told else {}
        _, _, port = addresses.get("0", "").rpartition(":")
        return next((agent for agent, own in self.ports.items() if str(own) == port), None)

    async def close(self) -> None:
        """End everything at once."""
        if self._requester is not None:
            self._requester.close()
        await super().close()

    def _role(self, agent: int) -> Mapping[str, str]:
        """Let each message wait for all members: any of them may act, and must have it."""
        return {
            "brokerId": str(agent - 1),
            "brokerRole": "SYNC_MASTER" if agent == MASTER else "SLAVE",
            "enableSlaveActingMaster": "true",
            "totalReplicas": str(len(AGENTS)),
            "inSyncReplicas": str(len(AGENTS)),
            "lockInStrictMode": "true",
            "slaveReadEnable": "true",
            "brokerNotActiveTimeoutMillis": "2000",
            "syncBrokerMemberGroupPeriod": "200",
        }

    async def _ask(self, code: int, ext: dict[str, str]) -> dict | None:
        try:
            if self._requester is None or not self._requester.is_open:
                address = (self.hosts.real, self.controller_port)
                self._requester = await connect(address, peer_name="name server")
            answer = await self._requester.call(code, ext=ext)
        except (OSError, TimeoutError, RemotingError):
            return None
        return None if answer.code else java_json.loads(answer.body)
