# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# What packages bring.
TESTS += tests/packages/trumpet_pki_test.py
EXTRA_DIST += tests/packages/trumpet_pki_test.py
