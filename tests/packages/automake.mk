# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# The packages; run by `make check-packages` and `make check-rpms`.
EXTRA_DIST += \
	tests/packages/chroot.py \
	tests/packages/rpms \
	tests/packages/run

# What packages bring, as far as it can be tried without them.
TESTS += tests/packages/packaging_test.py tests/packages/trumpet_pki_test.py
EXTRA_DIST += tests/packages/packaging_test.py tests/packages/trumpet_pki_test.py
