"""Read what the graph answers as REST would spell it."""

NUMBERS_AS_TEXT = {
    "broker_id",
    "max_offset",
    "confirm_offset",
    "master_id",
    "winner_id",
    "lease_left_ms",
    "awaits_lease_ms",
    "start_offset",
    "end_offset",
    "master_max_offset",
    "lag_bytes",
    "ahead_bytes",
    "bytes_per_second",
    "catch_up_ms",
}


def snake(name):
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def as_rest(value, name=""):
    """Spell what the graph answers as REST does; enums are capitals there."""
    if isinstance(value, dict):
        return {snake(key): as_rest(item, snake(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [as_rest(item, name) for item in value]
    if name in {"sync_state_set", "retired_ids"} | NUMBERS_AS_TEXT and value is not None:
        return int(value)
    if name in {"verdict", "lease_policy", "mode"}:
        return value.lower()
    if name == "last_heartbeat_at":
        return value is not None
    return value
