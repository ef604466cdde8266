"""Mathematics without rows: the additive form, sites, and what rounding may do."""
