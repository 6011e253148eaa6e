# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += lib/libtrumpet-base.a
lib_libtrumpet_base_a_SOURCES = \
	lib/base/byte_order.h \
	lib/base/status.h \
	lib/base/units.h
