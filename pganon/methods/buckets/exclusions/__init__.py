"""Values that exclude each other in one record: which readers may draw on, and how."""
