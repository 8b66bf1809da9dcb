"""What an operator touches: the command line."""
