# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy on loopback that can be as bad as a network: cut, stalled, half open."""

import selectors
import socket
import threading


class Proxy:
    """Forwards to `port`; set mode to "pass", "stall" (reads nothing more) or "swallow" (reads
    and forgets: for either end the other one is there and silent)."""

    def __init__(self, port):
        self.target = port
        self.mode = "pass"
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.selector = selectors.DefaultSelector()
        self.pairs = {}
        self.lock = threading.Lock()
        self.wake, self.woken = socket.socketpair()
        self.is_closing = False
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.selector.register(self.woken, selectors.EVENT_READ)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def set_mode(self, mode):
        self.mode = mode
        self.wake.send(b"x")

    def cut(self):
        """Ends all connections at once, without a goodbye."""
        with self.lock:
            for peer in list(self.pairs):
                # An end with a reset, as of a host that went away.
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            self._drop_all()

    def close(self):
        self.is_closing = True
        self.wake.send(b"x")
        self.thread.join(10)
        with self.lock:
            self._drop_all()
        for one in (self.listener, self.wake, self.woken):
            one.close()

    def _drop_all(self):
        while self.pairs:
            self._drop(next(iter(self.pairs)))

    def _drop(self, peer):
        other = self.pairs.pop(peer, None)
        for one in (peer, other):
            if one is None:
                continue
            self.pairs.pop(one, None)
            try:
                self.selector.unregister(one)
            except KeyError:
                pass
            one.close()

    def _run(self):
        while not self.is_closing:
            # A stalled proxy looks at nothing but its commands.
            if self.mode == "stall":
                self.woken.recv(16)
                continue
            for key, _ in self.selector.select(1):
                with self.lock:
                    self._serve(key.fileobj)

    def _serve(self, peer):
        if peer is self.woken:
            peer.recv(16)
        elif peer is self.listener:
            near, _ = peer.accept()
            try:
                far = socket.create_connection(("127.0.0.1", self.target), timeout=5)
            except OSError:
                near.close()
                return
            self.pairs[near], self.pairs[far] = far, near
            self.selector.register(near, selectors.EVENT_READ)
            self.selector.register(far, selectors.EVENT_READ)
        elif peer in self.pairs:
            try:
                data = peer.recv(65536)
                if not data:
                    self._drop(peer)
                elif self.mode != "swallow":
                    self.pairs[peer].sendall(data)
            except OSError:
                self._drop(peer)
