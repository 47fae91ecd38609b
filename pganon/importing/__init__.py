"""Files to tables: what a file holds, the types of its columns, hints, and COPY."""
