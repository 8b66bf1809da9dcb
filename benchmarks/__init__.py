"""Benchmarks, side by side with peers, in one run."""
