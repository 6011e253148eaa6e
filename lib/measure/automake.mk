# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# The engine of measurement programs; on the packet path nothing throws.
noinst_LIBRARIES += lib/libtrumpet-measure.a
lib_libtrumpet_measure_a_SOURCES = \
	lib/measure/access_sets.cc \
	lib/measure/access_sets.h \
	lib/measure/burst_keys.cc \
	lib/measure/burst_keys.h \
	lib/measure/burst_stages.cc \
	lib/measure/burst_stages.h \
	lib/measure/carried_tags.cc \
	lib/measure/carried_tags.h \
	lib/measure/carrier_shim.cc \
	lib/measure/carrier_shim.h \
	lib/measure/cell.h \
	lib/measure/cell_runs.h \
	lib/measure/collected_ring.cc \
	lib/measure/collected_ring.h \
	lib/measure/compiled_program.h \
	lib/measure/copy_frame.cc \
	lib/measure/copy_frame.h \
	lib/measure/copy_layout.cc \
	lib/measure/copy_layout.h \
	lib/measure/expression.cc \
	lib/measure/expression.h \
	lib/measure/expression_check.cc \
	lib/measure/expression_check.h \
	lib/measure/expression_compiler.cc \
	lib/measure/field_columns.h \
	lib/measure/frame_copy.cc \
	lib/measure/frame_copy.h \
	lib/measure/frame_headers.cc \
	lib/measure/frame_headers.h \
	lib/measure/frame_programs.cc \
	lib/measure/frame_programs.h \
	lib/measure/header_fields.cc \
	lib/measure/header_fields.h \
	lib/measure/kernel_parts.h \
	lib/measure/kernels.h \
	lib/measure/kernels_add.cc \
	lib/measure/kernels_flow.cc \
	lib/measure/kernels_match.cc \
	lib/measure/kernels_write.cc \
	lib/measure/key_text.cc \
	lib/measure/key_text.h \
	lib/measure/key_slots.cc \
	lib/measure/key_slots.h \
	lib/measure/measure_hash.h \
	lib/measure/measured_packet.h \
	lib/measure/operator_choice.cc \
	lib/measure/operator_choice.h \
	lib/measure/operator_fusion.cc \
	lib/measure/operator_fusion.h \
	lib/measure/operators.h \
	lib/measure/packet_cost.cc \
	lib/measure/packet_cost.h \
	lib/measure/payload_tags.cc \
	lib/measure/payload_tags.h \
	lib/measure/packet_values.cc \
	lib/measure/packet_values.h \
	lib/measure/program_check.cc \
	lib/measure/program_check.h \
	lib/measure/program_compiler.cc \
	lib/measure/program_compiler.h \
	lib/measure/program_handover.h \
	lib/measure/program_layout.cc \
	lib/measure/program_layout.h \
	lib/measure/program_loader.cc \
	lib/measure/program_loader.h \
	lib/measure/program_run.cc \
	lib/measure/program_set.cc \
	lib/measure/program_set.h \
	lib/measure/program_state.cc \
	lib/measure/program_state.h \
	lib/measure/range_mask.h \
	lib/measure/read_state.cc \
	lib/measure/read_state.h \
	lib/measure/request_frame.cc \
	lib/measure/request_frame.h \
	lib/measure/request_run.cc \
	lib/measure/request_run.h \
	lib/measure/sketch_estimates.cc \
	lib/measure/sketch_estimates.h \
	lib/measure/slot_sources.h \
	lib/measure/small_filter.h \
	lib/measure/state_question.cc \
	lib/measure/state_question.h \
	lib/measure/stage_cutter.cc \
	lib/measure/stage_cutter.h \
	lib/measure/stream_copies.cc \
	lib/measure/variable_reading.cc \
	lib/measure/variable_reading.h

gtest_programs += lib/measure/measure_test
lib_measure_measure_test_SOURCES = \
	lib/measure/carried_tags_test.cc \
	lib/measure/carrier_shim_test.cc \
	lib/measure/cell_runs_test.cc \
	lib/measure/cell_test.cc \
	lib/measure/collected_ring_test.cc \
	lib/measure/copy_frame_test.cc \
	lib/measure/fast_bounds_test.cc \
	lib/measure/frame_copy_test.cc \
	lib/measure/key_slots_test.cc \
	lib/measure/key_text_test.cc \
	lib/measure/measure_hash_test.cc \
	lib/measure/payload_tags_test.cc \
	lib/measure/program_handover_test.cc \
	lib/measure/program_loader_test.cc \
	lib/measure/range_mask_test.cc \
	lib/measure/read_state_test.cc \
	lib/measure/request_run_test.cc \
	lib/measure/sketch_estimates_test.cc \
	lib/measure/small_filter_test.cc \
	lib/measure/test_programs.h \
	lib/measure/state_question_test.cc \
	lib/measure/variable_reading_test.cc
lib_measure_measure_test_LDADD = $(LIBTRUMPET_MEASURE) $(GTEST_MAIN_LIBS)

TSAN_TESTS += lib/measure/measure_test

fuzz_programs += lib/measure/program_load_fuzz
lib_measure_program_load_fuzz_SOURCES = \
	lib/measure/program_load_fuzz.cc \
	lib/measure/test_programs.h
lib_measure_program_load_fuzz_LDADD = $(LIBTRUMPET_MEASURE) $(FUZZ_MAIN)
EXTRA_DIST += tests/corpus/program_load_fuzz

fuzz_programs += lib/measure/carrier_shim_fuzz
lib_measure_carrier_shim_fuzz_SOURCES = lib/measure/carrier_shim_fuzz.cc
lib_measure_carrier_shim_fuzz_LDADD = $(LIBTRUMPET_MEASURE) $(FUZZ_MAIN)
EXTRA_DIST += tests/corpus/carrier_shim_fuzz
