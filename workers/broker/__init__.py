"""The broker agent: asyncio around the engine, with RocketMQ's remoting protocol."""
