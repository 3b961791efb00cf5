#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""nvme_blocks.py DISK read|write BLOCK DATA TUPLES PRINFO APPTAG

Reads or writes blocks of 512 bytes and their tuples, each from or to a file of its own: as
many as DATA has, or to read 8. The tuples are the command's integrity payload, so devices
find them apart from the data. Prints what a disk says that refuses.
"""

import ctypes
import fcntl
import struct
import sys

NVME_IOCTL_ID = 0x4E40
NVME_IOCTL_IO_CMD = 0xC0484E43
BLOCK, TUPLE = 512, 8
OPCODES = {"write": 1, "read": 2}
STATUS = {0x282: "Guard Check Error", 0x283: "Application Tag Check Error", 0x284: "Reference Tag Check Error"}


def load(path):
    with open(path, "rb") as file:
        return file.read()


def main():
    disk, verb, first, data_path, tuple_path, prinfo, apptag = sys.argv[1:]
    reads = verb == "read"
    data = ctypes.create_string_buffer(8 * BLOCK) if reads else ctypes.create_string_buffer(load(data_path))
    count = ctypes.sizeof(data) // BLOCK
    tuples = ctypes.create_string_buffer(count * TUPLE)
    if not reads:
        tuples.raw = load(tuple_path)[: count * TUPLE]
    with open(disk, "rb") as file:
        command = struct.pack(
            "=BBHIIIQQII6III",
            *(OPCODES[verb], 0, 0, fcntl.ioctl(file, NVME_IOCTL_ID), 0, 0),
            *(ctypes.addressof(tuples), ctypes.addressof(data), count * TUPLE, count * BLOCK),
            *(int(first), 0, count - 1 | int(prinfo) << 26, 0, int(first), 0xFFFF << 16 | int(apptag, 0)),
            *(0, 0),
        )
        status = fcntl.ioctl(file, NVME_IOCTL_IO_CMD, bytearray(command)) & 0x7FF
    if status:
        sys.exit(f"status {status:#x} {STATUS.get(status, '')}")
    if reads:
        for path, buffer in ((data_path, data), (tuple_path, tuples)):
            with open(path, "wb") as file:
                file.write(buffer.raw)


if __name__ == "__main__":
    main()
