# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# The packages; run by `make check-packages` and `make check-rpms`.
EXTRA_DIST += \
	tests/packages/accesses.py \
	tests/packages/apparmor.py \
	tests/packages/chroot.py \
	tests/packages/hardening \
	tests/packages/rpms \
	tests/packages/run \
	tests/packages/story.py

# What packages bring, as far as it can be tried without them.
package_tests = \
	tests/packages/accesses_test.py \
	tests/packages/apparmor_test.py \
	tests/packages/dev_test.py \
	tests/packages/packaging_test.py \
	tests/packages/trumpet_pki_test.py
TESTS += $(package_tests)
EXTRA_DIST += $(package_tests)
