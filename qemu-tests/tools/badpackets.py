#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Sends malformed RoCEv2 packets of one kind.

usage: badpackets.py KIND SOURCE DESTINATION [QPN [PSN]]

A raw socket with its own IP header, because the ICRC covers the IP id. Every
packet is right but for what its kind says. The kinds live-* aim at a queue pair
in use, which expects PSN next.
"""
import random
import socket
import struct
import sys
import zlib

PORT = 4791
RC_SEND_ONLY, RC_WRITE_ONLY, UD_SEND_ONLY = 0x04, 0x0A, 0x64
RC_OPCODES = range(0x00, 0x18)
RC_READ_RESPONSE, RC_ACKNOWLEDGE = 0x10, 0x11
RC_REQUESTS = (RC_SEND_ONLY, RC_WRITE_ONLY, 0x0C, 0x13)


class Sender:
    def __init__(self, source, destination):
        self.source = socket.inet_aton(source)
        self.destination = socket.inet_aton(destination)
        self.address = (destination, 0)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_RAW,
                                    socket.IPPROTO_RAW)
        self.ident = 1
        self.sent = 0

    def headers(self, length):
        """IP and UDP headers round that many bytes of UDP payload."""
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28 + length, self.ident,
                         0x4000, 64, socket.IPPROTO_UDP, 0, self.source,
                         self.destination)
        return ip, struct.pack("!HHHH", 0xC000, PORT, 8 + length, 0)

    def icrc(self, ip, udp, body):
        """Over everything, with what routers may change set to ones."""
        masked = bytearray(ip)
        masked[1] = masked[8] = masked[10] = masked[11] = 0xFF
        bth = bytearray(body)
        if len(bth) > 4:
            bth[4] = 0xFF
        data = b"\xff" * 8 + bytes(masked) + udp[:6] + b"\xff\xff" + bytes(bth)
        return struct.pack("<I", zlib.crc32(data))

    def raw(self, payload):
        """A UDP payload as it is."""
        ip, udp = self.headers(len(payload))
        self.socket.sendto(ip + udp + payload, self.address)
        self.ident = self.ident % 65535 + 1
        self.sent += 1

    def packet(self, body, damage=0):
        """BTH and what follows it, with an ICRC."""
        ip, udp = self.headers(len(body) + 4)
        (crc,) = struct.unpack("<I", self.icrc(ip, udp, body))
        self.raw(body + struct.pack("<I", crc ^ damage))


def bth(opcode, qpn, pad=0, version=0, pkey=0xFFFF, psn=0, flags=0x40):
    return struct.pack("!BBHII", opcode, flags | pad << 4 | version, pkey, qpn,
                       0x80000000 | psn)


def opcodes(send, qpn):
    """H1: every opcode with every length, right and wrong, and no QP."""
    for opcode in range(256):
        for length in range(0, 97):
            send.packet(bth(opcode, qpn) + bytes(length))


def unknown_qpn(send, qpn):
    for number in (0x2, 0x3, 0x10, 0xFFFFFE, 0xFFFFFF, 0xABCDEF):
        for opcode in RC_OPCODES:
            send.packet(bth(opcode, number) + bytes(64))


def icrc(send, qpn):
    for bit in range(32):
        send.packet(bth(RC_SEND_ONLY, qpn) + bytes(64), damage=1 << bit)
    send.packet(bth(RC_SEND_ONLY, qpn) + bytes(64), damage=0xFFFFFFFF)


def pad(send, qpn):
    """H2: more pad than payload, for every opcode."""
    for opcode in range(256):
        for count in (1, 2, 3):
            send.packet(bth(opcode, qpn, pad=count))
            send.packet(bth(opcode, qpn, pad=count) + bytes(28))


def short(send, qpn):
    """Everything up to a BTH and ICRC, and each header cut short."""
    for length in range(0, 17):
        send.raw(bytes(length))
        send.raw(b"\xff" * length)
    for opcode in range(256):
        whole = bth(opcode, qpn) + bytes(28)
        for length in range(12, len(whole)):
            send.packet(whole[:length])


def version(send, qpn):
    for number in range(1, 16):
        send.packet(bth(RC_SEND_ONLY, qpn, version=number) + bytes(64))


def pkey(send, qpn):
    for key in (0x0000, 0x8000, 0x7FFE, 0x1234):
        for opcode in (RC_SEND_ONLY, RC_WRITE_ONLY, UD_SEND_ONLY):
            send.packet(bth(opcode, 1, pkey=key) + bytes(64))


def gsi(send, qpn):
    """QP1: wrong Q_Key, wrong transport; MADs of every length."""
    mad = bytes((1, 7, 2)) + bytes(1021)
    deth = struct.pack("!II", 0x80010000, 1)
    for opcode in range(256):
        send.packet(bth(opcode, 1) + struct.pack("!II", 0x1234, 1) + bytes(256))
    for length in list(range(4, 64, 4)) + [252, 255, 257, 1024]:
        body = bth(UD_SEND_ONLY, 1, pad=-length % 4) + deth + mad[:length]
        send.packet(body + bytes(-length % 4))


def noise(send, qpn):
    source = random.Random(4791)
    for _ in range(20000):
        send.packet(source.randbytes(source.randrange(0, 200)))
    for _ in range(2000):
        send.raw(source.randbytes(source.randrange(0, 1400)))


def live_psn(send, qpn, psn):
    """As far from what is expected as PSNs can be, both ways, either half."""
    for distance in (1 << 22, (1 << 23) - 4096, -(1 << 22), 4096 - (1 << 23)):
        for opcode in RC_REQUESTS + (RC_READ_RESPONSE, RC_ACKNOWLEDGE):
            send.packet(bth(opcode, qpn, psn=(psn + distance) % (1 << 24)) +
                        bytes(64 if opcode in RC_REQUESTS[:2] else 28))


def live_opcode(send, qpn, psn):
    """What belongs to other transports, and what nobody defined."""
    for opcode in range(0x18, 0x100):
        for ahead in range(4):
            send.packet(bth(opcode, qpn, psn=psn + ahead & 0xFFFFFF) + bytes(64))


def live_icrc(send, qpn, psn):
    for opcode in (RC_SEND_ONLY, RC_WRITE_ONLY, RC_ACKNOWLEDGE):
        for ahead in range(64):
            send.packet(bth(opcode, qpn, psn=psn + ahead & 0xFFFFFF) +
                        bytes(4 if opcode == RC_ACKNOWLEDGE else 64), damage=1)


def live_pkey(send, qpn, psn):
    for key in (0x0000, 0x8000, 0x7FFE, 0x1234):
        for ahead in range(64):
            send.packet(bth(RC_SEND_ONLY, qpn, pkey=key, psn=psn + ahead & 0xFFFFFF) +
                        bytes(64))


def live_good(send, qpn, psn):
    """Nothing wrong but where they come from, or the state of the queue pair."""
    for opcode in (RC_SEND_ONLY, RC_WRITE_ONLY, RC_ACKNOWLEDGE):
        for ahead in range(64):
            send.packet(bth(opcode, qpn, psn=psn + ahead & 0xFFFFFF) +
                        bytes(4 if opcode == RC_ACKNOWLEDGE else 64))


LIVE = {"live-psn": live_psn, "live-opcode": live_opcode, "live-icrc": live_icrc,
        "live-pkey": live_pkey, "live-good": live_good}
KINDS = {"opcodes": opcodes, "unknown-qpn": unknown_qpn, "icrc": icrc,
         "pad": pad, "short": short, "version": version, "pkey": pkey,
         "gsi": gsi, "random": noise}


def main():
    kind, source, destination = sys.argv[1:4]
    qpn = int(sys.argv[4]) if len(sys.argv) > 4 else 0xABCDE
    sender = Sender(source, destination)
    if kind in LIVE:
        LIVE[kind](sender, qpn, int(sys.argv[5]))
    else:
        KINDS[kind](sender, qpn)
    print(kind, sender.sent, "packets")


main()
