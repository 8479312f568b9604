"""A whole local cluster from one command: what `regent up` runs.

Owns processes and directories only. It knows no table, topic or election: the processes that it
starts are the same ones that a real installation runs (docs/architecture.md).
"""
