"""The commands of `regent replica`."""

from backend.cli import replica_lags
from backend.cli.replicas import replica

__all__ = ["replica"]

replica.command("backend.cli.adoptions:list_candidates", name="candidates")
replica.command("backend.cli.controller_orders:adopt_replicas", name="adopt")
replica_lags.register(replica)
