"""What pg_catalog says of sources: columns, types, keys, statistics, and whose code they run."""
