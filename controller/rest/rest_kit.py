# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A small_rest as a process, for tests of the HTTP API from outside."""

import hashlib
import http.client
import os
import re
import shutil
import subprocess
import tempfile

BUILD = os.environ.get("top_builddir", ".")
REPLAY = os.path.abspath(BUILD + "/utilities/trumpet-replay")
PATIENCE = 120  # seconds, which only a broken test reaches


class Server:
    """A small_rest with a token for each role, named as the role, and one of a tenant."""

    def __init__(self, rate=0, keys=(), replay=REPLAY):
        self.folder = tempfile.mkdtemp(prefix="trumpet-rest-")
        tokens = "tokens:\n"
        for role in ("read", "operate", "admin"):
            digest = hashlib.sha256(role.encode()).hexdigest()
            tokens += f"- {{name: {role}, sha256: {digest}, role: {role}}}\n"
        digest = hashlib.sha256(b"tenant").hexdigest()
        tokens += (f"- {{name: tenant, sha256: {digest}, role: operate, tenant: red, "
                   "prefixes: [10.0.1.0/24]}\n")
        self.tokens = self.folder + "/tokens.yaml"
        with os.fdopen(os.open(self.tokens, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(tokens)
        self.process = subprocess.Popen(
            [BUILD + "/controller/rest/small_rest", self.tokens, str(rate), replay, *keys],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            # AddressSanitizer, if in use, would keep 256 MB of what was freed.
            env={"ASAN_OPTIONS": "quarantine_size_mb=16", **os.environ})
        self.port = int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        status = self.process.wait(PATIENCE)
        shutil.rmtree(self.folder)
        assert status == 0, f"small_rest ended with {status}"

    def rss_kib(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))

    def ask(self, method, path, body=None, headers=None, role="admin"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = dict(headers or {})
        if role:
            headers["Authorization"] = "Bearer " + role
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        # A stream has no end: its first report will do.
        if answer.getheader("Content-Type") == "text/event-stream":
            data = b""
            while b"\ndata: " not in data or not data.endswith(b"\n\n"):
                data += answer.read1()
        else:
            data = answer.read()
        connection.close()
        return answer, data
