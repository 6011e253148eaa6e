# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += controller/libtrumpet-topology.a
controller_libtrumpet_topology_a_SOURCES = \
	controller/topology/link_discovery.cc \
	controller/topology/link_discovery.h \
	controller/topology/live_topology.cc \
	controller/topology/live_topology.h \
	controller/topology/lldp.cc \
	controller/topology/lldp.h \
	controller/topology/topology_watch.cc \
	controller/topology/topology_watch.h

gtest_programs += controller/topology/topology_test
controller_topology_topology_test_SOURCES = \
	controller/topology/link_discovery_test.cc \
	controller/topology/live_topology_test.cc \
	controller/topology/lldp_test.cc
controller_topology_topology_test_LDADD = $(LIBTRUMPET_TOPOLOGY) $(GTEST_MAIN_LIBS)

# With real switches.
if BUILD_PLUGIN
gtest_programs += controller/topology/topology_watch_test
endif
EXTRA_PROGRAMS += controller/topology/topology_watch_test
controller_topology_topology_watch_test_SOURCES = $(openflow_test_kit) \
	controller/topology/topology_watch_test.cc
controller_topology_topology_watch_test_LDADD = $(LIBTRUMPET_TOPOLOGY) $(openflow_test_libs)
controller_topology_topology_watch_test_DEPENDENCIES = \
	$(filter %.a,$(controller_topology_topology_watch_test_LDADD)) $(OPENFLOW_CODEC_FILES)

fuzz_programs += controller/topology/lldp_fuzz
controller_topology_lldp_fuzz_SOURCES = controller/topology/lldp_fuzz.cc
controller_topology_lldp_fuzz_LDADD = $(FUZZ_MAIN) $(LIBTRUMPET_TOPOLOGY)
controller_topology_lldp_fuzz_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
EXTRA_DIST += tests/corpus/lldp_fuzz
