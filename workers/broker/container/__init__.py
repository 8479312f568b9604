"""A broker container: several brokers in one process, which tools add and remove (RIP-31).

Each broker has its own store, ports and group. The container has another port for tools, and a file
with the list of its brokers. An error of one broker does not stop the other ones.
"""
