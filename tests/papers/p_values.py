"""Two-sided p values of correlation coefficients, from closed forms: nothing is integrated or taken from a library."""

from math import atan, cos, erfc, pi, sin, sqrt


def student(t, degrees):
    """Of Student's t with a whole number of degrees: the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = atan(abs(t) / sqrt(degrees))
    term, total, first = 1.0, 1.0, degrees % 2
    for n in range(2 + first, degrees - 1, 2):
        term *= (n - 1) / n * cos(angle) ** 2
        total += term
    if first == 0:
        return 1 - sin(angle) * total
    return 1 - 2 / pi * (angle + (sin(angle) * cos(angle) * total if degrees > 1 else 0))


def of_coefficient(r, n):
    """Of Pearson's r, or of Spearman's rho by the same approximation, with n - 2 degrees."""
    return 0.0 if abs(r) == 1 else student(r * sqrt((n - 2) / (1 - r * r)), n - 2)


def of_kendall(a, b):
    """Of tau where values are tied: the normal approximation, its variance corrected for ties (Kendall 1970, 4.3)."""
    n = len(a)
    sign = lambda x: (x > 0) - (x < 0)
    surplus = sum(sign(a[i] - a[j]) * sign(b[i] - b[j]) for i in range(n) for j in range(i))
    ties = lambda values: [values.count(value) for value in set(values)]
    over = lambda term: [sum(term(t) for t in ties(values)) for values in (a, b)]
    wide = over(lambda t: t * (t - 1) * (2 * t + 5))
    pairs = over(lambda t: t * (t - 1))
    triples = over(lambda t: t * (t - 1) * (t - 2))
    variance = (n * (n - 1) * (2 * n + 5) - sum(wide)) / 18
    variance += pairs[0] * pairs[1] / (2 * n * (n - 1))
    variance += triples[0] * triples[1] / (9 * n * (n - 1) * (n - 2))
    return erfc(abs(surplus) / sqrt(2 * variance))
