# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Targets for people.  `make help` prints the lines marked with ## in order.

.PHONY: help check-system check-ovs check-ovs-full bench lint fuzz coverage demo check-threads
BENCH_FLAGS = --benchmark_min_time=0.2
FUZZ_SECONDS = 60
LINT_BASE =
with_tree = top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' \
	OVS_SOURCE='$(OVS_SOURCE)' OVS_CACHE_DIR='$(OVS_CACHE_DIR)'
help_files = $(top_srcdir)/build-aux/automake.mk

help:            ## this list
	@echo 'Targets of Trumpet for Open vSwitch:'
	@$(SED) -n 's/^\([a-z-]*\): *\([^#]*\)## \(.*\)/  \1|\3/p' $(help_files) | \
	  while IFS='|' read -r name text; do printf '%-18s %s\n' "$$name" "$$text"; done
