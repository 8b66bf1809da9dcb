"""Device sources: bytes on a wire or a driver call become typed events."""
