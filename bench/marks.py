# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What part of a CPU a User-mode Linux got, from the marks of uml-run."""


def busy_shares(path):
    """{NAME: CPU seconds per second} between the marks NAME.begin and NAME.end."""
    begin, shares = {}, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            mark, clock, cpu = line.split()
            name, _, edge = mark.rpartition(".")
            if edge == "begin":
                begin[name] = (float(clock), float(cpu))
            else:
                shares[name] = (float(cpu) - begin[name][1]) / (float(clock) - begin[name][0])
    return shares
