# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Tests of the build itself, and the main() of fuzz targets in plain builds.
noinst_LIBRARIES += tests/build/libfuzz-main.a
tests_build_libfuzz_main_a_SOURCES = tests/build/fuzz_main.cc

build_tests = \
	tests/build/alert_rules_test.sh \
	tests/build/check_layers_test.sh \
	tests/build/count_tests_test.sh \
	tests/build/docs_html_test.py \
	tests/build/fuzz_corpora_test.sh \
	tests/build/manual_test.py \
	tests/build/ovs_build_test.sh \
	tests/build/security_test.py
TESTS += $(build_tests)
EXTRA_DIST += $(build_tests) tests/build/cases.py
