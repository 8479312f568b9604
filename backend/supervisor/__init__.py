"""Run a whole local cluster from one command: `regent up`.

The supervisor owns processes and directories only. It knows no table, topic or election: it starts
the same processes as a real installation (docs/architecture.md).
"""
