# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Planning by `trumpetctl slice solve` against twins that try everything.  How many random cases:
# SLICE_CASES in the environment, 300 without it.
TESTS += tests/slices/check-slices
EXTRA_DIST += tests/slices/check-slices tests/slices/twins.py
