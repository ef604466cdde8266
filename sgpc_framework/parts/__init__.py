"""What a part is made of: hyperparameters, options, abilities, calls and derivatives."""
