#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""scsi_spoil.py DISK SECTOR: writes other data without protection, so that the tuple on the medium is wrong."""

import ctypes
import fcntl
import struct
import sys

SG_IO = 0x2285
TO_DISK = -2
WRITE_10 = 0x2A
SECTOR_BYTES = 512


def main():
    disk, sector = sys.argv[1], int(sys.argv[2])
    data = ctypes.create_string_buffer(bytes([0xEB]) * SECTOR_BYTES, SECTOR_BYTES)
    command = ctypes.create_string_buffer(struct.pack(">BBIBHB", WRITE_10, 0, sector, 0, 1, 0), 10)
    sense = ctypes.create_string_buffer(32)
    header = struct.pack(
        "@iiBBHIPPPIIiPBBBBHHiII",
        *(ord("S"), TO_DISK, 10, len(sense), 0, SECTOR_BYTES),
        *(ctypes.addressof(data), ctypes.addressof(command), ctypes.addressof(sense), 20000, 0, 0, 0),
        *(0, 0, 0, 0, 0, 0, 0, 0, 0),
    )
    with open(disk, "rb") as file:
        answer = fcntl.ioctl(file, SG_IO, bytearray(header).ljust(88, b"\0"), True)
    if answer:
        sys.exit(f"SG_IO: {answer}")


if __name__ == "__main__":
    main()
