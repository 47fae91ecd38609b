"""Import of files into tables: libraries read them, types of texts are inferred, COPY."""
