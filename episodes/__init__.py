"""The on-disk contract ``pooled_episodes_v1``: what it is, and how it is read."""
