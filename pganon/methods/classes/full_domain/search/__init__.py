"""The search for the levels that lose least, as pure functions of counts."""
