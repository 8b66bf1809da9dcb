"""Declarative rigs and the registry that finds them."""
