"""What the agent does for each request: parse, act, answer.

A processor gets the broker, the caller and the command. It returns the answer, or None when the
answer comes later by itself (a held pull), or an awaitable when something must first be durable.
What it changes in memory it changes before it returns, so requests act in the order they came.
"""
