# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS = \
	controller/slice/copy_collector.h \
	controller/slice/slice_driver.h
