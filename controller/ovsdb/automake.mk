# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += controller/libtrumpet-switch-ovsdb.a
controller_libtrumpet_switch_ovsdb_a_SOURCES = \
	controller/ovsdb/analyzer_ports.cc \
	controller/ovsdb/analyzer_ports.h \
	controller/ovsdb/remote_switch.cc \
	controller/ovsdb/remote_switch.h \
	controller/ovsdb/remote_switches.cc \
	controller/ovsdb/remote_switches.h \
	controller/ovsdb/switch_view.cc \
	controller/ovsdb/switch_view.h \
	controller/ovsdb/switch_wish.cc \
	controller/ovsdb/switch_wish.h

# Real switches for tests, in trees that have one: they read where its programs are.
switch_test_kit = $(ovsdb_test_kit) \
	controller/ovsdb/switch_kit_test.cc \
	controller/ovsdb/switch_kit_test.h
SWITCH_TEST_CPPFLAGS = $(AM_CPPFLAGS) -DTRUMPET_OVS_ENV='"$(abs_builddir)/vswitchd-plugin/ovs-env.sh"'

if BUILD_PLUGIN
gtest_programs += controller/ovsdb/switch_ovsdb_test
endif
EXTRA_PROGRAMS += controller/ovsdb/switch_ovsdb_test
controller_ovsdb_switch_ovsdb_test_SOURCES = $(switch_test_kit) \
	controller/ovsdb/analyzer_ports_test.cc \
	controller/ovsdb/remote_switch_test.cc \
	controller/ovsdb/remote_switches_test.cc \
	controller/ovsdb/switch_wish_random_test.cc \
	lib/wire/test_certificates_test.cc \
	lib/wire/test_certificates_test.h
controller_ovsdb_switch_ovsdb_test_CPPFLAGS = $(SWITCH_TEST_CPPFLAGS)
controller_ovsdb_switch_ovsdb_test_LDADD = $(LIBTRUMPET_SWITCH_OVSDB) $(GTEST_MAIN_LIBS)
