# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# TRUMPET_TRY_FLAG(COMPILER-LANGUAGE, FLAG, VARIABLE): appends FLAG to VARIABLE
# if the compiler of that language takes it.
AC_DEFUN([TRUMPET_TRY_FLAG], [
  AC_LANG_PUSH([$1])
  AC_MSG_CHECKING([whether the $1 compiler takes $2])
  trumpet_saved_flags="$_AC_LANG_PREFIX[]FLAGS"
  _AC_LANG_PREFIX[]FLAGS="$trumpet_saved_flags $2"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
    [$3="$$3 $2"; trumpet_takes_flag=yes], [trumpet_takes_flag=no])
  _AC_LANG_PREFIX[]FLAGS="$trumpet_saved_flags"
  AC_MSG_RESULT([$trumpet_takes_flag])
  AC_LANG_POP([$1])])

# C++17 for all of it, GNU C11 for the one file that sees Open vSwitch headers.
AC_DEFUN([TRUMPET_LANGUAGES], [
  TRUMPET_CXXFLAGS=
  TRUMPET_CFLAGS=
  TRUMPET_TRY_FLAG([C++], [-std=c++17], [TRUMPET_CXXFLAGS])
  AS_IF([test "$trumpet_takes_flag" = no], [AC_MSG_ERROR([a C++17 compiler is needed (CXX=$CXX is not one)])])
  TRUMPET_TRY_FLAG([C], [-std=gnu11], [TRUMPET_CFLAGS])
  AS_IF([test "$trumpet_takes_flag" = no], [AC_MSG_ERROR([a C11 compiler is needed (CC=$CC is not one)])])
  TRUMPET_CXXFLAGS="$TRUMPET_CXXFLAGS -Wall -Wextra"
  TRUMPET_CFLAGS="$TRUMPET_CFLAGS -Wall -Wextra"
  AC_SUBST([TRUMPET_CXXFLAGS])
  AC_SUBST([TRUMPET_CFLAGS])])

# TRUMPET_SWITCH(NAME, HELP): --enable-NAME, off by default; sets enable_NAME.
AC_DEFUN([TRUMPET_SWITCH], [
  AC_ARG_ENABLE([$1], [AS_HELP_STRING([--enable-$1], [$2])], [],
                [AS_TR_SH([enable_$1])=no])])

# Kinds of build.  The sanitizers exclude each other: their run times clash.
AC_DEFUN([TRUMPET_BUILD_KINDS], [
  TRUMPET_SWITCH([werror], [turn compiler warnings into errors])
  TRUMPET_SWITCH([native], [tune for the CPU of this machine; the result may not run on others])
  TRUMPET_SWITCH([asan], [find bad memory accesses and undefined behaviour at run time])
  TRUMPET_SWITCH([tsan], [find data races at run time])
  TRUMPET_SWITCH([coverage], [count executed lines; see `make coverage'])
  TRUMPET_SWITCH([fuzzers], [build the fuzz targets on libFuzzer, with --enable-asan's checks (needs clang)])
  TRUMPET_KIND_FLAGS=
  trumpet_kind=plain
  trumpet_memory_checks="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
  trumpet_kinds=0
  for trumpet_one in "$enable_asan" "$enable_tsan" "$enable_coverage" "$enable_fuzzers"; do
    AS_IF([test "$trumpet_one" = yes], [trumpet_kinds=`expr $trumpet_kinds + 1`])
  done
  AS_IF([test $trumpet_kinds -gt 1],
    [AC_MSG_ERROR([choose one of --enable-asan, --enable-tsan, --enable-coverage and --enable-fuzzers])])
  AS_IF([test "$enable_asan" = yes], [trumpet_kind=asan; TRUMPET_KIND_FLAGS="$trumpet_memory_checks"])
  AS_IF([test "$enable_tsan" = yes], [trumpet_kind=tsan; TRUMPET_KIND_FLAGS="-fsanitize=thread -fno-omit-frame-pointer"])
  AS_IF([test "$enable_coverage" = yes], [trumpet_kind=coverage; TRUMPET_KIND_FLAGS="--coverage -fprofile-update=single"])
  FUZZ_LDFLAGS=
  AS_IF([test "$enable_fuzzers" = yes],
    [trumpet_kind=fuzzers; FUZZ_LDFLAGS=-fsanitize=fuzzer
     TRUMPET_KIND_FLAGS="-fsanitize=fuzzer-no-link $trumpet_memory_checks"])
  AS_IF([test "$enable_native" = yes], [TRUMPET_KIND_FLAGS="$TRUMPET_KIND_FLAGS -march=native"])
  WERROR_SWITCH=
  AS_IF([test "$enable_werror" = yes],
    [WERROR_SWITCH=--enable-werror
     TRUMPET_CXXFLAGS="$TRUMPET_CXXFLAGS -Werror"; TRUMPET_CFLAGS="$TRUMPET_CFLAGS -Werror"])
  AS_IF([test -n "$TRUMPET_KIND_FLAGS"], [
    trumpet_checked=
    TRUMPET_TRY_FLAG([C++], [$TRUMPET_KIND_FLAGS], [trumpet_checked])
    AS_IF([test "$trumpet_takes_flag" = no], [AC_MSG_ERROR([$CXX does not take $TRUMPET_KIND_FLAGS (a $trumpet_kind build)])])])
  TRUMPET_CXXFLAGS="$TRUMPET_CXXFLAGS $TRUMPET_KIND_FLAGS"
  TRUMPET_CFLAGS="$TRUMPET_CFLAGS $TRUMPET_KIND_FLAGS"
  TRUMPET_KIND=$trumpet_kind
  AC_SUBST([TRUMPET_KIND])
  AC_SUBST([TRUMPET_KIND_FLAGS])
  AC_SUBST([WERROR_SWITCH])
  AC_SUBST([FUZZ_LDFLAGS])
  AM_CONDITIONAL([FUZZERS], [test "$enable_fuzzers" = yes])
  AM_CONDITIONAL([COVERAGE], [test "$enable_coverage" = yes])])

# Libraries of Debian 12; the message names the package to install.
AC_DEFUN([TRUMPET_NEED], [
  PKG_CHECK_MODULES([$1], [$2], [], [AC_MSG_ERROR([$2 not found; on Debian: apt-get install $3])])])

# protoc, of the same version as the library: what it writes includes the library's headers.
AC_DEFUN([TRUMPET_PROTOC], [
  AC_ARG_VAR([PROTOC], [compiler of protocol buffer definitions])
  AC_CHECK_PROGS([PROTOC], [protoc])
  AS_IF([test -z "$PROTOC"], [AC_MSG_ERROR([protoc not found; on Debian: apt-get install protobuf-compiler])])
  AC_MSG_CHECKING([whether $PROTOC fits the library])
  trumpet_protobuf=`$PKG_CONFIG --modversion protobuf-lite`
  trumpet_protoc=`$PROTOC --version | $SED 's/.* //'`
  AC_MSG_RESULT([$trumpet_protoc, library $trumpet_protobuf])
  AS_IF([test "$trumpet_protoc" != "$trumpet_protobuf"],
    [AC_MSG_ERROR([$PROTOC is $trumpet_protoc, but the library is $trumpet_protobuf; on Debian: apt-get install protobuf-compiler libprotobuf-dev (or name another one: PROTOC=PATH)])])])

AC_DEFUN([TRUMPET_LIBRARIES], [
  TRUMPET_NEED([YAML_CPP], [yaml-cpp], [libyaml-cpp-dev])
  TRUMPET_NEED([PCAP], [libpcap], [libpcap-dev])
  TRUMPET_NEED([JSON], [nlohmann_json], [nlohmann-json3-dev])
  TRUMPET_NEED([CBC], [cbc], [coinor-libcbc-dev])
  TRUMPET_NEED([CLP], [clp], [coinor-libcbc-dev])
  TRUMPET_NEED([SQLITE], [sqlite3 >= 3.37], [libsqlite3-dev])
  TRUMPET_NEED([XXHASH], [libxxhash], [libxxhash-dev])
  TRUMPET_NEED([LIBEVENT], [libevent >= 2.1.12], [libevent-dev])
  TRUMPET_NEED([LIBEVENT_OPENSSL], [libevent_openssl >= 2.1.12], [libevent-dev])
  TRUMPET_NEED([OPENSSL], [openssl >= 3.0], [libssl-dev])
  TRUMPET_NEED([CURL], [libcurl >= 7.88], [libcurl4-openssl-dev])
  TRUMPET_NEED([PROTOBUF], [protobuf-lite >= 3.21], [libprotobuf-dev])
  TRUMPET_PROTOC
  PKG_CHECK_MODULES([GTEST], [gtest_main], [have_gtest=yes], [have_gtest=no
    AC_MSG_WARN([gtest not found, so `make check' runs the scripts only; on Debian: apt-get install libgtest-dev])])
  AM_CONDITIONAL([HAVE_GTEST], [test "$have_gtest" = yes])
  PKG_CHECK_MODULES([BENCHMARK], [benchmark], [have_benchmark=yes], [have_benchmark=no
    AC_MSG_WARN([benchmark not found, so `make bench' is off; on Debian: apt-get install libbenchmark-dev])])
  AM_CONDITIONAL([HAVE_BENCHMARK], [test "$have_benchmark" = yes])
  PKG_CHECK_MODULES([DPDK], [libdpdk], [have_dpdk=yes], [have_dpdk=no
    AC_MSG_WARN([libdpdk not found, so trumpet-analyzer takes no copies from ports of DPDK, and bench-measure leaves its sketch out; on Debian: apt-get install libdpdk-dev])])
  DPDK_CFLAGS=`AS_ECHO(["$DPDK_CFLAGS"]) | sed 's/-I/-isystem /g'`  # warnings are for code of ours
  AM_CONDITIONAL([HAVE_DPDK], [test "$have_dpdk" = yes])
  AC_CHECK_PROGS([RST2MAN], [rst2man rst2man.py])
  AS_IF([test -z "$RST2MAN"], [AC_MSG_WARN([rst2man not found, so there are no manual pages; on Debian: apt-get install python3-docutils])])
  AM_CONDITIONAL([HAVE_RST2MAN], [test -n "$RST2MAN"])
  THREAD_FLAGS=-pthread
  AC_SUBST([THREAD_FLAGS])])

# --with-ovs-source and --with-ovs-cache: what build-aux/ovs-build starts from
# and where it keeps finished builds.
AC_DEFUN([TRUMPET_OVS], [
  trumpet_ovs_default=/usr/src/openvswitch/openvswitch.tar.gz
  AS_IF([test -r "$trumpet_ovs_default"], [], [trumpet_ovs_default=/usr/src/openvswitch]) # from Debian 13 on
  AC_ARG_WITH([ovs-source],
    [AS_HELP_STRING([--with-ovs-source=PATH],
       [tarball of Debian's openvswitch-source or an unpacked tree to build the patched switch from;
        `no' builds without it (default: what is under /usr/src, if there)])],
    [], [with_ovs_source=default])
  AC_ARG_WITH([ovs-cache],
    [AS_HELP_STRING([--with-ovs-cache=DIR], [where built switches are kept (default: trumpet in the user's cache directory)])],
    [], [with_ovs_cache="${XDG_CACHE_HOME:-$HOME/.cache}/trumpet"])
  AS_CASE([$with_ovs_source],
    [default], [AS_IF([test -r "$trumpet_ovs_default"], [with_ovs_source="$trumpet_ovs_default"], [with_ovs_source=no])],
    [yes], [with_ovs_source="$trumpet_ovs_default"])
  AS_CASE([$with_ovs_source],
    [no], [],
    [/*], [],
    [with_ovs_source=`pwd`/"$with_ovs_source"])
  AS_IF([test "$with_ovs_source" != no && test ! -r "$with_ovs_source"],
    [AC_MSG_ERROR([--with-ovs-source: cannot read $with_ovs_source; on Debian: apt-get install openvswitch-source])])
  AS_CASE([$with_ovs_cache], [/*], [], [with_ovs_cache=`pwd`/"$with_ovs_cache"])
  OVS_SOURCE="$with_ovs_source"
  OVS_CACHE_DIR="$with_ovs_cache"
  AC_SUBST([OVS_SOURCE])
  AC_SUBST([OVS_CACHE_DIR])
  AM_CONDITIONAL([BUILD_PLUGIN], [test "$OVS_SOURCE" != no])])
