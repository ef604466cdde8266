"""How good predictions are, which features matter, and whether two methods differ."""
