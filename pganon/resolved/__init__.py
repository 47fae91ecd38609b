"""A policy resolved against the catalog: `ReleaseSpec`, which plans and methods read.

`resolve` makes it and reports what does not fit; the other modules are its parts.
"""
