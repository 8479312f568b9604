"""A group to change over the HTTP door, and what an operator sends for it."""

V1 = "/api/v1"
G = V1 + "/clusters/c/replica-groups/g"
OPS = V1 + "/operations"
GROUP = {"cluster_name": "c", "broker_group_name": "g"}
REASON = {"typed_name": "g", "reason": "planned work"}
LOSS = {**REASON, "accepts_loss": True}
