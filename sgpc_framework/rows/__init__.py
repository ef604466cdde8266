"""The data plane: where the training rows live, and all that is done to them."""
