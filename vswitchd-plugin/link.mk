# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# From the plug-in's library to an ovs-vswitchd that contains it.
#
#   vswitchd-plugin/ovs-tree      one line: where the patched switch was built
#   vswitchd-plugin/ovs-vswitchd  the switch with the monitor
#   vswitchd-plugin/ovs-env.sh    paths of all programs that belong to it, for
#                                 scripts: . vswitchd-plugin/ovs-env.sh

# What goes in besides the glue, users first.
plugin_archives = \
	vswitchd-plugin/libtrumpet-plugin.a \
	lib/libtrumpet-ovsdb.a \
	lib/libtrumpet-wire.a \
	lib/libtrumpet-wire-pb.a \
	lib/libtrumpet-tpm.a \
	lib/libtrumpet-verdict.a \
	lib/libtrumpet-measure.a \
	lib/libtrumpet-lang.a \
	lib/libtrumpet-model.a \
	lib/libtrumpet-packet.a \
	lib/libtrumpet-base.a

plugin_link_libs = $(abs_builddir)/vswitchd-plugin/ovs_glue.o \
	$(plugin_archives:%=$(abs_builddir)/%) \
	$(YAML_CPP_LIBS) $(XXHASH_LIBS) $(PCAP_LIBS) \
	$(PROTOBUF_LIBS) $(LIBEVENT_OPENSSL_LIBS) $(LIBEVENT_LIBS) $(OPENSSL_LIBS) \
	$(TRUMPET_KIND_FLAGS) $(THREAD_FLAGS) -lstdc++

# A make inside the switch's build tree.  Ours has variables of the same names,
# which must not reach it through the environment.
ovs_make = env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u MAKELEVEL $(MAKE) -s --no-print-directory \
	-C "`cat vswitchd-plugin/ovs-tree`/build" -f Makefile -f $(abs_top_srcdir)/vswitchd-plugin/ovs.mk

if BUILD_PLUGIN
pkglibexec_SCRIPTS = vswitchd-plugin/ovs-vswitchd
noinst_DATA = vswitchd-plugin/ovs-env.sh
endif

CLEANFILES += \
	vswitchd-plugin/ovs-env.sh \
	vswitchd-plugin/ovs-tree \
	vswitchd-plugin/ovs-vswitchd \
	vswitchd-plugin/ovs_glue.o

# Looked up every time (a few hundredths of a second), because a change of the
# patches must lead to another tree.  Written only if it changed.
.PHONY: ovs-tree-lookup
ovs-tree-lookup:
vswitchd-plugin/ovs-tree: ovs-tree-lookup
	$(AM_V_at)$(MKDIR_P) vswitchd-plugin
	$(AM_V_at)$(top_srcdir)/build-aux/ovs-build --source '$(OVS_SOURCE)' \
	  --cache '$(OVS_CACHE_DIR)' >$@.tmp
	$(AM_V_at)if cmp -s $@.tmp $@; then rm -f $@.tmp; else mv -f $@.tmp $@; fi

vswitchd-plugin/ovs_glue.o: vswitchd-plugin/ovs_glue.c vswitchd-plugin/glue.h \
		vswitchd-plugin/ovs.mk vswitchd-plugin/ovs-tree
	$(AM_V_CC)$(ovs_make) TRUMPET_SRCDIR='$(abs_top_srcdir)' \
	  TRUMPET_SOURCE=vswitchd-plugin/ovs_glue.c TRUMPET_OUT='$(abs_builddir)/$@' trumpet-object

vswitchd-plugin/ovs-vswitchd: vswitchd-plugin/ovs_glue.o $(plugin_archives) \
		vswitchd-plugin/ovs.mk
	$(AM_V_CXXLD)$(ovs_make) AM_LIBTOOLFLAGS=--silent DP_MONITOR_LIBS='$(plugin_link_libs)' \
	  TRUMPET_OUT='$(abs_builddir)/$@' trumpet-vswitchd

vswitchd-plugin/ovs-env.sh: vswitchd-plugin/ovs-tree
	$(AM_V_GEN)tree=`cat vswitchd-plugin/ovs-tree` && { \
	  echo "OVS_VSWITCHD='$(abs_builddir)/vswitchd-plugin/ovs-vswitchd'"; \
	  echo "OVS_VSWITCHD_PLAIN='$$tree/build/vswitchd/ovs-vswitchd'"; \
	  echo "OVSDB_SERVER='$$tree/build/ovsdb/ovsdb-server'"; \
	  echo "OVSDB_TOOL='$$tree/build/ovsdb/ovsdb-tool'"; \
	  echo "OVS_VSCTL='$$tree/build/utilities/ovs-vsctl'"; \
	  echo "OVS_APPCTL='$$tree/build/utilities/ovs-appctl'"; \
	  echo "OVS_OFCTL='$$tree/build/utilities/ovs-ofctl'"; \
	  echo "OVS_SCHEMA='$$tree/src/vswitchd/vswitch.ovsschema'"; \
	} >$@.tmp && mv -f $@.tmp $@
