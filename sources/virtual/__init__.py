"""Virtual twins of devices."""
