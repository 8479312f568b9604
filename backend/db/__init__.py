"""Hold the tables and one module of SQL per noun."""
