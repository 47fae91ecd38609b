"""The queue of requests, as tables: claims, decisions, workers, states."""
