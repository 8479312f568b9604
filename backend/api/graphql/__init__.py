"""Answer the console: one typed graph, read by query and followed by subscription."""
