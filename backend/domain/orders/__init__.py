"""Say what can be ordered: one dataclass an order, each parameter with its help and bounds.

The kinds of operations, REST, the graph, the command line, the console's forms and the table of the
docs read them from here. A kind is called as its order: `CreateTopic` is `create_topic`.
"""
