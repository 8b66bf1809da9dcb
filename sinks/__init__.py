"""Everything that writes: live files, the commit, recovery, deletion."""
