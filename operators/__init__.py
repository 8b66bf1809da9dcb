"""Timing semantics over observables, one operator a file."""
