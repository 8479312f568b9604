"""RocketMQ commands, headers and bodies over the engine's codec, without any I/O.

The package takes bytes or values, and returns values or bytes. It does not wait, open a socket or
read a clock; its users (name server, broker agent, clients) do that.
"""
