# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Ratios of measurements taken in pairs."""

import statistics


def summary(ratios):
    return {
        "ratio": statistics.median(ratios),
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
        "ratios": ratios,
    }


def text(row):
    return f"{row['ratio']:.2f} ({row['ratio_min']:.2f}..{row['ratio_max']:.2f})"
