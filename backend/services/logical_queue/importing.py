"""Write the mapping of a static topic as a file, and rebuild one that is lost from brokers."""

from backend.brokers.asking import Brokers
from backend.db import logical_queues
from backend.db.engine import Database
from backend.domain.logical_queue.change import ChangeKind, ChangeState, QueueChange
from backend.domain.logical_queue.errors import QueueChangeRefused, QueueMappingBroken
from backend.domain.logical_queue.interchange import to_plan_file
from backend.domain.logical_queue.rebuild import rebuild
from backend.domain.logical_queue.stock_json import PlanFile
from backend.domain.logical_queue.topic_settings import read_settings
from backend.domain.names import check_cluster_name, check_topic_name
from backend.domain.topic_layout import TopicLayout
from backend.services.logical_queue.copies import TopicHolders, ask_holders


async def export_topic(
    cluster_name: str, topic_name: str, *, database: Database, brokers: Brokers
) -> PlanFile:
    """Return a static topic as a plan file, with its unfinished moves.

    The permissions and attributes are those that its brokers have. A broker group that does not
    answer gets the attributes of another one.

    Raises:
        InvalidName: a name is invalid. ClusterNotFound: there is no cluster of the name.
        StaticTopicNotFound: the cluster has no static topic of the name. QueueChangeRefused: no
        broker answers, or the last queues of the topic are just being sealed.
    """
    check_cluster_name(cluster_name)
    check_topic_name(topic_name)
    holders = await ask_holders(cluster_name, topic_name, database=database, brokers=brokers)
    async with database.connect() as connection:
        stored = await logical_queues.get(connection, cluster_name, topic_name)
    layouts = layouts_of(holders)
    if not layouts:
        raise QueueChangeRefused(topic_name, "no broker group with the topic answers")
    any_layout = layouts[min(layouts)]
    known = {name: layouts.get(name, any_layout) for name in stored.mapping.counts}
    return to_plan_file(stored.mapping, stored.moves, known)


def rebuild_topic(topic_name: str, holders: TopicHolders) -> QueueChange:
    """Rebuild a topic whose rows are lost from its brokers, which all have to answer (L65).

    Raises:
        QueueMappingBroken: a broker group does not answer, the copies break an invariant, or a
        change was under way.
    """
    if holders.silent:
        reasons = [f"broker group {name}: {reason}" for name, reason in holders.silent.items()]
        raise QueueMappingBroken(topic_name, tuple(reasons))
    layouts = layouts_of(holders)
    attributes = layouts[min(layouts)].attributes if layouts else {}
    mapping = rebuild(topic_name, holders.copies, read_settings(attributes))
    return QueueChange(
        ChangeKind.IMPORT,
        mapping,
        mapping,
        state=ChangeState.DONE,
        converged=frozenset(mapping.counts),
    )


def layouts_of(holders: TopicHolders) -> dict[str, TopicLayout]:
    """Return the layouts of a topic on the broker groups whose master has it."""
    return {
        name: one.layout.layout for name, one in holders.masters.items() if one.layout is not None
    }
