# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a report of sos tells of Trumpet for Open vSwitch: states and logs, no keys, no packets."""

from sos.report.plugins import DebianPlugin, Plugin, RedHatPlugin, UbuntuPlugin


# Debian 12's sos takes no IndependentPlugin.
class Trumpet(Plugin, RedHatPlugin, DebianPlugin, UbuntuPlugin):
    """Trumpet for Open vSwitch"""

    short_desc = "Trumpet for Open vSwitch"
    plugin_name = "trumpet"
    profiles = ("network", "virt")
    packages = ("openvswitch-switch-trumpet", "trumpet-controller", "trumpet-analyzer")

    def setup(self):
        self.add_copy_spec(["/etc/trumpet/*.yaml", "/var/log/trumpet/*.log"])
        # Hashes of tokens, keys, and headers with passwords are nobody else's.
        self.add_forbidden_path(["/etc/trumpet/*.pem", "/etc/trumpet/tokens.yaml"])
        self.add_cmd_output([
            "ovs-appctl trumpet/status json",
            "ovs-appctl trumpet/event-list json",
            "ovs-appctl trumpet/perf-show json",
            "ovs-appctl trumpet/flow-table-show json",
            "ovs-appctl trumpet/program-list json",
            "ovs-appctl trumpet/slice-show json",
            "ovs-appctl coverage/show",
            "update-alternatives --display ovs-vswitchd",
        ])
        for name, commands in (
            ("controller", ("tem/status", "host/list", "event/list", "slice/list", "topology/show",
                            "openflow/list", "ovsdb/list", "trace/rules-list", "reshuffler/list", "measure/list")),
            ("analyzer", ("analyzer/show", "trace/status")),
        ):
            socket = f"/run/trumpet/trumpet-{name}.ctl"
            self.add_cmd_output([f"ovs-appctl -t {socket} {command}"
                                 for command in (*commands, "memory/show", "coverage/show")])
