"""The same attention, faster: every rung has the arguments and results of the core."""
