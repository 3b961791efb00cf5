# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Writes signature_vectors.inc: transfers of three blocks, and what comes of them.

Independent of the engine and of the model of its tests: from the definitions only.
usage: python3 signature_vectors.py >signature_vectors.inc
"""
import struct
import zlib
from functools import lru_cache
from math import lcm

NONE, T10_CRC, T10_CSUM, CRC32, CRC32C, CRC64 = range(6)
FIELD = {NONE: 0, T10_CRC: 8, T10_CSUM: 8, CRC32: 4, CRC32C: 4, CRC64: 8}
GUARD, REFTAG, APPTAG = range(3)
MEMORY, WIRE = range(2)
SIZES = [8, 512, 520, 4096, 4104, 4160, 65528]


def is_t10(fmt):
    return fmt in (T10_CRC, T10_CSUM)


def t10_table():
    table = []
    for byte in range(256):
        crc = byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ (0x18BB7 if crc & 0x8000 else 0)
        table.append(crc)
    return table


def reflected_table(polynomial):
    table = []
    for crc in range(256):
        for _ in range(8):
            crc = (crc >> 1) ^ (polynomial if crc & 1 else 0)
        table.append(crc)
    return table


T10_TABLE = t10_table()
TABLES = {
    CRC32: reflected_table(0xEDB88320),
    CRC32C: reflected_table(0x82F63B78),
    CRC64: reflected_table(0x9A6C9329AC4BC9B5),
}


@lru_cache(maxsize=None)
def guard(fmt, seed, block):
    if fmt == T10_CRC:
        crc = seed
        for byte in block:
            crc = ((crc << 8) & 0xFFFF) ^ T10_TABLE[(crc >> 8) ^ byte]
        return crc
    if fmt == T10_CSUM:
        total = seed + sum(struct.unpack(f">{len(block) // 2}H", block))
        while total >> 16:
            total = (total & 0xFFFF) + (total >> 16)
        return total ^ 0xFFFF
    crc = seed
    for byte in block:
        crc = (crc >> 8) ^ TABLES[fmt][(crc ^ byte) & 0xFF]
    return crc ^ ((1 << 8 * FIELD[fmt]) - 1)


class Domain:
    """The test has the same two variants."""

    def __init__(self, fmt, interval, variant, where):
        other = variant and where == WIRE
        bits = 16 if is_t10(fmt) else 8 * FIELD[fmt]
        self.format = fmt
        self.interval = interval
        self.seed = (1 << bits) - 1 if variant and fmt else 0
        self.app = 0x4321 if other else 0x1234
        self.ref = 7 if other else 0xFFFFFFFE

    def values(self, block, i):
        g = guard(self.format, self.seed, block)
        return g, self.app, (self.ref + i) & 0xFFFFFFFF

    def field(self, block, i):
        g, app, ref = self.values(block, i)
        if is_t10(self.format):
            return struct.pack(">HHI", g, app, ref)
        return g.to_bytes(FIELD[self.format], "big")

    def blocks(self, data):
        return [data[i : i + self.interval] for i in range(0, len(data), self.interval)]

    def fields(self, data):
        if not self.format:
            return []
        return [self.field(block, i) for i, block in enumerate(self.blocks(data))]

    def stream(self, data, fields):
        if not self.format:
            return data
        return b"".join(b + f for b, f in zip(self.blocks(data), fields))


def pattern(length):
    return bytes((i * 167 + (i >> 8) * 29 + (i >> 3) * i) & 0xFF for i in range(length))


def corrupted(domain, fields, what):
    """what: 0 nothing; guard, application tag or reference tag of block 1"""
    fields = list(fields)
    if what and domain.format:
        bad = bytearray(fields[1])
        bad[(0, 0, 3, 7)[what]] ^= 1
        fields[1] = bytes(bad)
    return fields


def error(domain, data, what):
    if not what or not domain.format:
        return (-1, 0, 0, 0)
    g, app, ref = domain.values(domain.blocks(data)[1], 1)
    offset = domain.interval + FIELD[domain.format]
    if what == 1:
        top = 8 if is_t10(domain.format) else 8 * (FIELD[domain.format] - 1)
        return (GUARD, g ^ (1 << top), g, offset)
    if what == 2:
        return (APPTAG, app ^ 1, app, offset)
    return (REFTAG, ref ^ 1, ref, offset)


def merged(source, target, old, new):
    """What of an output's field comes from the input's."""
    if not source.format or not target.format or source.interval != target.interval:
        return new
    if is_t10(source.format) and is_t10(target.format):
        return [
            (o[:2] if source.format == target.format else n[:2])
            + (o[2:4] if source.app == target.app else n[2:4])
            + (o[4:] if source.ref == target.ref else n[4:])
            for o, n in zip(old, new)
        ]
    return old if source.format == target.format else new


def row(memory, wire, sizes, interleaved, where, number):
    variant = number // 4 % 2
    domains = [Domain(memory, sizes[0], variant, MEMORY), Domain(wire, sizes[1], variant, WIRE)]
    source, target = domains[where], domains[1 - where]
    what = number % 4 if is_t10(source.format) else number % 2
    data = pattern(3 * lcm(*sizes))
    old = corrupted(source, source.fields(data), what)
    new = merged(source, target, old, target.fields(data))
    numbers = (
        [memory, wire, *sizes, interleaved, where, variant, what]
        + [zlib.crc32(source.stream(data, old)), zlib.crc32(target.stream(data, new))]
        + list(error(source, data, what))
    )
    return "\t{" + ", ".join(hex(n) if n > 99999 else str(n) for n in numbers) + "},"


def pairs():
    for fmt in range(1, 6):
        yield NONE, fmt
        yield fmt, NONE
        yield fmt, fmt
    yield from ((T10_CRC, T10_CSUM), (T10_CSUM, T10_CRC), (T10_CRC, CRC64), (CRC32, CRC32C))


def rows():
    sizes = [(size, size) for size in SIZES] + [(512, 520), (8, 24), (4096, 512), (16, 4104)]
    number = 0
    for size in sizes:
        for memory, wire in pairs():
            if size[0] != size[1] and not (memory and wire):
                continue
            for interleaved in (0, 1) if memory else (0,):
                for where in (MEMORY, WIRE):
                    yield row(memory, wire, size, interleaved, where, number)
                    number += 1
                number += 1


def main():
    print("// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause")
    print("/* Written by signature_vectors.py: the rows of signature_vectors[]. */")
    print("\n".join(rows()))


main()
