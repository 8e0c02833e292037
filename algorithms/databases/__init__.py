"""Records that stay where they are: profiled and released in DuckDB, PostgreSQL or Spark."""
