"""Ask the replicas of a broker group for the ends and the epochs of their logs."""

from backend.brokers.asking import Brokers
from backend.domain.names import check_broker_group_name, check_cluster_name
from backend.questions.question import question
from backend.services.controller.group_changes import BrokerGroupName, Controller
from backend.services.controller.log_histories import compare_histories
from backend.services.controller.replica_lags import measure_group
from backend.views.log_histories import GroupHistoriesOut
from backend.views.replica_lags import GroupLagsOut

GROUPS = "/clusters/{cluster_name}/replica-groups"
GROUP = GROUPS + "/{broker_group_name}"


def named(cluster_name: str, broker_group_name: str) -> BrokerGroupName:
    """Return the name of a broker group if it is valid."""
    return BrokerGroupName(
        check_broker_group_name(broker_group_name), check_cluster_name(cluster_name)
    )


@question(GROUP + "/lag", field="ReplicaGroup.lag", tag="replica groups", refusals=(404,))
async def show_lag(
    cluster_name: str, broker_group_name: str, *, controller: Controller, brokers: Brokers
) -> GroupLagsOut:
    """Ask the brokers of a group for the ends of their logs, and compare these to the master's."""
    found = await measure_group(named(cluster_name, broker_group_name), controller, brokers)
    return GroupLagsOut.of(found)


@question(GROUP + "/epochs", field="ReplicaGroup.epochs", tag="replica groups", refusals=(404,))
async def show_epochs(
    cluster_name: str, broker_group_name: str, *, controller: Controller, brokers: Brokers
) -> GroupHistoriesOut:
    """Ask the replicas of a group for the epochs of their logs, and compare them."""
    found = await compare_histories(named(cluster_name, broker_group_name), controller, brokers)
    return GroupHistoriesOut.of(found)
