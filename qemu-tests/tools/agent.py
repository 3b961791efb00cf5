#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs shell commands that come over TCP, one to a connection.

usage: agent.py ADDRESS PORT

The output goes back, then a line with the exit status. For a test network of
two guests only: it does whatever it is told.
"""
import socketserver
import subprocess
import sys


class Command(socketserver.StreamRequestHandler):
    def handle(self):
        line = self.rfile.readline().decode()
        done = subprocess.run(["bash", "-c", line], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False)
        print(line, done.stdout.decode(errors="replace"), flush=True)
        self.wfile.write(done.stdout)
        self.wfile.write(f"\nstatus {done.returncode}\n".encode())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server((sys.argv[1], int(sys.argv[2])), Command).serve_forever()
