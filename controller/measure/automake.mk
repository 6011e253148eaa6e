# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Measurement programs of the network.
noinst_LIBRARIES += controller/libtrumpet-measurements.a
controller_libtrumpet_measurements_a_SOURCES = \
	controller/measure/cell_reader.cc \
	controller/measure/cell_reader.h \
	controller/measure/measured_states.cc \
	controller/measure/measured_states.h \
	controller/measure/copy_counts.cc \
	controller/measure/copy_counts.h \
	controller/measure/measurement_answers.cc \
	controller/measure/measurement_definition.cc \
	controller/measure/measurement_definition.h \
	controller/measure/measurement_places.cc \
	controller/measure/measurement_places.h \
	controller/measure/measurement_manager.cc \
	controller/measure/measurement_manager.h \
	controller/measure/program_asker.cc \
	controller/measure/program_asker.h \
	controller/measure/program_rounds.cc \
	controller/measure/program_rounds.h

gtest_programs += controller/measure/measurements_test
controller_measure_measurements_test_SOURCES = \
	$(wire_test_kit) \
	controller/measure/measured_states_test.cc \
	controller/measure/copy_counts_test.cc \
	controller/measure/measurement_definition_test.cc \
	controller/measure/measurement_places_test.cc \
	controller/measure/measurement_copies_test.cc \
	controller/measure/measurement_kit_test.h \
	controller/measure/measurement_manager_test.cc \
	controller/tem/event_manager_kit_test.h \
	controller/tem/scripted_agent_test.h
controller_measure_measurements_test_LDADD = $(LIBTRUMPET_MEASUREMENTS) $(GTEST_MAIN_LIBS)
