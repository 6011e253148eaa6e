# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += lib/libtrumpet-lang.a
lib_libtrumpet_lang_a_SOURCES =
