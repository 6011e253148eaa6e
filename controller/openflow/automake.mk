# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# OpenFlow southbound.  The codec needs Open vSwitch's library, and is built in trees that have one
# (BUILD_PLUGIN); the rest is built everywhere.
noinst_LIBRARIES += controller/libtrumpet-openflow.a
controller_libtrumpet_openflow_a_SOURCES = \
	controller/openflow/datapath_id.cc \
	controller/openflow/datapath_id.h \
	controller/openflow/frame_match.cc \
	controller/openflow/frame_match.h \
	controller/openflow/of_codec.h \
	controller/openflow/of_match.h \
	controller/openflow/openflow_channel.cc \
	controller/openflow/openflow_channel.h \
	controller/openflow/openflow_commit.cc \
	controller/openflow/openflow_commit.h \
	controller/openflow/openflow_message.cc \
	controller/openflow/openflow_message.h \
	controller/openflow/openflow_net.cc \
	controller/openflow/openflow_net.h \
	controller/openflow/openflow_switch.cc \
	controller/openflow/openflow_switch.h

# A program lists OPENFLOW_CODEC_LIBS last in its LDADD, and OPENFLOW_CODEC_FILES among its
# DEPENDENCIES.
openflow_codec_objects = \
	controller/openflow/of_codec.o \
	controller/openflow/of_compose.o \
	controller/openflow/of_decode.o \
	controller/openflow/of_things.o
OPENFLOW_CODEC_FILES = $(openflow_codec_objects) controller/daemon/ovs-libs
OPENFLOW_CODEC_LIBS = $(openflow_codec_objects) `cat controller/daemon/ovs-libs`

$(openflow_codec_objects): %.o: %.c controller/openflow/of_codec.h controller/openflow/of_library.h controller/openflow/of_match.h \
		vswitchd-plugin/ovs.mk vswitchd-plugin/ovs-tree
	$(AM_V_CC)$(MKDIR_P) controller/openflow && $(ovs_make) TRUMPET_SRCDIR='$(abs_top_srcdir)' \
	  TRUMPET_SOURCE=$*.c TRUMPET_OUT='$(abs_builddir)/$@' trumpet-object

CLEANFILES += $(openflow_codec_objects)
EXTRA_DIST += \
	controller/openflow/of_codec.c \
	controller/openflow/of_compose.c \
	controller/openflow/of_decode.c \
	controller/openflow/of_library.h \
	controller/openflow/of_things.c

if BUILD_PLUGIN
gtest_programs += controller/openflow/openflow_test
endif
EXTRA_PROGRAMS += controller/openflow/openflow_test
# What tests with real switches list: sources, and the end of LDADD.
openflow_test_kit = $(ovsdb_test_kit) \
	controller/openflow/switch_kit_test.cc \
	controller/openflow/switch_kit_test.h
openflow_test_libs = $(LIBTRUMPET_OPENFLOW) $(LIBTRUMPET_OVSDB) $(GTEST_MAIN_LIBS) \
	$(OPENFLOW_CODEC_LIBS)
controller_openflow_openflow_test_SOURCES = $(openflow_test_kit) \
	controller/openflow/openflow_channel_test.cc \
	controller/openflow/openflow_message_test.cc \
	controller/openflow/openflow_mutation_test.cc \
	controller/openflow/openflow_switch_test.cc \
	controller/openflow/switch_messages_test.h
controller_openflow_openflow_test_LDADD = $(openflow_test_libs)
controller_openflow_openflow_test_DEPENDENCIES = \
	$(filter %.a,$(controller_openflow_openflow_test_LDADD)) $(OPENFLOW_CODEC_FILES)

# What we send, as others read it.
if BUILD_PLUGIN
check_PROGRAMS += controller/openflow/openflow_samples
endif
EXTRA_PROGRAMS += controller/openflow/openflow_samples
controller_openflow_openflow_samples_SOURCES = controller/openflow/openflow_samples_test.cc
controller_openflow_openflow_samples_LDADD = $(LIBTRUMPET_OPENFLOW) $(OPENFLOW_CODEC_LIBS)
controller_openflow_openflow_samples_DEPENDENCIES = \
	$(filter %.a,$(controller_openflow_openflow_samples_LDADD)) $(OPENFLOW_CODEC_FILES)
TESTS += controller/openflow/conformance_test.py
EXTRA_DIST += controller/openflow/conformance_test.py
