# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# What a system's own software is told about ours; debian/rules and rhel/trumpet.spec install it.
EXTRA_DIST += packaging debian rhel

# Packages of this tree, and their life on a fresh Debian.
PACKAGES_FLAGS =
.PHONY: packages check-packages check-hardening check-reproducible rpms check-rpms
packages:
	$(top_srcdir)/build-aux/build-packages $(PACKAGES_FLAGS) --output packages

check-packages:
	$(top_srcdir)/build-aux/build-packages --quick --output packages-quick
	$(top_srcdir)/tests/packages/run packages-quick

# Whether what is given away is hardened.
check-hardening: packages rpms
	$(top_srcdir)/tests/packages/hardening packages
	$(top_srcdir)/tests/packages/hardening rpms

# Whether two builds of them are the same, and hardened; half an hour.
check-reproducible:
	$(top_srcdir)/build-aux/check-reproducible $(PACKAGES_FLAGS) reproducible

# What rhel/trumpet.spec makes, built here.
rpms:
	$(top_srcdir)/build-aux/build-rpms $(PACKAGES_FLAGS) --output rpms

check-rpms:
	$(top_srcdir)/build-aux/build-rpms --quick --output rpms-quick
	$(top_srcdir)/tests/packages/rpms rpms-quick
