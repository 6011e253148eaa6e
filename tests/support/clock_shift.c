// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Sets the wall clock of one process: a library to be preloaded (LD_PRELOAD), which adds to
// CLOCK_REALTIME the seconds that the file CLOCK_SHIFT_FILE holds at that moment, eight bytes in
// the machine's order.  Without the file the clock is right.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t* seconds;
static int (*real_clock_gettime)(clockid_t, struct timespec*);

static void begin(void) {
  real_clock_gettime = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  const char* path = getenv("CLOCK_SHIFT_FILE");
  const int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void* mapped = mmap(NULL, sizeof *seconds, PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) seconds = mapped;
  close(file);
}

int clock_gettime(clockid_t id, struct timespec* now) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, begin);
  const int status = real_clock_gettime(id, now);
  if (status == 0 && id == CLOCK_REALTIME && seconds != NULL) now->tv_sec += *seconds;
  return status;
}

int gettimeofday(struct timeval* now, void* zone) {
  (void)zone;
  struct timespec exact;
  const int status = clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return status;
}

time_t time(time_t* out) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (out != NULL) *out = exact.tv_sec;
  return exact.tv_sec;
}
