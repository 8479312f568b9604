"""The commands of `regent operation`."""

from backend.cli import approvals
from backend.cli.operations import operation

__all__ = ["operation"]

approvals.register(operation)
