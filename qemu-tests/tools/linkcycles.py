#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Adds and deletes an rdma link many times over netlink.

usage: linkcycles.py NAME TYPE NETDEV COUNT

What `rdma link add` and `delete` do, without two processes to a cycle.
"""
import os
import socket
import struct
import sys

NETLINK_RDMA = 20
REQUEST, ACK, DUMP = 1, 4, 0x300
ERROR, DONE = 2, 3
NLDEV, GET, NEWLINK, DELLINK = 5, 1, 3, 4
DEV_INDEX, DEV_NAME, NDEV_NAME, LINK_TYPE = 1, 2, 51, 65


def attribute(kind, value):
    length = 4 + len(value)
    return struct.pack("=HH", length, kind) + value + bytes(-length % 4)


def text(kind, value):
    return attribute(kind, value.encode() + b"\0")


def attributes(data):
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        found[kind & 0x3FFF] = data[4:length]
        data = data[(length + 3) & ~3:]
    return found


class Rdma:
    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW,
                                    NETLINK_RDMA)
        self.socket.bind((0, 0))

    def call(self, command, flags, body):
        """Yields the attributes of each answer."""
        kind = NLDEV << 10 | command
        self.socket.send(struct.pack("=IHHII", 16 + len(body), kind,
                                     REQUEST | flags, 1, 0) + body)
        while True:
            data = self.socket.recv(65536)
            while data:
                length, kind = struct.unpack_from("=IH", data)
                message, data = data[16:length], data[(length + 3) & ~3:]
                if kind == ERROR:
                    (error,) = struct.unpack_from("=i", message)
                    if error:
                        raise OSError(-error, os.strerror(-error))
                    return
                if kind == DONE:
                    return
                yield attributes(message)

    def add(self, name, kind, netdev):
        list(self.call(NEWLINK, ACK, text(DEV_NAME, name) +
                       text(LINK_TYPE, kind) + text(NDEV_NAME, netdev)))

    def index(self, name):
        for found in list(self.call(GET, DUMP, b"")):
            if found[DEV_NAME].rstrip(b"\0").decode() == name:
                return found[DEV_INDEX]
        raise LookupError(name)

    def delete(self, name):
        list(self.call(DELLINK, ACK, attribute(DEV_INDEX, self.index(name))))


def main():
    name, kind, netdev, count = sys.argv[1:]
    rdma = Rdma()
    for _ in range(int(count)):
        rdma.add(name, kind, netdev)
        rdma.delete(name)


main()
