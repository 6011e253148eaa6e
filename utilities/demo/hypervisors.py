# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Three hypervisors with a switch and a tenant each, and a storage server that all can reach.

    tenant1 --- tenant .br0. uplink --- to-hv1 .---------.
    tenant2 --- tenant .br0. uplink --- to-hv2 | storage |      and a cable from each to the controller
    tenant3 --- tenant .br0. uplink --- to-hv3 '---------'

Each box is a network namespace.  No monitor runs at the storage server.
"""
from switch import Switch

HOSTS = ("hv1", "hv2", "hv3")
STORAGE, STORAGE_ADDRESS = "storage", "192.0.2.10"
CONTROL = "control"
TENANT_LINK = "eth0"


def tenant(host):
    return "tenant" + host[2:]


def tenant_mac(host):
    return "02:00:00:00:00:a" + host[2:]


def prefix(host):
    """Of the tenants behind a host."""
    return "10.0.%s.0/24" % host[2:]


class Hypervisors:
    def __init__(self, lab, build):
        self.lab = lab
        for name in HOSTS:
            lab.add_namespace(name)
            lab.add_namespace(tenant(name))
        self.switches = {name: Switch(lab, build, name) for name in HOSTS}
        lab.add_namespace(STORAGE)
        lab.add_namespace(CONTROL)

    def start(self, cpus):
        """The first one polls with a thread of its own, if there is a CPU beside; all may wait."""
        self._link()
        first = self.switches[HOSTS[0]]
        for host, switch in self.switches.items():
            settings = ["other_config:trumpet-enable=true", "other_config:trumpet-memory-mb=32",
                        "other_config:trumpet-uplinks=uplink", "other_config:trumpet-host-id=" + host]
            if switch is first:         # an idle poller sleeps: others want its CPU, too
                settings += switch.dpdk_settings(cpus) + ["other_config:pmd-maxsleep=100"]
            switch.start(settings)
            if switch is first:
                for number, name in enumerate(("tenant", "uplink"), 1):
                    switch.add_port(name, number, "net_af_packet%d,iface=%s" % (number, name))
            else:
                switch.add_system_port("tenant")
                switch.add_system_port("uplink")
            switch.ofctl("add-flow", "actions=NORMAL")

    def _link(self):
        self.lab.run_in(STORAGE, ["ip", "address", "add", STORAGE_ADDRESS, "dev", "lo"])
        for host in HOSTS:
            number, home = host[2:], tenant(host)
            self.lab.link(home, TENANT_LINK, host, "tenant", tenant_mac(host))
            self.lab.link(host, "uplink", STORAGE, "to-" + host)
            self.lab.link(host, "control", CONTROL, "to-" + host)
            for name in ("tenant", "uplink"):
                self.lab.raise_link(host, name)
            self.lab.raise_link(home, TENANT_LINK, "10.0.%s.1/24" % number)
            self.lab.raise_link(STORAGE, "to-" + host, "10.0.%s.254/24" % number)
            self.lab.raise_link(host, "control", "172.31.%s.2/24" % number)
            self.lab.raise_link(CONTROL, "to-" + host, "172.31.%s.1/24" % number)
            self.lab.run_in(home, ["ip", "route", "add", "default", "via", "10.0.%s.254" % number])

    def connect(self, keys):
        """Tells the agents where their controller is; `keys` gives the files of a name."""
        for host, switch in self.switches.items():
            key, certificate, authority = keys(host)
            switch.vsctl("set", "Open_vSwitch", ".", *(
                'other_config:trumpet-%s="%s"' % pair for pair in (
                    ("private-key", key), ("certificate", certificate), ("ca-cert", authority),
                    ("controller-name", "controller"),
                    ("controller", "ssl:172.31.%s.1:6650" % host[2:]))))

    def check_ways(self):
        for host in HOSTS:
            self.lab.reach(tenant(host), STORAGE_ADDRESS)
