# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A switch that speaks OpenFlow 1.3 or 1.4 by os-ken: what it is sent os-ken decodes, and what it
keeps is what os-ken understood.  os-ken itself says only what controllers say, so answers that it
cannot write are written here, field by field.

It knows flows of its tables, barriers, bundles (or none), and can refuse flows."""

import select
import socket
import struct
import threading

from os_ken.ofproto import ofproto_parser, ofproto_protocol

ONF = 0x4F4E4600
BUNDLE_OPEN, BUNDLE_CLOSE, BUNDLE_COMMIT, BUNDLE_DISCARD = 0, 2, 4, 6
BAD_REQUEST, BAD_TYPE, BAD_EXPERIMENTER = 1, 1, 3
FLOW_MOD_FAILED, TABLE_FULL = 5, 1
BUNDLE_FAILED, BUNDLE_MSG_FAILED = 17, 13
FLOW_STATS, GROUP_DESC, METER_CONFIG, PORT_DESC = 1, 7, 10, 13


class OsKenSwitch:
    """Connects to 127.0.0.1:port when started.  `has_bundles`: else it does not know them.
    `refuses(flow_mod)`: whether the tables are full for that one.  `seen`: what it was told, by
    os-ken's names; `mods`: flow mods, each with whether it came in a bundle."""

    def __init__(self, version, datapath_id, has_bundles=True, refuses=lambda mod: False):
        self.version = version
        self.datapath_id = datapath_id
        self.has_bundles = has_bundles
        self.refuses = refuses
        self.datapath = ofproto_protocol.ProtocolDesc(version=version)
        self.ofproto, self.parser = self.datapath.ofproto, self.datapath.ofproto_parser
        self.flows, self.bundles = {}, {}
        self.seen, self.mods, self.problems = [], [], []
        self.lock = threading.Lock()
        self.socket = self.thread = None
        self.end = socket.socketpair()

    # --- as a user has it ---

    def start(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def stop(self):
        self.end[0].send(b"x")
        self.thread.join(60)
        for one in (self.socket, *self.end):
            one.close()

    def add_flow(self, cookie, priority, match, actions, table=0):
        """As if somebody else had put it there."""
        instruction = self.parser.OFPInstructionActions(self.ofproto.OFPIT_APPLY_ACTIONS, actions)
        self._apply(self.parser.OFPFlowMod(self.datapath, cookie=cookie, priority=priority, table_id=table,
                                           match=match, instructions=[instruction]))

    def table(self):
        """(cookie, priority, match, output ports) of each flow, sorted."""
        with self.lock:
            flows = list(self.flows.values())
        return sorted((flow.cookie, flow.priority, tuple(sorted(flow.match.items())),
                       tuple(action.port for one in flow.instructions for action in one.actions))
                      for flow in flows)

    # --- the connection ---

    def _serve(self):
        try:
            self._send(self.parser.OFPHello(self.datapath) if self.version == 4 else None)
            buffer = b""
            while True:
                ready = select.select([self.socket, self.end[1]], [], [])[0]
                if self.end[1] in ready:
                    return
                data = self.socket.recv(65536)
                if not data:
                    return
                buffer += data
                while len(buffer) >= 8 and len(buffer) >= struct.unpack_from(">H", buffer, 2)[0]:
                    size = struct.unpack_from(">H", buffer, 2)[0]
                    self._take(buffer[:size])
                    buffer = buffer[size:]
        except Exception as error:  # pylint: disable=broad-except
            self.problems.append(repr(error))  # the test asserts that there is none

    def _send(self, message, xid=0):
        if message is None:
            return self._send_raw(0, b"", xid)
        message.set_xid(xid)
        message.serialize()
        return self.socket.sendall(message.buf)

    def _send_raw(self, kind, body, xid):
        self.socket.sendall(struct.pack(">BBHI", self.version, kind, 8 + len(body), xid) + body)

    def _refuse(self, data, kind, code):
        xid = struct.unpack_from(">I", data, 4)[0]
        self._send(self.parser.OFPErrorMsg(self.datapath, type_=kind, code=code, data=data[:64]), xid)

    def _decode(self, data):
        version, kind, length, xid = ofproto_parser.header(data)
        return ofproto_parser.msg(self.datapath, version, kind, length, xid, data)

    def _take(self, data):
        version, kind, length, xid = ofproto_parser.header(data)
        if length != len(data) or (version != self.version and kind != self.ofproto.OFPT_HELLO):
            self.problems.append(f"header {version} {kind} {length}")
        names = {getattr(self.ofproto, name): name for name in dir(self.ofproto) if name.startswith("OFPT_")}
        self.seen.append(names.get(kind, str(kind)))
        handler = getattr(self, "_on" + names.get(kind, "").replace("OFPT", "").lower(), None)
        if handler is None:
            self._refuse(data, BAD_REQUEST, BAD_TYPE)
        else:
            handler(data, xid)

    def _on_hello(self, data, _xid):
        versions = {number for element in self._decode(data).elements for number in element.versions}
        if self.version not in versions:
            self.problems.append(f"hello offers {versions}")

    def _on_error(self, data, _xid):
        self.problems.append(str(self._decode(data)))

    def _on_echo_request(self, data, xid):
        self._send(self.parser.OFPEchoReply(self.datapath, data=self._decode(data).data), xid)

    def _on_echo_reply(self, data, _xid):
        self._decode(data)

    def _on_features_request(self, _data, xid):
        self._send_raw(self.ofproto.OFPT_FEATURES_REPLY,
                       struct.pack(">QIBBxxII", self.datapath_id, 0, 254, 0, 0x4F, 0), xid)

    def _on_role_request(self, data, xid):
        self._send_raw(self.ofproto.OFPT_ROLE_REPLY, data[8:], xid)

    def _on_packet_out(self, _data, _xid):
        pass  # LLDP; there is no network

    def _on_set_async(self, _data, _xid):
        pass

    def _on_barrier_request(self, _data, xid):
        self._send_raw(self.ofproto.OFPT_BARRIER_REPLY, b"", xid)

    # --- statistics ---

    def _on_multipart_request(self, data, xid):
        kind = struct.unpack_from(">H", data, 8)[0]
        body = b""
        if kind == FLOW_STATS:
            body = self._flow_stats(data)
        elif kind == PORT_DESC:
            body = b"".join(self._port(number) for number in (1, 2))
        elif kind not in (GROUP_DESC, METER_CONFIG):
            return self._refuse(data, BAD_REQUEST, 2)  # BAD_MULTIPART
        return self._send_raw(self.ofproto.OFPT_MULTIPART_REPLY, struct.pack(">HHxxxx", kind, 0) + body,
                              xid)

    def _port(self, number):
        head = (bytes([2, 0, 0, 0, 0, number]) + b"\0\0" + b"p%d" % number + bytes(14) + bytes(8))
        if self.version == 4:
            return struct.pack(">Ixxxx", number) + head + bytes(24)
        return struct.pack(">IHxx", number, 40 + 32) + head + struct.pack(">HHxxxx", 0, 32) + bytes(24)

    def _flow_stats(self, data):
        table, cookie, mask = struct.unpack_from(">B", data, 16)[0], *struct.unpack_from(">QQ", data, 32)
        with self.lock:
            flows = [flow for flow in self.flows.values()
                     if table in (255, flow.table_id) and flow.cookie & mask == cookie & mask]
        body = b""
        for flow in flows:
            entry = bytearray(struct.pack(">HBxIIHHHHxxxxQQQ", 0, flow.table_id, 1, 0, flow.priority,
                                          flow.idle_timeout, flow.hard_timeout, flow.flags, flow.cookie, 0, 0))
            flow.match.serialize(entry, len(entry))
            for instruction in flow.instructions:
                instruction.serialize(entry, len(entry))
            struct.pack_into(">H", entry, 0, len(entry))
            body += bytes(entry)
        return body

    # --- flows ---

    @staticmethod
    def _place(mod):
        return (mod.table_id, mod.priority, str(sorted(mod.match.items())))

    def _apply(self, mod):
        with self.lock:
            if mod.command == self.ofproto.OFPFC_ADD:
                self.flows[self._place(mod)] = mod
            elif mod.command == self.ofproto.OFPFC_DELETE_STRICT:
                self.flows.pop(self._place(mod), None)
            else:
                self.problems.append(f"flow mod of command {mod.command}")

    def _on_flow_mod(self, data, _xid):
        mod = self._decode(data)
        self.mods.append((mod, False))
        if self.refuses(mod):
            return self._refuse(data, FLOW_MOD_FAILED, TABLE_FULL)
        return self._apply(mod)

    # --- bundles: messages of their own in 1.4, experimenters of the ONF in 1.3 ---

    def _on_bundle_control(self, data, xid):
        self._control(data, xid, data[8:16])

    def _on_bundle_add_message(self, data, _xid):
        self._add(data, data[8:])

    def _on_experimenter(self, data, xid):
        message = self._decode(data)
        if message.experimenter != ONF or not self.has_bundles:
            return self._refuse(data, BAD_REQUEST, BAD_EXPERIMENTER)
        self.seen[-1] += f"/{message.exp_type}"
        return self._control(data, xid, data[16:24]) if message.exp_type == 2300 else self._add(data, data[16:])

    def _control(self, data, xid, body):
        if not self.has_bundles:
            return self._refuse(data, BAD_REQUEST, BAD_TYPE)
        bundle, what, flags = struct.unpack(">IHH", body)
        if what == BUNDLE_OPEN:
            self.bundles[bundle] = []
        elif what == BUNDLE_COMMIT:
            staged = self.bundles.pop(bundle)
            refused = [one for one, mod in staged if self.refuses(mod)]
            for one in refused:
                self._refuse(one, FLOW_MOD_FAILED, TABLE_FULL)
            if refused:
                return self._refuse(data, BUNDLE_FAILED, BUNDLE_MSG_FAILED)
            for _, mod in staged:
                self._apply(mod)
        elif what == BUNDLE_DISCARD:
            self.bundles.pop(bundle, None)
        reply = struct.pack(">IHH", bundle, what + 1, flags)
        if self.version == 4:
            return self._send_raw(self.ofproto.OFPT_EXPERIMENTER, struct.pack(">II", ONF, 2300) + reply, xid)
        return self._send_raw(self.ofproto.OFPT_BUNDLE_CONTROL, reply, xid)

    def _add(self, data, body):
        if not self.has_bundles:
            return self._refuse(data, BAD_REQUEST, BAD_TYPE)
        inner = body[8:]
        mod = self._decode(inner)
        self.mods.append((mod, True))
        return self.bundles[struct.unpack_from(">I", body)[0]].append((inner, mod))
