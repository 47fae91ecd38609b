"""Estimates: a query for the source, answered from the published views of a release alone.

What a release publishes allows many sources (possible worlds). An answer has the bounds that hold
in all of them, and a mean over them. Either all worlds are equally likely, or values are spread as
the release makes it plausible. After LeFevre et al. (ICDE 2006), Xiao and Tao (VLDB 2006), Zhang et
al. (ICDE 2007) and Cormode et al. (ICDE 2012).
"""

from pganon.estimation.ask import Estimates, estimate

__all__ = ["Estimates", "estimate"]
