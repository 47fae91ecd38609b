"""Privacy models: parameters, the bound of each, and how it is measured in SQL.

One class per model; `models` lists them.
"""
