"""Report, with Spark, how much is stored a day and how long the disks last.

Reads Parquet files that the caller names and writes Parquet and JSON; it never sees a production
table, and nothing of the control plane is imported here (D25).
"""
