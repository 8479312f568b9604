"""The commands of `regent replica`."""

from backend.cli import adoptions, replica_lags
from backend.cli.replicas import replica

__all__ = ["replica"]

adoptions.register(replica)
replica_lags.register(replica)
