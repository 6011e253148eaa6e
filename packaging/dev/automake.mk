# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# `make install-dev`: lib/ for programs of others, as static libraries (package libtrumpet-dev).
dev_libraries = \
	lib/libtrumpet-base.a \
	lib/libtrumpet-lang.a \
	lib/libtrumpet-measure.a \
	lib/libtrumpet-model.a \
	lib/libtrumpet-ovsdb.a \
	lib/libtrumpet-packet.a \
	lib/libtrumpet-tpm.a \
	lib/libtrumpet-verdict.a \
	lib/libtrumpet-wire-pb.a \
	lib/libtrumpet-wire.a
# What fuzz targets need says nothing to others, nor what only the codec of messages includes (it needs protobuf's headers).
dev_private_headers = lib/base/fuzz_require.h lib/wire/frame_body.h
dev_headers = $(filter-out $(dev_private_headers),$(filter lib/%.h, \
	$(lib_libtrumpet_base_a_SOURCES) $(lib_libtrumpet_lang_a_SOURCES) \
	$(lib_libtrumpet_measure_a_SOURCES) $(lib_libtrumpet_model_a_SOURCES) \
	$(lib_libtrumpet_ovsdb_a_SOURCES) $(lib_libtrumpet_packet_a_SOURCES) \
	$(lib_libtrumpet_tpm_a_SOURCES) $(lib_libtrumpet_verdict_a_SOURCES) \
	$(lib_libtrumpet_wire_a_SOURCES)))
dev_folder = $(DESTDIR)$(includedir)/trumpet

.PHONY: install-dev
install-dev: $(dev_libraries) packaging/dev/trumpet.pc
	$(MKDIR_P) '$(DESTDIR)$(libdir)/pkgconfig'
	$(INSTALL_DATA) $(dev_libraries) '$(DESTDIR)$(libdir)'
	$(INSTALL_DATA) packaging/dev/trumpet.pc '$(DESTDIR)$(libdir)/pkgconfig'
	for header in $(dev_headers) lib/wire/trumpet.proto; do \
	  $(MKDIR_P) "$(dev_folder)/$${header%/*}" && \
	  $(INSTALL_DATA) "$(top_srcdir)/$$header" "$(dev_folder)/$$header" || exit 1; \
	done
