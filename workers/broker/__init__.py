"""The broker agent: asyncio around the engine, speaking RocketMQ's remoting protocol."""
