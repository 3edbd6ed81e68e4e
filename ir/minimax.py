#!/usr/bin/env python3
"""Derives the tables of ir/tables.def and the polynomials of ir/single_functions.h, ir/exponentials.h, ir/circular.h, ir/inverse_circular.h, ir/special.h, ir/gamma.h,
ir/double_exponentials.h, ir/double_logarithms.h, ir/double_power.h, ir/double_functions.h, ir/long_sums.h and ir/double_gamma.h, and the latter's parabolas (needs python3-mpmath).

Each fit minimises the largest weighted error by Lawson's algorithm: least squares whose weights grow
where the error is large.  Coefficients are rounded to the format they are used in one after another,
lowest power first, and the rest is fitted again, so that it makes up for the rounding.  Prints the
error that is left, relative to the function computed, and the coefficients, highest power first."""

import struct

from mpmath import (asin, atan, atanh, bernoulli, cos, erf, erfc, erfinv, exp, expm1, fabs, gamma, log, log1p, loggamma, lu_solve, matrix, mp,
                    mpf, ncdf, pi, psi, sin, sinh, sinpi, sqrt, tan)

mp.dps = 70
TINY = mpf(10) ** -20


def to_f32(x):
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def to_f64(x):
    return mpf(float(x))


def to_sum(x):
    """The sum of two numbers of f64."""
    return to_f64(x) + to_f64(x - to_f64(x))


def minimax(function, weight, low, high, powers, rounds=14):
    """The coefficients of `powers` with the smallest largest weighted error found."""
    count = len(powers)
    size = 8 * count + 20
    points = [(low + high) / 2 - (high - low) / 2 * cos(pi * (i + mpf(1) / 2) / size) for i in range(size)]
    values = [function(x) for x in points]
    weights = [weight(x) for x in points]
    rows = [[x**power for power in powers] for x in points]
    lawson = [mpf(1) / size] * size
    best, best_error = None, None
    for _ in range(rounds):
        left, right = matrix(count, count), matrix(count, 1)
        for row, value, w, share in zip(rows, values, weights, lawson):
            for i in range(count):
                scaled = share * w * w * row[i]
                right[i] += scaled * value
                for j in range(count):
                    left[i, j] += scaled * row[j]
        solution = lu_solve(left, right)
        errors = [
            fabs((value - sum(solution[j] * row[j] for j in range(count))) * w)
            for row, value, w in zip(rows, values, weights)
        ]
        largest = max(errors)
        if best_error is None or largest < best_error:
            best, best_error = [solution[j] for j in range(count)], largest
        if largest == 0:
            break
        lawson = [share * (error + largest / 1000) for share, error in zip(lawson, errors)]
        total = sum(lawson)
        lawson = [share / total for share in lawson]
    return best


def fit(name, function, weight, low, high, count, rounded, num_sums=0):
    """Prints a polynomial of `count` terms; the `num_sums` lowest are sums of two numbers, printed in parts."""
    low, high = mpf(low), mpf(high)
    known = {}
    for power in range(count):
        rest = lambda x: function(x) - sum(c * x**p for p, c in known.items())
        known[power] = (to_sum if power < num_sums else rounded)(minimax(rest, weight, low, high, list(range(power, count)))[0])
    points = [low + (high - low) * i / 3000 for i in range(3001)]
    error = max(fabs((function(x) - sum(c * x**p for p, c in known.items())) * weight(x)) for x in points if x != 0)
    print(f"{name}: 2^{float(mp.log(error, 2)):.2f}")
    print("  {" + ", ".join(repr(float(known[power])) for power in reversed(range(count))) + "}", flush=True)
    for power in range(num_sums):
        print(f"  and {float(known[power] - to_f64(known[power]))!r} to the term of x^{power}", flush=True)


def exp_quadratic(x):
    return (exp(x) - 1 - x) / x**2 if fabs(x) > TINY else mpf(1) / 2


def exp2_slope(x):
    return (mpf(2)**x - 1) / x if fabs(x) > TINY else log(2)


def log_quadratic(x):
    return (log1p(x) - x) / x**2 if fabs(x) > TINY else -mpf(1) / 2


def odd_rest(function, z, limit):
    """(function(x) / x - 1) / x^2 in z = x^2."""
    x = sqrt(z)
    return (function(x) / x - 1) / z if z > TINY else limit


def scaled_tail(u, centre=3):
    """The normal distribution beyond x, times exp(x^2 / 2) * (x + centre), where u = (x - centre) / (x + centre)."""
    x = centre * (1 + u) / (1 - u)
    return ncdf(-x) * exp(x * x / 2) * (x + centre)


def to_f32_or_short(x):
    """A number above 0.6 rounded to 2^-22, others to f32."""
    return mp.nint(x * 2**22) / 2**22 if x > mpf("0.6") else to_f32(x)


def far_poles(z):
    """What the poles of pi / tan(pi r) beyond 1 add to it, over -2 r, in z = r^2."""
    r = sqrt(z)
    return (1 / r - 2 * r / (1 - z) - pi / tan(pi * r)) / (2 * r) if z > TINY else pi * pi / 6 - 1


def near_zero(function, series, least=mpf(10)**-12):
    """`function`, but within `least` of 0, where it cancels, the first terms of its series."""
    return lambda x: function(x) if fabs(x) > least else sum(c * x**k for k, c in enumerate(series))


def log_gamma(x):
    return log(fabs(gamma(x)))


def digamma(x):
    return psi(0, x)


# Of the asymptotic series in z = 1 / y^2.
NUMBERS = [bernoulli(2 * k) / (2 * k) for k in range(1, 10)]
STIRLING = near_zero(lambda z: (loggamma(1 / sqrt(z)) + (1 / sqrt(z) - mpf(1) / 2) * log(z) / 2 + 1 / sqrt(z) - log(2 * pi) / 2) / sqrt(z),
                     [b / (2 * k + 1) for k, b in enumerate(NUMBERS)])


def long_fits():
    """For sums of 104 bits."""
    mp.dps = 90
    half_log_2 = log(2) / 2 * mpf("1.005")
    fit("exp of long sums", near_zero(lambda x: (exp(x) - 1 - x) / x**2, [mpf(1) / 2, mpf(1) / 6, mpf(1) / 24, mpf(1) / 120]),
        lambda x: x * x, -half_log_2, half_log_2, 18, to_f64, 11)
    widest = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * mpf("1.01")
    fit("log of long sums", near_zero(lambda z: odd_rest(atanh, z, 0), [mpf(1) / 3, mpf(1) / 5, mpf(1) / 7, mpf(1) / 9]),
        lambda z: z, 0, widest, 14, to_f64, 8)
    # For y >= 12.
    fit("digamma", near_zero(lambda z: (-log(z) / 2 - sqrt(z) / 2 - digamma(1 / sqrt(z))) / z, NUMBERS),
        lambda z: z, 0, mpf(1) / 144, 14, to_f64, 6)
    fit("lgamma", STIRLING, sqrt, 0, mpf(1) / 144, 14, to_f64, 5)
    fit("cotangent, long", near_zero(lambda z: ((1 - z) * pi * sqrt(z) / tan(pi * sqrt(z)) - 1) / z,
                                     [-1 - pi**2 / 3, pi**2 / 3 - pi**4 / 45]), lambda z: z, 0, mpf(1) / 16, 14, to_f64, 8)
    fit("sine of turns", near_zero(lambda z: (sin(pi * sqrt(z)) / (pi * sqrt(z)) - 1) / z,
                                   [-pi**2 / 6, pi**4 / 120, -pi**6 / 5040]), lambda z: z, 0, mpf(1) / 4, 14, to_f64, 9)


def parabola(function, low, high, order):
    """Prints the parabola around the number next to the only root in between; `order` is that of the slope as a psi."""
    low, high = mpf(low), mpf(high)
    sign = function(low) > 0
    for _ in range(250):
        middle = (low + high) / 2
        low, high = (middle, high) if (function(middle) > 0) == sign else (low, middle)
    at = to_f64(low)
    parts = [(float(x), float(x - to_f64(x))) for x in (function(at), psi(order, at))]
    print(f"  {{{float(at)!r}, {parts[0]}, {parts[1]}, {float(psi(order + 1, at) / 2)!r}}}", flush=True)


def parabolas():
    print("lgamma next to its roots")
    for low, high in ((-3.999, -3.5), (-3.5, -3.001), (-2.999, -2.6), (-2.6, -2.1), (0.9, 1.1), (1.9, 2.1)):
        parabola(log_gamma, low, high, 0)
    print("digamma next to its roots")
    for low, high in ((-2977.999, -2977.001), (-5.999, -5.001), (-1.999, -1.001), (-0.999, -0.001), (1, 2)):
        parabola(digamma, low, high, 1)


def table(name, entries):
    print(f"WEFT_TABLE({name}, " + ", ".join(f"{float(to_f32(x)):.9g}" for x in entries) + ")", flush=True)


def power_tables():
    """1 / c for c next to a mantissa in [3/4, 3/2), whose place its four highest bits say, and log2(c); powers of 2^(1/16)."""
    inverses = []
    for place in range(16):
        scale = mpf(1) if place < 8 else mpf(1) / 2
        low, high = scale * (1 + mpf(place) / 16), scale * (1 + mpf(place + 1) / 16)
        unit = mpf(2) ** (-23 if place < 8 else -24)
        best = None
        for sixty_fourths in range(32, 96):
            inverse = mpf(sixty_fourths) / 64
            if place in (0, 15) and inverse != 1:
                continue  # what is next to one is its own mantissa
            last_bit = unit * (sixty_fourths & -sixty_fourths) / 64
            rest = max(fabs(low * inverse - 1), fabs(high * inverse - 1))
            if rest < last_bit * 2**24 and (best is None or rest < best[0]):  # then the product less one is exact
                best = rest, inverse
        inverses.append(best[1])
    logs = [-log(x, 2) for x in inverses]
    short = [mp.nint(x * 2**15) / 2**15 for x in logs]  # so that an exponent is added exactly
    table("inverse", inverses)
    table("log2_high", short)
    table("log2_low", [x - high for x, high in zip(logs, short)])
    powers = [mpf(2) ** (mpf(i) / 16) for i in range(16)]
    table("exp2_high", powers)
    table("exp2_low", [x - to_f32(x) for x in powers])


def with_short_value(function, near):
    """A number next to `near` with a value that is next to a float."""
    unit = mpf(2) ** (mp.floor(mp.log(near, 2)) - 23)
    candidates = [to_f32(near) + 7 * i * unit for i in range(-400, 401)]

    def distance(x):
        value = function(x)
        return fabs(value - to_f32(value)) / mpf(2) ** mp.floor(mp.log(value, 2))

    return min(candidates, key=distance)


def tables_of(name, function, slope, top):
    """Of an odd function, which is 1 from `top` on: in the four steps of each octave of 1 + x a polynomial around a centre.  The
    first has none of the function's value: it adds to x what is missing, `slope` of it at zero."""
    rows = []
    for step in range(16):
        octave = 2 ** (step // 4)
        low, high = octave * (1 + mpf(step % 4) / 4) - 1, octave * (1 + mpf(step % 4 + 1) / 4) - 1
        if low >= top:
            rows.append([rows[-1][0], mpf(1)] + [mpf(0)] * 6)
            continue
        high = min(high, top)
        # Lower than the middle where the values of a step are some times its first one.
        share = {1: mpf("0.36"), 2: mpf("0.44")}.get(step, mpf("0.5"))
        centre = with_short_value(function, low + (high - low) * share) if step else mpf(0)
        value = to_f32(function(centre))
        if step:
            curve = lambda t: (function(centre + t) - value) / t if fabs(t) > mpf(10)**-9 else mp.diff(function, centre)
        else:
            curve = lambda t: (function(t) - t) / t if t > mpf(10)**-8 else slope
        weight = lambda t: t / function(centre + t) if centre + t else mpf(1)
        first = to_f32(minimax(curve, weight, low - centre, high - centre, list(range(6)), 9)[0])
        others = minimax(lambda t: curve(t) - first, weight, low - centre, high - centre, list(range(1, 6)), 9)
        rows.append([centre, value, first] + others)
    names = ["centre", "value"] + [str(power) for power in range(1, 7)]
    for i, part in enumerate(names):
        column = [row[i] for row in rows]
        table(f"{name}_{part}", column[4:] + column[:4])  # by the last two bits of the exponent, from 2 on


def tables():
    mp.dps = 30
    power_tables()
    tables_of("tanh", mp.tanh, mpf(0), 9)
    tables_of("erf", erf, 2 / sqrt(pi) - 1, mpf("3.95"))
    mp.dps = 70


def main():
    half_log_2 = log(2) / 2 * mpf("1.005")
    for name, count, rounded in (("exp f32", 5, to_f32), ("exp rough", 8, to_f64), ("exp f64", 10, to_f64)):
        fit(name, exp_quadratic, lambda x: x * x / exp(x), -half_log_2, half_log_2, count, rounded)
    fit("exp2 f32", exp2_slope, lambda x: fabs(x) / 2**x, -mpf(1) / 2, mpf(1) / 2, 6, to_f32)
    fit("exp2 of gelu", exp2_slope, lambda x: fabs(x) / 2**x, -mpf(1) / 2, mpf(1) / 2, 6, to_f64)
    fit("log f32", log_quadratic, lambda x: fabs(x * x / log1p(x)) if x else mpf(0), -mpf(1) / 4, mpf(1) / 2, 9, to_f32)
    fit("exp2 of sixteenths", exp2_slope, fabs, mpf(-1.001) / 32, mpf(1.001) / 32, 4, to_f32)
    fit("log of a table's rest", lambda x: (log1p(x) - x + x * x / 2) / x**3 if fabs(x) > TINY else mpf(1) / 3,
        lambda x: x * x, mpf("-0.0392"), mpf("0.0626"), 5, to_f32)
    fit("expm1 f32", exp_quadratic, lambda x: fabs(x * x / expm1(x)) if x else mpf(0), -half_log_2, half_log_2, 6, to_f32)
    eighth = (pi / 4 * mpf("1.002")) ** 2
    fit("sin f32", lambda z: -odd_rest(sin, z, -mpf(1) / 6), lambda z: z * sqrt(z) / sin(sqrt(z)) if z else mpf(0),
        0, eighth, 3, to_f32)
    fit("cos f32", lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2 if z > mpf(10)**-12 else mpf(1) / 24,
        lambda z: z * z / cos(sqrt(z)), 0, eighth, 3, to_f32)
    eighth = (pi / 4 * mpf("1.0001")) ** 2
    fit("sin f64", lambda z: -odd_rest(sin, z, -mpf(1) / 6), lambda z: z * sqrt(z) / sin(sqrt(z)) if z else mpf(0),
        0, eighth, 6, to_f64)
    fit("cos f64", lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2 if z > TINY else mpf(1) / 24,
        lambda z: z * z / cos(sqrt(z)), 0, eighth, 6, to_f64)
    narrow = (tan(pi / 8) * mpf("1.001")) ** 2
    for name, limit, function, counts, series in (
            ("atan", narrow, atan, (5, 11), [-mpf(1) / 3, mpf(1) / 5, -mpf(1) / 7]),
            ("asin", mpf("0.2501"), asin, (6, 13), [mpf(1) / 6, mpf(3) / 40, mpf(5) / 112])):
        for count, rounded in zip(counts, (to_f32, to_f64)):
            fit(f"{name}, {count} terms", near_zero(lambda z: odd_rest(function, z, 0), series, mpf(10)**-9), lambda z: z,
                0, limit, count, rounded)
    widest = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * mpf("1.01")
    for name, count in (("log rough", 5), ("log f64", 8)):
        fit(name, lambda z: odd_rest(atanh, z, mpf(1) / 3), lambda z: z, 0, widest, count, to_f64)
    fit("log above one", lambda z: odd_rest(atanh, z, mpf(1) / 3), lambda z: z, 0, mpf("0.1112"), 9, to_f64)
    fit("erfc rough", lambda t: log(erfc(2 / t - 2) / t) + (2 / t - 2) ** 2, lambda t: mpf(1),
        mpf(2) / mpf("12.2"), 1, 16, to_f64)
    fit("exp of sums", lambda x: (exp_quadratic(x) - mpf(1) / 2) / x if fabs(x) > TINY else mpf(1) / 6,
        lambda x: x**3 / exp(x), -half_log_2, half_log_2, 10, to_f64)
    fit("exp2 f64", exp2_slope, lambda x: fabs(x) / 2**x, mpf("-0.50005"), mpf("0.50005"), 11, to_f64)
    fit("atanh f64", near_zero(lambda z: odd_rest(atanh, z, 0), [mpf(1) / 3, mpf(1) / 5, mpf(1) / 7], mpf(10)**-9),
        lambda z: z, 0, mpf("0.0412"), 8, to_f64)
    fit("erf f64", near_zero(lambda z: erf(sqrt(z)) / sqrt(z) - 1, [2 / sqrt(pi) - 1, -2 / sqrt(pi) / 3], mpf(10)**-9),
        lambda z: sqrt(z) / erf(sqrt(z)) if z else sqrt(pi) / 2, 0, mpf("0.8101"), 12, to_f64)
    fit("log of erfc", lambda x: log(erfc(x)), lambda x: erfc(x) / erf(x), mpf("0.9"), mpf("5.95"), 19, to_f64)
    fit("log of pow", near_zero(lambda z: (odd_rest(atanh, z, 0) - mpf(1) / 3) / z, [mpf(1) / 5, mpf(1) / 7, mpf(1) / 9],
                                mpf(10)**-6), lambda z: z * z, 0, widest / mpf("1.009"), 7, to_f64)
    fit("inverse cube root", lambda f: (1 + f)**(-mpf(1) / 3), lambda f: (1 + f)**(mpf(1) / 3), mpf("-0.2929"),
        mpf("0.41422"), 6, to_f64)
    fit("sinh f64", lambda z: odd_rest(sinh, z, mpf(1) / 6), lambda z: z, 0, mpf("0.16"), 6, to_f64)
    fit("sinc", lambda z: (sinpi(sqrt(z)) / (pi * sqrt(z)) - 1) / z if z > TINY else -pi * pi / 6,
        lambda z: z, 0, mpf("0.2501"), 9, to_f64, 2)
    fit("cotangent", far_poles, lambda z: 2 * sqrt(z), 0, mpf("0.25"), 10, to_f64)
    fit("erfinv f64", lambda z: (erfinv(sqrt(z)) / sqrt(z) - sqrt(pi) / 2) / z if z > TINY else (sqrt(pi) / 2) ** 3 / 3,
        lambda z: z, 0, mpf("0.25"), 18, to_f64)
    fit("normal tail", scaled_tail, lambda u: 1 / scaled_tail(u), -1, mpf(36) / 42, 28, to_f64, 5)
    centre, last = mpf("3.375"), mpf("14.5")
    fit("normal tail of f32", lambda u: scaled_tail(u, centre), lambda u: 1 / scaled_tail(u, centre), -1,
        (last - centre) / (last + centre), 10, to_f32_or_short)
    fit("lgamma of f32", STIRLING, sqrt, 0, mpf(1) / 16, 10, to_f64)
    long_fits()
    parabolas()
    tables()


if __name__ == "__main__":
    main()
