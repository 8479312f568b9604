"""RocketMQ commands, headers and bodies over the engine's codec, without any I/O.

Everything here takes bytes or values and gives values or bytes. Nothing waits, opens a socket or
reads a clock; the shells around it (name server, broker agent, clients) own those.
"""
