"""Import of files into tables: reading, types of columns, notes, and COPY."""
