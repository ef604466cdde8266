"""The links in ONNX, which has neither erfc nor log1p for double numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from sgpc_framework.adapters.portable.onnx_nodes import DOMAIN, Nodes
from sgpc_framework.adapters.portable.special_functions import (
    POLE,
    TERMS,
    alternating,
    chebyshev,
    quadrature,
)
from sgpc_framework.parts.expressions import ManyClassLink, TwoClassLink

STEPS = 20
"""Of Newton's method, which needs five or so."""

AHEAD = 60.0
"""How far a class is ahead of itself: so far that it does not count."""


def functions() -> list[Any]:
    """``ScaledErfc`` and ``LogNormal``, which nodes of the domain ``sgpc`` call."""
    erfcx = Nodes(is_function=True)
    x = "x"
    near = erfcx("Min", x, 1e30)
    t = erfcx("Div", erfcx("Sub", near, POLE), erfcx("Add", near, POLE))
    twice = erfcx("Mul", t, 2.0)
    b, c = erfcx("Mul", t, 0.0), erfcx("Mul", t, 0.0)
    for coefficient in chebyshev()[:0:-1]:  # Clenshaw's recurrence
        b, c = erfcx("Sub", erfcx("Add", erfcx("Mul", twice, b), coefficient), c), b
    total = erfcx("Sub", erfcx("Add", erfcx("Mul", t, b), chebyshev()[0]), c)
    result = erfcx("Div", total, erfcx("Add", erfcx("Mul", x, 2.0), 1.0))
    normal = Nodes(is_function=True)
    z = "z"
    t = normal("Abs", z)
    ratio = normal("Mul", scaled_erfc(normal, normal("Mul", t, np.sqrt(0.5))), 0.5)
    half_square = normal("Mul", normal("Mul", t, t), 0.5)
    gauss = normal("Exp", normal("Neg", half_square))
    phi = normal("Sub", 1.0, normal("Mul", gauss, ratio))
    left = normal("Less", z, 0.0)
    left_log = normal("Sub", normal("Log", ratio), half_square)
    log_phi = normal("Where", left, left_log, normal("Log", phi))
    h = normal("Where", left, normal("Div", 1.0, ratio), normal("Div", gauss, phi))
    h = normal("Mul", h, 1.0 / np.sqrt(2.0 * np.pi))
    bend = normal("Mul", h, normal("Add", h, z))
    bend = normal("Min", normal("Max", bend, 0.0), 1.0)
    return [
        erfcx.function("ScaledErfc", [x], [result]),
        normal.function("LogNormal", [z], [log_phi, h, bend]),
    ]


def scaled_erfc(g: Nodes, x: str) -> str:
    """exp(x²) erfc(x) for x >= 0."""
    return str(g("ScaledErfc", x, domain=DOMAIN))


def log_probabilities(
    g: Nodes, link: TwoClassLink | ManyClassLink, mean: str, variance: str
) -> str:
    """Of all classes (columns), from the latent means and the variance, of shape (rows, 1)."""
    if isinstance(link, ManyClassLink):
        return _many_classes(g, link, mean, variance)
    return _two_classes(g, link, mean, variance)


def _two_classes(g: Nodes, link: TwoClassLink, mean: str, variance: str) -> str:
    shifted = g("Add", mean, link.bias)
    if link.curve == "normal":
        z = g("Div", shifted, g("Sqrt", g("Add", variance, link.slope**-2.0)))
        tail = _log_normal_tail(g, g("Abs", z))
    else:
        z = g("Mul", shifted, link.slope)
        tail = _log_logistic_tail(g, g("Abs", z), g("Mul", variance, link.slope**2))
    if link.epsilon > 0.0:
        mixed = g("Mul", g("Exp", tail), 1.0 - 2.0 * link.epsilon)
        tail = g("Log", g("Add", mixed, link.epsilon))
    rest = g("Log", g("Sub", 1.0, g("Exp", tail)))
    positive = g("Greater", z, 0.0)
    first, second = g("Where", positive, tail, rest), g("Where", positive, rest, tail)
    return str(g("Concat", first, second, axis=1))


def _log_normal_tail(g: Nodes, t: str) -> str:
    ratio = g("Mul", scaled_erfc(g, g("Mul", t, np.sqrt(0.5))), 0.5)
    return str(g("Sub", g("Log", ratio), g("Mul", g("Mul", t, t), 0.5)))


def _log_logistic_tail(g: Nodes, a: str, variance: str) -> str:
    """log E[1 / (1 + exp(-f))] for f ~ N(-a, v): one column for each term of the series."""
    v = g("Max", variance, 1e-30)
    s, far = g("Sqrt", g("Mul", v, 2.0)), g("Greater", a, v)
    k = np.arange(1.0, TERMS + 1.0)
    first = g("Div", g("Sub", v, a), s)
    scale = g("Where", far, g("Mul", g("Exp", g("Neg", g("Mul", first, first))), 0.5), 0.5)
    kv = g("Mul", v, k)
    term = g("Mul", scale, scaled_erfc(g, g("Abs", g("Div", g("Sub", kv, a), s))))
    growth = g("Mul", g("Sub", g("Mul", v, (k + 1.0) / 2.0), a), k - 1.0)
    growth = g("Exp", g("Min", growth, 0.0))
    overflowing = g("And", far, g("Less", kv, a))
    term = g("Where", overflowing, g("Sub", growth, term), term)
    upper = g("Div", g("Add", g("Mul", v, k - 1.0), a), s)
    terms = g("Add", term, g("Mul", scale, scaled_erfc(g, upper)))
    z = g("MatMul", terms, np.array(alternating())[:, None])
    near_scale = g("Mul", g("Mul", a, g("Div", a, v)), -0.5)
    far_scale = g("Sub", g("Mul", v, 0.5), a)
    return str(g("Add", g("Log", z), g("Where", far, far_scale, near_scale)))


def _many_classes(g: Nodes, link: ManyClassLink, mean: str, variance: str) -> str:
    """The axes are rows, own class, other classes, and then nodes in place of the latter."""
    count = len(link.bias)
    shifted = g("Add", mean, np.array(link.bias))
    own, other = (g("Unsqueeze", shifted, np.array([axis])) for axis in (2, 1))
    width = g("Unsqueeze", g("Sqrt", g("Add", variance, 1.0)), np.array([2]))
    z = g("Div", g("Sub", own, other), width)
    z = g("Where", np.eye(count, dtype=np.bool_), AHEAD, z)
    u = g("Mul", own, 0.0)
    curvature = u
    for _ in range(STEPS):
        _, h, bend = g("LogNormal", g("Add", u, z), outputs=3, domain=DOMAIN)
        curvature = g("Add", g.sum(bend, 2), 1.0)
        u = g("Add", u, g("Div", g("Sub", g.sum(h, 2), u), curvature))
    nodes, logarithms = map(np.array, quadrature())
    spread = g("Div", 1.0, g("Sqrt", curvature))
    t = g("Add", u, g("Mul", spread, nodes))
    apart = g("Add", g("Unsqueeze", t, np.array([3])), g("Unsqueeze", z, np.array([2])))
    log_phi, _, _ = g("LogNormal", apart, outputs=3, domain=DOMAIN)
    total = g("Squeeze", g.sum(log_phi, 3), np.array([3]))
    at = g("Add", g("Sub", logarithms, g("Mul", g("Mul", t, t), 0.5)), total)
    most = g("ReduceMax", at, axes=[2], keepdims=1)
    summed = g.sum(g("Exp", g("Sub", at, most)), 2)
    logs = g("Min", g("Add", most, g("Log", g("Mul", summed, spread))), 0.0)
    logs = g("Squeeze", logs, np.array([2]))
    if link.epsilon > 0.0:
        mixed = g("Mul", g("Exp", logs), 1.0 - link.epsilon)
        logs = g("Log", g("Add", mixed, link.epsilon / count))
    return str(g("LogSoftmax", logs, axis=1))
