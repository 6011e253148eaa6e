// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/test_certificates_test.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace trumpet {
namespace {

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "test certificates: %s\n", what);
  std::abort();
}

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  Require(extension != nullptr, "extension");
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509* MakeCertificate(EVP_PKEY* key, const std::string& common_name, long serial, long valid_s,
                      X509* issuer, EVP_PKEY* issuer_key) {
  X509* certificate = X509_new();
  Require(certificate != nullptr, "certificate");
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial);
  constexpr long kLongAgo = -24 * 3600;
  X509_gmtime_adj(X509_getm_notBefore(certificate), kLongAgo);
  X509_gmtime_adj(X509_getm_notAfter(certificate), valid_s);
  X509_set_pubkey(certificate, key);
  X509_NAME* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
  if (issuer == nullptr) issuer = certificate;
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
  const bool is_ca = issuer == certificate;
  AddExtension(certificate, issuer, NID_basic_constraints, is_ca ? "critical,CA:TRUE" : "CA:FALSE");
  if (!is_ca) AddExtension(certificate, issuer, NID_subject_alt_name, "DNS:" + common_name);
  Require(X509_sign(certificate, issuer_key, EVP_sha256()) != 0, "signature");
  return certificate;
}

void WriteCertificate(const std::string& path, X509* certificate) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  Require(file != nullptr && PEM_write_X509(file, certificate) == 1, "certificate file");
  std::fclose(file);
}

void WriteKey(const std::string& path, EVP_PKEY* key) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  Require(file != nullptr, "key file");
  Require(PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr) == 1, "key");
  std::fclose(file);
}

}  // namespace

TempFolder::TempFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "trumpet-wire-XXXXXX").string();
  Require(mkdtemp(pattern.data()) != nullptr, "folder");
  path_ = pattern;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TestAuthority::TestAuthority(const TempFolder* folder, const std::string& name)
    : folder_(folder),
      certificate_file_(folder->File(name + "-ca.pem")),
      key_(EVP_EC_gen("P-256")) {
  Require(key_ != nullptr, "CA key");
  constexpr long kYear = 365L * 24 * 3600;
  certificate_ = MakeCertificate(key_, name + " CA", 1, kYear, nullptr, key_);
  WriteCertificate(certificate_file_, certificate_);
}

TestAuthority::~TestAuthority() {
  X509_free(certificate_);
  EVP_PKEY_free(key_);
}

TlsFiles TestAuthority::Issue(const std::string& file, const std::string& common_name,
                              const TestAuthority& believed, long valid_s) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  Require(key != nullptr, "key");
  X509* certificate =
      MakeCertificate(key, common_name, next_serial_++, valid_s, certificate_, key_);
  TlsFiles files{folder_->File(file + "-privkey.pem"), folder_->File(file + "-cert.pem"),
                 believed.certificate_file()};
  WriteKey(files.private_key, key);
  WriteCertificate(files.certificate, certificate);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return files;
}

}  // namespace trumpet
