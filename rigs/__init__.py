"""Declarative rigs, and the registry that finds them."""

from flows.rig import Rig
from rigs.registry import RigInfo, RigParameter, list_rigs, load_rig

__all__ = ["Rig", "RigInfo", "RigParameter", "list_rigs", "load_rig"]
