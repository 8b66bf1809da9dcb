from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodes.errors import ContractError
from episodes.numbering import MAX_K, EpisodeNumber


@pytest.mark.parametrize(
    ("k", "n", "chunk_file"), [(0, 1, (0, 0)), (1, 2, (0, 1)), (999, 1000, (0, 999)), (1000, 1001, (1, 0))]
)
def test_k_names_files_and_n_is_one_more(k: int, n: int, chunk_file: tuple[int, int]) -> None:
    number = EpisodeNumber(k)

    assert number.n == n
    assert EpisodeNumber.from_n(n) == number
    assert number.chunk_file(1000) == chunk_file


@given(st.integers(0, MAX_K), st.integers(1, 10**6))
def test_the_numbers_of_a_path_give_the_number_back(k: int, chunks_size: int) -> None:
    number = EpisodeNumber(k)

    assert EpisodeNumber.from_chunk_file(*number.chunk_file(chunks_size), chunks_size) == number


def test_numbers_are_in_order() -> None:
    assert sorted([EpisodeNumber(10), EpisodeNumber(9)]) == [EpisodeNumber(9), EpisodeNumber(10)]


@pytest.mark.parametrize("k", [-1, MAX_K + 1])
def test_a_number_that_cannot_be_is_refused(k: int) -> None:
    with pytest.raises(ContractError, match=str(k)):
        EpisodeNumber(k)


def test_there_is_no_episode_index_zero() -> None:
    with pytest.raises(ContractError):
        EpisodeNumber.from_n(0)
