# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Seeded bugs; run by `make check-mutation`.
EXTRA_DIST += \
	tests/mutation/mutations.py \
	tests/mutation/run
