// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Keys and certificates for tests, as ovs-pki makes them: PEM files of a CA and of what it signs.

#ifndef TRUMPET_LIB_WIRE_TEST_CERTIFICATES_TEST_H
#define TRUMPET_LIB_WIRE_TEST_CERTIFICATES_TEST_H

#include <memory>
#include <string>

#include "lib/wire/tls_context.h"

struct evp_pkey_st;
struct x509_st;

namespace trumpet {

// Gone with all that is in it at the end of its life.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void WriteFile(const std::string& path, const std::string& text);
std::string ReadFile(const std::string& path);

class TestAuthority {
 public:
  // Writes NAME-ca.pem into `folder`, which must outlive it.
  TestAuthority(const TempFolder* folder, const std::string& name);
  ~TestAuthority();
  TestAuthority(const TestAuthority&) = delete;
  TestAuthority& operator=(const TestAuthority&) = delete;

  const std::string& certificate_file() const { return certificate_file_; }

  // Writes FILE-privkey.pem and FILE-cert.pem, of `common_name` and valid from now on for
  // `valid_s`, which may be negative.  Who uses the files believes `believed`.
  TlsFiles Issue(const std::string& file, const std::string& common_name,
                 const TestAuthority& believed, long valid_s = 3600);

 private:
  const TempFolder* const folder_;
  std::string certificate_file_;
  evp_pkey_st* key_;
  x509_st* certificate_;
  long next_serial_ = 2;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_TEST_CERTIFICATES_TEST_H
