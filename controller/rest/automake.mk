# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# The description of the API as a C++ text.
controller/rest/openapi_json.cc: $(top_srcdir)/controller/rest/openapi.json
	$(AM_V_GEN)$(MKDIR_P) controller/rest && { \
	  echo 'namespace trumpet { extern const char kOpenApi[]; }'; \
	  printf 'const char trumpet::kOpenApi[] = R"openapi('; \
	  cat '$(top_srcdir)/controller/rest/openapi.json'; printf ')openapi";\n'; } >$@
CLEANFILES += controller/rest/openapi_json.cc
EXTRA_DIST += controller/rest/openapi.json

noinst_LIBRARIES += controller/libtrumpet-rest.a
controller_libtrumpet_rest_a_SOURCES = \
	controller/rest/access.cc \
	controller/rest/access.h \
	controller/rest/counter_routes.cc \
	controller/rest/drop_routes.cc \
	controller/rest/drop_views.cc \
	controller/rest/drop_views.h \
	controller/rest/event_body.cc \
	controller/rest/event_body.h \
	controller/rest/event_routes.cc \
	controller/rest/host_routes.cc \
	controller/rest/http_connection.h \
	controller/rest/http_exchange.cc \
	controller/rest/http_exchange.h \
	controller/rest/http_head.cc \
	controller/rest/http_head.h \
	controller/rest/http_request.cc \
	controller/rest/http_request.h \
	controller/rest/http_server.cc \
	controller/rest/http_server.h \
	controller/rest/json_body.cc \
	controller/rest/json_body.h \
	controller/rest/json_views.cc \
	controller/rest/json_views.h \
	controller/rest/metrics_route.cc \
	controller/rest/metrics_text.cc \
	controller/rest/metrics_text.h \
	controller/rest/multipart.cc \
	controller/rest/multipart.h \
	controller/rest/packet_downloads.cc \
	controller/rest/packet_downloads.h \
	controller/rest/bounce_routes.cc \
	controller/rest/probe_routes.cc \
	controller/rest/probe_views.cc \
	controller/rest/probe_views.h \
	controller/rest/problem.cc \
	controller/rest/problem.h \
	controller/rest/report_routes.cc \
	controller/rest/report_streams.cc \
	controller/rest/report_streams.h \
	controller/rest/reshuffler_routes.cc \
	controller/rest/reshuffler_views.cc \
	controller/rest/reshuffler_views.h \
	controller/rest/rest_call.cc \
	controller/rest/rest_call.h \
	controller/rest/rest_server.cc \
	controller/rest/rest_server.h \
	controller/rest/simulate_route.cc \
	controller/rest/simulations.cc \
	controller/rest/simulations.h \
	controller/rest/measurement_requests.cc \
	controller/rest/measurement_routes.cc \
	controller/rest/measurement_views.cc \
	controller/rest/measurement_views.h \
	controller/rest/slice_routes.cc \
	controller/rest/slice_views.cc \
	controller/rest/slice_views.h \
	controller/rest/system_routes.cc \
	controller/rest/tenant_packets.cc \
	controller/rest/tenant_packets.h \
	controller/rest/token_file.cc \
	controller/rest/token_file.h \
	controller/rest/trace_rule_routes.cc \
	controller/rest/trace_rule_views.cc \
	controller/rest/trace_rule_views.h \
	controller/rest/trace_questions.cc \
	controller/rest/trace_questions.h \
	controller/rest/trace_routes.cc \
	controller/rest/trace_streams.cc \
	controller/rest/trace_streams.h \
	controller/rest/trace_views.cc \
	controller/rest/trace_views.h

# BUILT_SOURCES come first in `make all' and `make check', but not before a single target.
$(controller_libtrumpet_rest_a_OBJECTS): lib/wire/trumpet.pb.h
nodist_controller_libtrumpet_rest_a_SOURCES = controller/rest/openapi_json.cc

gtest_programs += controller/rest/rest_test
controller_rest_rest_test_SOURCES = \
	controller/rest/measurement_views_test.cc \
	controller/rest/access_test.cc \
	controller/rest/http_server_test.cc \
	controller/rest/request_parts_test.cc \
	controller/rest/rest_kit_test.h \
	controller/rest/rest_server_test.cc \
	lib/wire/session_kit_test.h \
	lib/wire/test_certificates_test.cc \
	lib/wire/test_certificates_test.h
controller_rest_rest_test_LDADD = $(LIBTRUMPET_REST) $(GTEST_MAIN_LIBS)
$(controller_rest_rest_test_OBJECTS): lib/wire/trumpet.pb.h

# The API without the rest of the daemon, for the tests in Python.
check_PROGRAMS += controller/rest/small_rest
EXTRA_PROGRAMS += controller/rest/small_rest
controller_rest_small_rest_SOURCES = controller/rest/small_rest_test.cc
controller_rest_small_rest_LDADD = $(LIBTRUMPET_REST)
$(controller_rest_small_rest_OBJECTS): lib/wire/trumpet.pb.h

TESTS += controller/rest/rest_api_test.py
EXTRA_DIST += controller/rest/rest_api_test.py controller/rest/rest_kit.py

fuzz_programs += controller/rest/rest_fuzz
controller_rest_rest_fuzz_SOURCES = controller/rest/rest_fuzz.cc
controller_rest_rest_fuzz_LDADD = $(FUZZ_MAIN) $(LIBTRUMPET_REST)
controller_rest_rest_fuzz_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
$(controller_rest_rest_fuzz_OBJECTS): lib/wire/trumpet.pb.h
EXTRA_DIST += tests/corpus/rest_fuzz
