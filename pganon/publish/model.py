from pganon.plan.staged import *  # noqa: F403
