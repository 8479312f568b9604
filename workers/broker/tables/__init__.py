"""The tables of a broker: topics, groups, offsets, locks and clients."""
