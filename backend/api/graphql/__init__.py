"""Answer the console: one typed graph, read by query and followed by subscription.

A type is made from a view once, with all its relations. So relations are added here, before any
module of this package makes a type.
"""

from importlib import import_module

from backend.api.graphql.questions import add_relations

for _name in (
    "brokers",
    "capacity",
    "clusters",
    "consumer_groups",
    "operations",
    "replica_groups",
    "topics",
):
    add_relations(vars(import_module(f"{__name__}.{_name}")).values())
