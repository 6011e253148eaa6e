# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# All of the folder: pages come and go.
EXTRA_DIST += docs

# Links that lead nowhere are errors.
html-local:
	$(AM_V_GEN)$(top_srcdir)/build-aux/docs-html '$(top_srcdir)' docs/html

# Manual pages, of reStructuredText as Open vSwitch's own.
manual_pages = \
	docs/man/ovs-vswitchd-trumpet.conf.db.5 \
	docs/man/trumpet-analyzer.8 \
	docs/man/trumpet-analyzer.yaml.5 \
	docs/man/trumpet-controller.8 \
	docs/man/trumpet-controller.yaml.5 \
	docs/man/trumpet-db.8 \
	docs/man/trumpet-pki.8 \
	docs/man/trumpet-replay.1 \
	docs/man/trumpetctl.1
if HAVE_RST2MAN
nodist_man_MANS = $(manual_pages)
$(manual_pages): docs/man/%: docs/man/%.rst
	$(AM_V_GEN)$(MKDIR_P) docs/man && $(RST2MAN) --strict '$<' $@
CLEANFILES += $(manual_pages)
endif
