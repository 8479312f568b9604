"""Read the plans of earlier versions, whose steps have no actions.

Those versions stored the values for their steps in the facts of the plan and in the parameters of
the order. Such operations can be shown, carried out and undone as long as they are kept.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from backend.domain.operation import Operation
from backend.domain.plan import Precondition
from backend.operations.planning.groups import ids_text

Json = Mapping[str, Any]
Written = dict[str, Any]
Known = Mapping[str, str]

_FACT_NAMES: Final = {"consumers are told": "consumers are notified"}
_FACT_VALUES: Final = {"nobody": "none"}
"""The name of a fact or value in an earlier version, and its name in this version."""


def actions_of(operation: Operation) -> list[Written]:
    """Return the actions of an operation in the form of a plan of this version."""
    known = {one.name: one.value for one in operation.plan.preconditions}
    made = _KINDS[operation.kind](operation.parameters, operation.plan.facts, known)
    names = [step.name for step in operation.steps]
    return [one for one in made if "step" not in one or one.pop("step") in names]


def facts_of(operation: Operation) -> tuple[Precondition, ...]:
    """Return the facts of a plan under the names of this version."""
    return tuple(
        replace(
            one,
            name=_FACT_NAMES.get(one.name, one.name),
            value=_FACT_VALUES.get(one.value, one.value),
        )
        for one in operation.plan.preconditions
    )


def _on(order: Json, one: Json) -> Written:
    return {
        "cluster_name": order["cluster_name"],
        "broker_group_name": one["broker_group_name"],
        "address": one["address"],
    }


def _put_topic(order: Json, facts: Json, *, is_new: bool) -> list[Written]:
    return [
        {
            "action": "put_topic",
            **_on(order, one),
            "topic_name": order["topic_name"],
            "layout": one["after"],
            "is_new": is_new,
        }
        for one in facts["brokers"]
    ]


def _put_group(order: Json, facts: Json, *, is_new: bool) -> list[Written]:
    return [
        {
            "action": "put_consumer_group",
            **_on(order, one),
            "consumer_group_name": order["consumer_group_name"],
            "settings": one["after"],
            "is_new": is_new,
        }
        for one in facts["brokers"]
    ]


def _remove_topic(order: Json, topic: str, facts: Json, **more: Any) -> list[Written]:
    leftover = more.get("leftover")
    return [
        *(
            {"action": "delete_topic", **_on(order, one), "topic_name": topic, **more}
            for one in facts["brokers"]
        ),
        {
            "action": "remove_routes",
            "cluster_name": order["cluster_name"],
            "topic_name": topic,
            "broker_group_names": [one["broker_group_name"] for one in facts["brokers"]],
            "leftover": leftover,
        },
    ]


def _delete_topic(order: Json, facts: Json, _known: Known) -> list[Written]:
    return _remove_topic(
        order, order["topic_name"], facts, only_empty=order.get("only_empty", False)
    )


def _delete_group(order: Json, facts: Json, _known: Known) -> list[Written]:
    group = order["consumer_group_name"]
    return [
        *(
            {
                "action": "delete_consumer_group",
                **_on(order, one),
                "consumer_group_name": group,
                "cleans_offsets": order.get("cleans_up", False),
            }
            for one in facts["brokers"]
        ),
        *(
            action
            for one in facts["topics"]
            for action in _remove_topic(
                order,
                one["topic_name"],
                one,
                leftover="dead-letters" if one["topic_name"].startswith("%DLQ%") else "retries",
            )
        ),
    ]


def _reset_offsets(order: Json, facts: Json, _known: Known) -> list[Written]:
    return [
        {
            "action": "commit_offsets",
            **_on(order, one),
            "consumer_group_name": order["consumer_group_name"],
            "topic_name": order["topic_name"],
            "offsets": {str(queue["queue_id"]): int(queue["to"]) for queue in one["queues"]},
            "tells_consumers": facts["mode"] == "online",
        }
        for one in facts["brokers"]
    ]


def _broker(order: Json, facts: Json, action: str) -> Written:
    return {
        "action": action,
        "cluster_name": order["cluster_name"],
        "broker_group_name": order["broker_group_name"],
        "broker_id": facts.get("broker_id", order.get("broker_id", 0)),
        "address": facts["address"],
    }


def _permission(order: Json, facts: Json, *, takes_write: bool) -> Written:
    return _broker(order, facts, "set_permission") | {
        "permission": facts["permission"],
        "takes_write": takes_write,
    }


def _cordon(order: Json, facts: Json, _known: Known) -> list[Written]:
    return [_permission(order, facts, takes_write=True), _broker(order, facts, "await_routes")]


def _drain(order: Json, facts: Json, known: Known) -> list[Written]:
    election: list[Written] = []
    if facts["heir_id"] is not None:
        named = {**order, "broker_id": facts["heir_id"]}
        election = _elect(named, facts, known, leaves=facts["address"])
    cordon, routes = _cordon(order, facts, known)
    waived = {"step": "read", "waived_groups": order.get("waived_groups", [])}
    return [cordon, *election, routes, _broker(order, facts, "await_readers") | waived]


def _set_properties(order: Json, facts: Json, _known: Known) -> list[Written]:
    settings = [
        {name: one[name] for name in ("name", "value", "intended", "effect")}
        for one in facts["changes"]
    ]
    return [_broker(order, facts, "set_properties") | {"settings": settings}]


def _forget_broker(order: Json, facts: Json, _known: Known) -> list[Written]:
    meant = order.get("address") or order.get("broker_id", 0)
    target = f"{order['broker_group_name']}/{meant}"
    return [_broker(order, facts, "remove_broker") | {"target": target}]


def _release_locks(_order: Json, facts: Json, _known: Known) -> list[Written]:
    return [
        {"action": "release_locks", **one, "number": number}
        for number, one in enumerate(facts["brokers"])
    ]


def _group(order: Json, action: str) -> Written:
    return {
        "action": action,
        "cluster_name": order["cluster_name"],
        "broker_group_name": order["broker_group_name"],
    }


def _elect(order: Json, facts: Json, known: Known, leaves: str | None = None) -> list[Written]:
    elect = _group(order, "elect") | {
        "broker_id": order.get("broker_id"),
        "is_graceful": order.get("mode", "graceful") == "graceful",
        "accepts_loss": order.get("accepts_loss", False),
        "allows_unclean": facts["allows_unclean"],
        "expected_epoch": int(known["master epoch"]),
        "winner_id": facts["winner_id"],
        "leaves": leaves,
    }
    return [elect, _group(order, "await_followers")]


def _prefer(order: Json, facts: Json, _known: Known) -> list[Written]:
    ids = {"broker_id": order.get("broker_id"), "former_id": facts["former_id"]}
    return [_group(order, "prefer_master") | ids]


def _forget_replicas(order: Json, facts: Json, known: Known) -> list[Written]:
    return [
        _group(order, "forget_replicas")
        | {
            "named_ids": order.get("broker_ids", []),
            "forgotten_ids": facts["broker_ids"],
            "includes_living": order.get("includes_living", False),
            "expected_epoch": int(known["master epoch"]),
            "is_whole": known["replicas"] == ids_text(facts["broker_ids"]),
        }
    ]


def _adopt(order: Json, facts: Json, known: Known) -> list[Written]:
    adopt = _group(order, "adopt_replicas") | {
        "broker_ids": order["broker_ids"],
        "master_id": order.get("master_id"),
        "least_epoch": order.get("least_epoch"),
        "accepts_loss": order.get("accepts_loss", False),
        "lease_policy": facts["lease_policy"],
        "expected_epoch": int(known["master epoch"]),
    }
    return [adopt, _group(order, "await_master") | {"step": "elect"}]


def _protection(order: Json, _facts: Json, _known: Known) -> list[Written]:
    return [{"action": "set_protection", "is_protected": True, **order}]


_KINDS: Final[Mapping[str, Callable[[Json, Json, Known], list[Written]]]] = {
    "create_topic": lambda order, facts, _: _put_topic(order, facts, is_new=True),
    "change_topic": lambda order, facts, _: _put_topic(order, facts, is_new=False),
    "delete_topic": _delete_topic,
    "create_consumer_group": lambda order, facts, _: _put_group(order, facts, is_new=True),
    "change_consumer_group": lambda order, facts, _: _put_group(order, facts, is_new=False),
    "delete_consumer_group": _delete_group,
    "reset_offsets": _reset_offsets,
    "change_broker_config": _set_properties,
    "cordon_broker": _cordon,
    "uncordon_broker": lambda order, facts, _: [_permission(order, facts, takes_write=False)],
    "drain_broker": _drain,
    "forget_broker": _forget_broker,
    "release_locks": _release_locks,
    "elect_master": _elect,
    "prefer_master": _prefer,
    "forget_replicas": _forget_replicas,
    "adopt_replicas": _adopt,
    "change_protection": _protection,
}
