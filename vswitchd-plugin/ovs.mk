# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Three targets inside a built tree of Open vSwitch, with its own flags:
#
#   make -C OVS/build -f Makefile -f .../vswitchd-plugin/ovs.mk TRUMPET_SRCDIR=... \
#        TRUMPET_SOURCE=vswitchd-plugin/ovs_glue.c TRUMPET_OUT=/abs/ovs_glue.o trumpet-object
#   make -C OVS/build -f Makefile -f .../vswitchd-plugin/ovs.mk \
#        TRUMPET_OUT=/abs/ovs-libs trumpet-libs
#   make -C OVS/build -f Makefile -f .../vswitchd-plugin/ovs.mk \
#        DP_MONITOR_LIBS="..." TRUMPET_OUT=/abs/ovs-vswitchd trumpet-vswitchd
#
# Reading the tree's own Makefile is what keeps the command lines right: include
# paths, DPDK's flags, the order of libraries.  No target depends on one of the
# tree, so nothing there is ever rebuilt or changed, and any number of these may
# run at once.  Output is made under another name and moved, so an interrupted
# run leaves nothing that looks whole.

TRUMPET_TMP = $(TRUMPET_OUT).tmp

.PHONY: trumpet-object trumpet-libs trumpet-vswitchd $(TRUMPET_TMP)/out

# One C file that sees headers of Open vSwitch.  It is known by its name in our tree, which messages
# show, however the compiler is called: ccache would make it relative to this folder.
trumpet-object:
	CCACHE_BASEDIR= $(COMPILE) -fmacro-prefix-map=$(TRUMPET_SRCDIR)/= \
	  -Werror -I$(TRUMPET_SRCDIR) -c -o $(TRUMPET_TMP) \
	  $(TRUMPET_SRCDIR)/$(TRUMPET_SOURCE)
	mv -f $(TRUMPET_TMP) $(TRUMPET_OUT)

# What a program that uses the library is linked with.
trumpet-libs:
	echo '$(abs_builddir)/lib/.libs/libopenvswitch.a $(SSL_LIBS) $(CAPNG_LDADD) $(LIBS)' \
	  >$(TRUMPET_TMP)
	mv -f $(TRUMPET_TMP) $(TRUMPET_OUT)

trumpet-vswitchd: $(TRUMPET_TMP)/out
	mv -f $(TRUMPET_TMP)/out $(TRUMPET_OUT)
	rm -rf $(TRUMPET_TMP)

# A target of its own, because the link command of automake writes to $@; in a
# directory of its own, because libtool leaves one beside its output.
$(TRUMPET_TMP)/out:
	rm -rf $(TRUMPET_TMP)
	mkdir $(TRUMPET_TMP)
	$(vswitchd_ovs_vswitchd_LINK) $(vswitchd_ovs_vswitchd_OBJECTS) \
	  $(vswitchd_ovs_vswitchd_LDADD) $(LIBS)
