"""Report, with Spark, how much data is stored per day, and when the disks are full.

Reads Parquet files that the caller names, and writes Parquet and JSON. It has no access to
production tables, and imports nothing of the control plane (D25).
"""
