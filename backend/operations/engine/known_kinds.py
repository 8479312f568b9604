"""List all kinds of operations; a new kind is a new file and a line here."""

from typing import Final

from backend.operations.engine.kind import Kinds
from backend.operations.kinds import (
    adopt_replicas,
    change_broker_config,
    change_consumer_group,
    change_protection,
    change_topic,
    convert_topic,
    cordon_broker,
    create_consumer_group,
    create_static_topic,
    create_topic,
    delete_consumer_group,
    delete_static_topic,
    delete_topic,
    drain_broker,
    elect_master,
    evacuate_broker_group,
    expand_static_topic,
    forget_broker,
    forget_replicas,
    import_static_topic,
    move_queues,
    prefer_master,
    release_locks,
    resend_dead_letters,
    reset_offsets,
    shrink_static_topic,
    uncordon_broker,
)

KINDS: Final[Kinds] = {
    kind.name: kind
    for kind in (
        elect_master.KIND,
        prefer_master.KIND,
        forget_replicas.KIND,
        adopt_replicas.KIND,
        release_locks.KIND,
        cordon_broker.KIND,
        uncordon_broker.KIND,
        drain_broker.KIND,
        forget_broker.KIND,
        create_topic.KIND,
        change_topic.KIND,
        delete_topic.KIND,
        create_static_topic.KIND,
        convert_topic.KIND,
        expand_static_topic.KIND,
        shrink_static_topic.KIND,
        move_queues.KIND,
        import_static_topic.KIND,
        evacuate_broker_group.KIND,
        delete_static_topic.KIND,
        create_consumer_group.KIND,
        change_consumer_group.KIND,
        delete_consumer_group.KIND,
        change_broker_config.KIND,
        reset_offsets.KIND,
        resend_dead_letters.KIND,
        change_protection.KIND,
    )
}
