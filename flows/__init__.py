"""Compositions: device flows, and the capture session."""
