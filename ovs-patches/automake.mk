# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Nothing is compiled here; build-aux/ovs-build applies the series.
EXTRA_DIST += \
	ovs-patches/README.md \
	ovs-patches/ftp_rewrite_test.py \
	ovs-patches/series \
	ovs-patches/series-4.0 \
	ovs-patches/0001-conntrack-ftp-sizes.patch \
	ovs-patches/0002-monitor-registry.patch \
	ovs-patches/0003-datapath-call-outs.patch \
	ovs-patches/0003-datapath-call-outs-4.0.patch \
	ovs-patches/0004-link-monitor.patch \
	ovs-patches/0005-document-keys.patch
