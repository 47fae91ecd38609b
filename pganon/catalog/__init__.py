"""Sources in pg_catalog: columns, types, keys, statistics, and whose code they run."""
