"""The two numbers of an episode, as one type: k names files, N stands in the parquet column."""

from __future__ import annotations

from dataclasses import dataclass

from episodes.errors import ContractError

__all__ = ["MAX_K", "EpisodeNumber"]

MAX_K = 10**9 - 1
"""Far above any task; a number beyond it is damage."""


@dataclass(frozen=True, slots=True, order=True)
class EpisodeNumber:
    """The number of an episode in its task; ``k`` is 0-based and names files, ``n`` = k + 1 is ``episode_index``.

    The command line and the API take k. Both never mix: only this type knows the other one.
    """

    k: int

    def __post_init__(self) -> None:
        if not 0 <= self.k <= MAX_K:
            raise ContractError(f"episode number {self.k} is out of range: it counts from 0")

    @classmethod
    def from_n(cls, n: int) -> EpisodeNumber:
        """From the 1-based ``episode_index``."""
        return cls(n - 1)

    @classmethod
    def from_chunk_file(cls, chunk: int, file: int, chunks_size: int) -> EpisodeNumber:
        """From the numbers in a path."""
        return cls(chunk * chunks_size + file)

    @property
    def n(self) -> int:
        """The 1-based ``episode_index`` of the parquet column."""
        return self.k + 1

    def chunk_file(self, chunks_size: int) -> tuple[int, int]:
        """The numbers c and f of ``chunk-{c:03d}/episode-{f:03d}``."""
        return divmod(self.k, chunks_size)
