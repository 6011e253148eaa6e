# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += \
	vswitchd-plugin/glue.h \
	vswitchd-plugin/link.mk \
	vswitchd-plugin/ovs.mk \
	vswitchd-plugin/ovs_glue.c
