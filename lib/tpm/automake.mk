# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# The packet path, where nothing throws; only what prepares it, in the agent, may lack memory.
noinst_LIBRARIES += lib/libtrumpet-tpm.a
lib_libtrumpet_tpm_a_SOURCES = \
	lib/tpm/admission_control.cc \
	lib/tpm/admission_control.h \
	lib/tpm/admission_filter.cc \
	lib/tpm/admission_filter.h \
	lib/tpm/cache_warmer.h \
	lib/tpm/cell_update.h \
	lib/tpm/change_lists.h \
	lib/tpm/connection_index.cc \
	lib/tpm/connection_index.h \
	lib/tpm/connection_table.cc \
	lib/tpm/connection_table.h \
	lib/tpm/cycle_samples.h \
	lib/tpm/delivery.cc \
	lib/tpm/delivery.h \
	lib/tpm/disordered_segments.cc \
	lib/tpm/disordered_segments.h \
	lib/tpm/epoch_state.h \
	lib/tpm/first_sendings.cc \
	lib/tpm/first_sendings.h \
	lib/tpm/first_sendings_blocks.cc \
	lib/tpm/flood_relief.cc \
	lib/tpm/flood_relief.h \
	lib/tpm/flow_cells.h \
	lib/tpm/flow_entries.cc \
	lib/tpm/flow_entries.h \
	lib/tpm/flow_table.cc \
	lib/tpm/flow_table.h \
	lib/tpm/generation.h \
	lib/tpm/history_pool.h \
	lib/tpm/key_hash.h \
	lib/tpm/key_hash_quad.h \
	lib/tpm/key_layout.cc \
	lib/tpm/key_layout.h \
	lib/tpm/key_words.h \
	lib/tpm/kept_records.cc \
	lib/tpm/kept_records.h \
	lib/tpm/late_samples.cc \
	lib/tpm/late_samples.h \
	lib/tpm/match_flood.cc \
	lib/tpm/match_prepare.cc \
	lib/tpm/match_scatter.cc \
	lib/tpm/match_scatter.h \
	lib/tpm/match_terms.cc \
	lib/tpm/match_terms.h \
	lib/tpm/monitor_counters.h \
	lib/tpm/new_flows.cc \
	lib/tpm/new_flows.h \
	lib/tpm/observation.cc \
	lib/tpm/observation.h \
	lib/tpm/next_flows.cc \
	lib/tpm/next_flows.h \
	lib/tpm/offline_run.cc \
	lib/tpm/offline_run.h \
	lib/tpm/packet_facts.h \
	lib/tpm/packet_monitor.cc \
	lib/tpm/packet_monitor.h \
	lib/tpm/packet_thread.cc \
	lib/tpm/packet_thread.h \
	lib/tpm/pause_rate.cc \
	lib/tpm/pause_rate.h \
	lib/tpm/peer_directory.cc \
	lib/tpm/peer_directory.h \
	lib/tpm/peer_exchange.cc \
	lib/tpm/peer_exchange.h \
	lib/tpm/peer_link.cc \
	lib/tpm/peer_link.h \
	lib/tpm/peer_mailbox.h \
	lib/tpm/peer_message.h \
	lib/tpm/segment_queue.cc \
	lib/tpm/segment_queue.h \
	lib/tpm/set_choice.cc \
	lib/tpm/set_choice.h \
	lib/tpm/slice_set.cc \
	lib/tpm/slice_set.h \
	lib/tpm/stat_operand.cc \
	lib/tpm/stat_operand.h \
	lib/tpm/step_clock.cc \
	lib/tpm/step_clock.h \
	lib/tpm/step_histogram.h \
	lib/tpm/step_watch.cc \
	lib/tpm/step_watch.h \
	lib/tpm/sweep.cc \
	lib/tpm/sweep.h \
	lib/tpm/tcp_tracker.cc \
	lib/tpm/tcp_tracker.h \
	lib/tpm/tracked_packets.cc \
	lib/tpm/tracked_packets.h \
	lib/tpm/trigger_index.cc \
	lib/tpm/trigger_index.h \
	lib/tpm/trigger_program.cc \
	lib/tpm/trigger_program.h \
	lib/tpm/trigger_set.cc \
	lib/tpm/trigger_set.h \
	lib/tpm/trigger_sums.cc \
	lib/tpm/trigger_sums.h \
	lib/tpm/tuple_space.cc \
	lib/tpm/tuple_space.h \
	lib/tpm/value_classes.h

gtest_programs += lib/tpm/tpm_test
TSAN_TESTS += lib/tpm/tpm_test
lib_tpm_tpm_test_SOURCES = \
	lib/base/memory_shortage_test.cc \
	lib/base/memory_shortage_test.h \
	lib/base/sanitizers_test.h \
	lib/tpm/admission_control_test.cc \
	lib/tpm/admission_filter_test.cc \
	lib/tpm/attack_test.cc \
	lib/tpm/backlog_test.cc \
	lib/tpm/cache_warmer_test.cc \
	lib/tpm/connection_table_test.cc \
	lib/tpm/delivery_test.cc \
	lib/tpm/epoch_memory_test.cc \
	lib/tpm/first_sendings_test.cc \
	lib/tpm/flood_random_test.cc \
	lib/tpm/flood_relief_test.cc \
	lib/tpm/flow_table_test.cc \
	lib/tpm/key_hash_test.cc \
	lib/tpm/install_oracle_test.h \
	lib/tpm/install_random_test.cc \
	lib/tpm/key_layout_test.cc \
	lib/tpm/late_samples_test.cc \
	lib/tpm/live_threads_test.cc \
	lib/tpm/monitor_fuzz_kit.h \
	lib/tpm/monitor_harness_test.h \
	lib/tpm/monitor_shortage_test.cc \
	lib/tpm/observation_test.cc \
	lib/tpm/packet_monitor_test.cc \
	lib/tpm/program_change_test.cc \
	lib/tpm/page_faults_test.cc \
	lib/tpm/packet_threads_random_test.cc \
	lib/tpm/peer_link_test.cc \
	lib/tpm/packet_threads_test_kit.h \
	lib/tpm/pause_rate_test.cc \
	lib/tpm/segment_queue_test.cc \
	lib/tpm/set_counts_random_test.cc \
	lib/tpm/set_counts_test.cc \
	lib/tpm/slice_script_test.h \
	lib/tpm/slice_set_test.cc \
	lib/tpm/stat_operand_test.cc \
	lib/tpm/step_watch_test.cc \
	lib/tpm/sweep_steps_test.cc \
	lib/tpm/tcp_connection_test.cc \
	lib/tpm/tcp_random_test.cc \
	lib/tpm/tcp_reference.h \
	lib/tpm/step_test_kit.h \
	lib/tpm/tcp_test_kit.h \
	lib/tpm/tcp_summary_test.cc \
	lib/tpm/tcp_tracker_test.cc \
	lib/tpm/tcp_traffic_test.h \
	lib/tpm/trigger_index_test.cc \
	lib/tpm/trigger_program_test.cc \
	lib/tpm/trigger_set_test.cc \
	lib/tpm/trigger_sums_test.cc
lib_tpm_tpm_test_LDADD = $(LIBTRUMPET_TPM) $(GTEST_MAIN_LIBS)

fuzz_programs += lib/tpm/monitor_fuzz
lib_tpm_monitor_fuzz_SOURCES = \
	lib/tpm/monitor_fuzz.cc \
	lib/tpm/monitor_fuzz_kit.h
lib_tpm_monitor_fuzz_LDADD = $(LIBTRUMPET_TPM) $(FUZZ_MAIN)
EXTRA_DIST += tests/corpus/monitor_fuzz

fuzz_programs += lib/tpm/mark_fuzz
lib_tpm_mark_fuzz_SOURCES = \
	lib/tpm/mark_fuzz.cc \
	lib/tpm/monitor_fuzz_kit.h \
	lib/tpm/slice_script_test.h
lib_tpm_mark_fuzz_LDADD = $(LIBTRUMPET_TPM) $(FUZZ_MAIN)
EXTRA_DIST += tests/corpus/mark_fuzz

bench_programs += lib/tpm/connection_table_bench
lib_tpm_connection_table_bench_SOURCES = \
	lib/tpm/connection_table_bench.cc \
	lib/tpm/tcp_test_kit.h
lib_tpm_connection_table_bench_LDADD = $(LIBTRUMPET_TPM) $(BENCH_MAIN_LIBS)

bench_programs += lib/tpm/sweep_bench
lib_tpm_sweep_bench_SOURCES = \
	lib/tpm/monitor_harness_test.h \
	lib/tpm/sweep_bench.cc
lib_tpm_sweep_bench_LDADD = $(LIBTRUMPET_TPM) $(BENCH_MAIN_LIBS)

bench_programs += lib/tpm/peers_bench
lib_tpm_peers_bench_SOURCES = \
	lib/tpm/monitor_harness_test.h \
	lib/tpm/peers_bench.cc
lib_tpm_peers_bench_LDADD = $(LIBTRUMPET_TPM) $(BENCH_MAIN_LIBS)

bench_programs += lib/tpm/new_flows_bench
lib_tpm_new_flows_bench_SOURCES = \
	lib/tpm/monitor_harness_test.h \
	lib/tpm/new_flows_bench.cc
lib_tpm_new_flows_bench_LDADD = $(LIBTRUMPET_TPM) $(BENCH_MAIN_LIBS)
