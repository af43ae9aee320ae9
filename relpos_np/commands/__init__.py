"""One file per command of ``python -m relpos_np``."""
