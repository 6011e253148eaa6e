# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += controller/libtrumpet-notify.a
controller_libtrumpet_notify_a_SOURCES = \
	controller/notify/alert_feed.cc \
	controller/notify/alert_feed.h \
	controller/notify/courier.cc \
	controller/notify/courier.h \
	controller/notify/file_worker.cc \
	controller/notify/file_worker.h \
	controller/notify/http_sender.cc \
	controller/notify/http_sender.h \
	controller/notify/notifier.cc \
	controller/notify/notifier.h \
	controller/notify/notify_options.h \
	controller/notify/report_feed.cc \
	controller/notify/report_feed.h
# Users link it before LIBTRUMPET_TEM.
LIBTRUMPET_NOTIFY = controller/libtrumpet-notify.a $(CURL_LIBS) $(LIBEVENT_LIBS)

gtest_programs += controller/notify/notify_test
TSAN_TESTS += controller/notify/notify_test
controller_notify_notify_test_SOURCES = \
	controller/notify/alertmanager_test.cc \
	controller/notify/courier_test.cc \
	controller/notify/notifier_test.cc \
	controller/notify/notify_kit_test.h
controller_notify_notify_test_LDADD = $(LIBTRUMPET_NOTIFY) $(LIBTRUMPET_TEM) $(GTEST_MAIN_LIBS)
