# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Stands between a switch and its controller, and writes down what passes as a capture file, so that
a session can be captured without privileges.  Each message has a packet of its own."""

import socket
import struct
import threading

import frames


class OpenflowRecorder:
    """Listens at `port` of 127.0.0.1 and goes on to `target` there.  stop() ends all connections."""

    def __init__(self, target):
        self.target = target
        self.segments = []  # connection, is from the one who connected, bytes
        self.lock = threading.Lock()
        self.sockets, self.threads = [], []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self._begin(self._accept)

    def _begin(self, work, *arguments):
        self.threads.append(threading.Thread(target=work, args=arguments, daemon=True))
        self.threads[-1].start()

    def _accept(self):
        number = 0
        while True:
            try:
                inner, _ = self.listener.accept()
                outer = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return  # stopped
            self.sockets += [inner, outer]
            self._begin(self._copy, number, True, inner, outer)
            self._begin(self._copy, number, False, outer, inner)
            number += 1

    def _copy(self, number, is_forward, source, sink):
        try:
            while data := source.recv(32768):
                with self.lock:
                    self.segments.append((number, is_forward, data))
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the other side is gone

    def stop(self):
        for one in (self.listener, *self.sockets):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self.threads:
            thread.join(60)
        for one in (self.listener, *self.sockets):
            one.close()

    def messages(self):
        """(connection, is from the one who connected, message) in the order of their last bytes; without
        one that the end has cut off."""
        rest = {}
        for number, is_forward, data in self.segments:
            data = rest.pop((number, is_forward), b"") + data
            while len(data) >= 8 and 8 <= (size := struct.unpack_from(">H", data, 2)[0]) <= len(data):
                yield number, is_forward, data[:size]
                data = data[size:]
            rest[number, is_forward] = data

    def write_capture(self, path, server_port=6653):
        """TCP over IPv4 over Ethernet, as if nothing had been lost; clients are at port 40000 and up."""
        sent, packets = {}, []
        for number, is_forward, data in self.messages():
            ports, ends = (40000 + number, server_port), ((127, 0, 0, 1), (127, 0, 0, 2))
            at = sent.get((number, is_forward), 1)
            acked = sent.get((number, not is_forward), 1)
            sent[number, is_forward] = at + len(data)
            if not is_forward:
                ports, ends = ports[::-1], ends[::-1]
            segment = frames.tcp(*ports, at, acked, 0x18, data)
            packets.append(frames.ethernet(frames.ipv4(*ends, 6, segment)))
        frames.write_pcap(path, packets, gap=1000)
