"""From the source to codes: the snapshot, dictionaries of values, axes and cells.

Methods and models read codes and counts; only the encoder reads values of the source.
"""
