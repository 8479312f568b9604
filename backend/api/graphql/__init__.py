"""Serve the graph of the console: queries, mutations and subscriptions.

A type is made from a view once, with all its relations. So relations are added here, before a
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
