"""The shared cluster of a session, for everything below this folder."""

from tests.system.cluster import cluster

__all__ = ["cluster"]
