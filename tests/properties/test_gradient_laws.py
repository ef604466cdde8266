"""Exact gradients equal central differences: every objective, kernel and likelihood."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from sgpc_framework.plugin.registry import default_registry
from sgpc_framework.testing import gradient_laws as laws
from sgpc_framework.testing.strategies import fitted_states

OBJECTIVES = [name for name in default_registry().names("objective") if name != "none"]


@pytest.mark.parametrize("name", OBJECTIVES)
@settings(max_examples=60)
@given(fitted_states())
def test_gradient_equals_differences(name, fitted):
    objective = default_registry().get("objective", name)()
    laws.objectives_have_exact_gradients(objective, fitted)
