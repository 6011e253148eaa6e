# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += \
	docs/adr \
	docs/life-of-a-packet.md \
	docs/operations.md
