# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Targets for people.  Include this last: it uses the lists of the others.

.PHONY: help
help:
	@printf '%s\n' \
	  'Targets of Trumpet for Open vSwitch (default: all)' \
	  '' \
	  '  all             libraries, programs and, unless --with-ovs-source=no, the switch' \
	  '  check           unit, differential and build tests; no privileges needed' \
	  '  check-threads   the tests with threads only (for a --enable-tsan build)' \
	  '  check-system    the monitor in a real switch, in network namespaces (root)' \
	  '  check-blackholes  100 blackholes drawn by chance, each told as what it is (root)' \
	  '  check-controller  faults around the controller: kills, cuts, floods, full disks, wrong keys' \
	  '  check-slices    the slice planner on random cases, and on a reference set if SLICE_REFERENCE' \
	  '                  (by default beside the source tree) is there' \
	  '  check-captures  what is read of the captures of CAPTURES, a directory, beside tshark' \
	  '  check-measure   measurement programs on random ones, and on a reference set if MEASURE_REFERENCE' \
	  '                  (by default beside the source tree) is there' \
	  '  check-packages  Debian packages on a fresh Debian: lintian, installed, run, upgraded, purged (root)' \
	  '  check-reproducible  whether two builds of the Debian packages are the same (half an hour)' \
	  '  check-rpms      RPMs, built here: rpmlint, installed in a folder, run, removed (root)' \
	  '  check-ovs       Open vSwitch'"'"'s own tests of the userspace datapath (2 minutes)' \
	  '  check-ovs-full  the same with ofproto-dpif and tunnels (a quarter of an hour)' \
	  '  check-ovs-versions  whether the patches apply to the Open vSwitch of other Debian suites;' \
	  '                  OVS_VERSIONS_FLAGS="--build sid" builds and tests it there (root, half an hour)' \
	  '  check-mutation  which test catches which of the seeded bugs, as far as' \
	  '                  MUTATION_SECONDS=$(MUTATION_SECONDS) allow; the next call goes on from there' \
	  '  check-mutants   which unit test notices which of MUTANTS=$(MUTANTS) small changes in lib/tpm and' \
	  '                  lib/verdict, as far as MUTATION_SECONDS allow; the next call goes on from there' \
	  '  bench           every benchmark, bench-ovs too if root; BENCH_FLAGS=$(BENCH_FLAGS)' \
	  '  bench-quick     the packet monitor alone, in half a minute' \
	  '  bench-ovs       the monitor in the switch, beside sFlow and IPFIX (root, 8 minutes);' \
	  '                  BENCH_OVS_FLAGS=--quick takes one' \
	  '  bench-tem       the event manager with a thousand hosts (a minute)' \
	  '  bench-measure   measurement programs per packet, beside the same written by hand' \
	  '  bench-analyzer  what a copy of a packet costs the analyzer, beside a plain one; from an interface,' \
	  '                  too, if root (two minutes)' \
	  '  bench-trace-store  stores of traces beside each other: SQLite, ClickHouse (minutes; 3 GB), or with' \
	  '                  BENCH_TRACE_STORE_FLAGS="--only files --gigabytes 1,2.5,5,10" as they grow (an hour)' \
	  '  bench-slices    planning of slices by size, beside plain implementations' \
	  '  bench-slice-length  how long slices last in a real switch (root)' \
	  '  bench-attack    the same under a flood of new flows (root, 2 minutes)' \
	  '  lint            format, layers, headers, syntax, clang-tidy since LINT_BASE' \
	  '  fuzz            every fuzz target for FUZZ_SECONDS=$(FUZZ_SECONDS) (clang)' \
	  '  coverage        lines that unit and differential tests reach, per file, within' \
	  '                  COVERAGE_SECONDS=$(COVERAGE_SECONDS) (ten minutes on two processors)' \
	  '  demo            the whole way from packet to report, before your eyes (root)' \
	  '  packages        Debian packages, in packages/; PACKAGES_FLAGS=--quick for tests only' \
	  '  rpms            RPMs of rhel/trumpet.spec, in rpms/, to see that they can be built' \
	  '  html            the documentation and manual pages as HTML, in docs/html of the build' \
	  '  distcheck       make a release and test it from its tarball' \
	  '  help            this list' \
	  '' \
	  'Configured: $(TRUMPET_KIND) build, Open vSwitch from $(OVS_SOURCE)'

BENCH_FLAGS = --benchmark_min_time=0.2
FUZZ_SECONDS = 60
COVERAGE_CASES = 150
COVERAGE_SECONDS = 1200
MUTATION_SECONDS = 1500
MUTANTS = 400
FUZZ_CC = clang
FUZZ_CXX = clang++

# What scripts learn from us; every test sees it, too.
script_environment = \
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' \
	OVS_SOURCE='$(OVS_SOURCE)' OVS_CACHE_DIR='$(OVS_CACHE_DIR)'
AM_TESTS_ENVIRONMENT = \
	$(script_environment) fuzz_programs='$(fuzz_programs)' \
	installed_programs='$(bin_PROGRAMS) $(dist_bin_SCRIPTS) $(sbin_PROGRAMS)' \
	library_compiler='$(CXX) $(TRUMPET_KIND_FLAGS)'; \
	export top_srcdir top_builddir OVS_SOURCE OVS_CACHE_DIR fuzz_programs installed_programs \
	  library_compiler;

# Long comparisons on one thread, which ThreadSanitizer can only slow down.
one_thread_tests = PacketThreads.*:InstallUnderTraffic.CountsExactly*

.PHONY: thread-tests check-threads check-system check-controller check-ovs check-ovs-full need-plugin
thread-tests: $(TSAN_TESTS)
check-threads: thread-tests
	@test -n '$(TSAN_TESTS)' || { echo 'check-threads: TSAN_TESTS is empty'; exit 1; }
	GTEST_FILTER='-$(one_thread_tests)' \
	  $(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(TSAN_TESTS)'

# These need the switch; say so instead of failing somewhere inside.
need-plugin:
if !BUILD_PLUGIN
	@echo 'configured with --with-ovs-source=no: there is no switch to test' >&2; exit 1
endif

check-system: need-plugin all tests/support/link_emulator
	$(script_environment) $(top_srcdir)/tests/system/run

# How many, and which.
BLACKHOLES = 100
.PHONY: check-blackholes
check-blackholes: need-plugin all tests/support/link_emulator
	TRUMPET_BLACKHOLES=$(BLACKHOLES) $(script_environment) $(top_srcdir)/tests/system/run blackholes_drawn

check-controller: need-plugin all tests/controller/fault_host
	$(script_environment) $(top_srcdir)/tests/controller/run

# How far: SLICE_CASES random cases, and the reference set of the directory.
SLICE_CASES = 3000
SLICE_REFERENCE = $(top_srcdir)/../shared/data/stroboscope
.PHONY: check-slices
check-slices: utilities/trumpetctl
	$(script_environment) $(top_srcdir)/tests/slices/check-slices \
	  --cases $(SLICE_CASES) --reference '$(SLICE_REFERENCE)'

# What is read of the captures of a directory, beside tshark and the slow parser: pcap files of
# Ethernet or IP, of others.
CAPTURES = $(top_srcdir)/../shared/data/pcaps/tcpdump
.PHONY: check-captures
check-captures: lib/packet/packet_test
	@test -d '$(CAPTURES)' || { echo 'check-captures: no directory $(CAPTURES)' >&2; exit 1; }
	TRUMPET_CAPTURES='$(CAPTURES)' lib/packet/packet_test \
	  --gtest_filter='Captures.AreReadToTheEnd*:LayersBesideTshark.OfEveryCapture*'

# The same of measurement programs; MEASURE_CASES and MEASURED_CASES are of the environment, as the
# tests' are.
MEASURE_REFERENCE = $(top_srcdir)/../shared/data/mafia
.PHONY: check-measure
check-measure: utilities/trumpet-replay
	$(script_environment) $(top_srcdir)/tests/measure/check-twin --reference '$(MEASURE_REFERENCE)'
	$(script_environment) $(top_srcdir)/tests/measure/measure-differential \
	  --replay utilities/trumpet-replay --cases $${MEASURE_CASES:-3000} --reference '$(MEASURE_REFERENCE)'
	$(script_environment) $(top_srcdir)/tests/measure/measured-differential \
	  --replay utilities/trumpet-replay --cases $${MEASURED_CASES:-1000}

ovs_check = $(top_srcdir)/build-aux/ovs-check --source '$(OVS_SOURCE)' --cache '$(OVS_CACHE_DIR)'
check-ovs: need-plugin
	$(ovs_check)

check-ovs-full: need-plugin
	$(ovs_check) --full --baseline

.PHONY: check-ovs-versions
check-ovs-versions:
	$(top_srcdir)/build-aux/ovs-versions $(OVS_VERSIONS_FLAGS)

.PHONY: check-mutation
check-mutation:
	$(top_srcdir)/tests/mutation/run --work mutation-work --seconds $(MUTATION_SECONDS)

.PHONY: check-mutants
check-mutants: lib/tpm/tpm_test lib/verdict/verdict_test
	$(top_srcdir)/tests/mutation/mutants --work mutants-work --seconds $(MUTATION_SECONDS) --sample $(MUTANTS)

bench-ovs: need-plugin all
	$(script_environment) $(top_srcdir)/tests/bench/bench-ovs $(BENCH_OVS_FLAGS)

bench-attack: need-plugin all
	$(script_environment) $(top_srcdir)/tests/bench/bench-ovs --attack 0.9 --hugepages --rounds 1 \
	  --seconds 90 --forwarding port,normal $(BENCH_OVS_FLAGS)

.PHONY: bench bench-quick bench-ovs bench-attack lint fuzz fuzz-programs coverage demo
bench: bench-monitor $(bench_programs)
if HAVE_BENCHMARK
	@for b in $(bench_programs); do echo "== $$b"; ./$$b $(BENCH_FLAGS) || exit 1; done
else
	@echo 'bench: Google Benchmark was not found by configure' >&2; exit 1
endif
if BUILD_PLUGIN
	@if [ "$$(id -u)" = 0 ]; then $(MAKE) $(AM_MAKEFLAGS) bench-ovs; \
	  else echo 'bench: not run, for it needs root: bench-ovs'; fi
else
	@echo 'bench: not run, for there is no switch (--with-ovs-source=no): bench-ovs'
endif

.PHONY: bench-tem
bench-tem: need-plugin tests/bench/bench-tem controller/daemon/trumpet-controller
	$(script_environment) tests/bench/bench-tem $(BENCH_TEM_FLAGS) --json tests/bench/bench-tem.json
CLEANFILES += tests/bench/bench-tem tests/bench/bench-tem.json

.PHONY: bench-measure
bench-measure: tests/bench/bench-measure
	tests/bench/bench-measure $(top_srcdir)/docs/measurements
CLEANFILES += tests/bench/bench-measure

.PHONY: bench-analyzer
bench-analyzer: controller/traces/trace_maker_bench controller/traces/copy_receive_bench
	controller/traces/trace_maker_bench --benchmark_enable_random_interleaving=true \
	  --benchmark_repetitions=5 --benchmark_min_time=0.2
	if test `id -u` = 0; then controller/traces/copy_receive_bench; fi

.PHONY: bench-trace-store
bench-trace-store: controller/store/trace_store_bench
	controller/store/trace_store_bench $(BENCH_TRACE_STORE_FLAGS)

.PHONY: bench-slices bench-slice-length
bench-slice-length: need-plugin all
	$(script_environment) $(top_srcdir)/tests/system/bench-slice-length
bench-slices: tests/bench/bench-slices
	tests/bench/bench-slices '$(SLICE_REFERENCE)'
CLEANFILES += tests/bench/bench-slices

.PHONY: bench-monitor
bench-monitor: tests/bench/bench-monitor
	tests/bench/bench-monitor --matrix full --json tests/bench/bench-monitor.json

bench-quick: tests/bench/bench-monitor
	tests/bench/bench-monitor --matrix quick --json tests/bench/bench-monitor.json

lint:
	CXX='$(CXX)' CC='$(CC)' $(top_srcdir)/build-aux/lint

# A build of its own, unless this is one: libFuzzer is clang's, and counts every branch.
if FUZZERS
fuzz-programs: $(fuzz_programs)
fuzz: $(fuzz_programs)
	$(script_environment) FUZZ_SECONDS=$(FUZZ_SECONDS) \
	  $(top_srcdir)/build-aux/run-fuzzers $(fuzz_programs)
else
fuzz:
	$(MKDIR_P) fuzz-build
	test -f fuzz-build/Makefile || (cd fuzz-build && $(abs_top_srcdir)/configure \
	  --enable-fuzzers --with-ovs-source=no CC='$(FUZZ_CC)' CXX='$(FUZZ_CXX)')
	cd fuzz-build && $(MAKE) $(AM_MAKEFLAGS) fuzz FUZZ_SECONDS=$(FUZZ_SECONDS)
endif

# A tree of its own; the tests that look into the code, and those alone.  What counts is whether a
# line ran, so the counters are not atomic, and the code is optimized: with neither, the long
# comparisons did not come to an end.
coverage_tests = $(gtest_programs) $(differential_tests) tests/build/fuzz_corpora_test.sh
coverage:
	$(MKDIR_P) coverage-build
	test -f coverage-build/Makefile || (cd coverage-build && $(abs_top_srcdir)/configure \
	  --enable-coverage --with-ovs-source=no CC='$(CC)' CXX='$(CXX)')
	find coverage-build -name '*.gcda' -exec rm -f {} +
	cd coverage-build && $(MAKE) $(AM_MAKEFLAGS) \
	  $(gtest_programs) $(fuzz_programs) utilities/trumpet-replay
	status=0; \
	(cd coverage-build && DIFFERENTIAL_CASES=$(COVERAGE_CASES) EXACTNESS_CASES=50 timeout $(COVERAGE_SECONDS) \
	  $(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(coverage_tests)') || status=$$?; \
	$(top_srcdir)/build-aux/coverage-report $(top_srcdir) coverage-build && exit $$status

demo: need-plugin all tests/support/link_emulator
	$(script_environment) $(top_srcdir)/utilities/demo/run

# A release is tested without the switch: its source is not part of it.
AM_DISTCHECK_CONFIGURE_FLAGS = --with-ovs-source=no $(WERROR_SWITCH) CC='$(CC)' CXX='$(CXX)'

# Folders are released whole; what Python leaves in them is not.
dist-hook:
	find '$(distdir)' -name __pycache__ -prune -exec rm -rf {} +

clean-local:
	rm -rf fuzz-build fuzz-work coverage-build mutation-work mutants-work packages packages-quick rpms rpms-quick docs/html

EXTRA_DIST += \
	build-aux/build-packages \
	build-aux/build-rpms \
	build-aux/source-files \
	build-aux/build-tree \
	build-aux/check-headers \
	build-aux/check-layers \
	build-aux/check-lists \
	build-aux/check-reproducible \
	build-aux/count-tests \
	build-aux/coverage-report \
	build-aux/docs-html \
	build-aux/fetch-tools \
	build-aux/layers \
	build-aux/lint \
	build-aux/ovs-build \
	build-aux/ovs-check \
	build-aux/ovs-versions \
	build-aux/plot-growth \
	build-aux/run-checks \
	build-aux/run-fuzzers
