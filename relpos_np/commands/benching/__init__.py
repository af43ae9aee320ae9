"""What ``python -m relpos_np bench`` compares, and how it measures."""
