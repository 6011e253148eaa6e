# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Tests that cross modules; each folder lists its own.
include tests/bench/automake.mk
include tests/build/automake.mk
include tests/controller/automake.mk
include tests/differential/automake.mk
include tests/measure/automake.mk
include tests/mutation/automake.mk
include tests/network/automake.mk
include tests/packages/automake.mk
include tests/replay/automake.mk
include tests/slices/automake.mk
include tests/support/automake.mk
include tests/system/automake.mk
include tests/traces/automake.mk
