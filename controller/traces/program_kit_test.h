// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A folder of files and the programs that read it; for tests.

#ifndef TRUMPET_CONTROLLER_TRACES_PROGRAM_KIT_TEST_H
#define TRUMPET_CONTROLLER_TRACES_PROGRAM_KIT_TEST_H

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "controller/traces/trace_network_test.h"
#include "controller/traces/trace_program.h"

namespace trumpet {

constexpr char kTopology[] = R"(
hosts:
  - {id: h1, prefixes: [10.0.1.0/24], attached_to: leaf1}
  - {id: h2, prefixes: [10.0.2.0/24], attached_to: leaf2}
switches: [{name: leaf1}, {name: spine1}, {name: spine2}, {name: leaf2}]
links:
  - {from: leaf1, to: spine1}
  - {from: leaf1, to: spine2}
  - {from: spine1, to: leaf2}
  - {from: spine2, to: leaf2}
)";

class ProgramTest : public testing::Test {
 protected:
  using Program = int (*)(const std::vector<std::string>&, std::ostream*, std::ostream*);

  explicit ProgramTest(Program program)
      : program_(program), folder_(testing::TempDir() + "trumpet-traces-XXXXXX") {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    store_ = "--store=" + folder_ + "/store";
  }
  ~ProgramTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const test_frames::Bytes& bytes) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path;
  }
  std::string Write(const std::string& name, const std::string& text) {
    return Write(name, test_frames::Bytes(text.begin(), text.end()));
  }

  // Into store_, over the topology above.
  void Analyze(const trace_network::Network& network) {
    std::ostringstream out;
    std::ostringstream err;
    ASSERT_EQ(RunTraceProgram({store_, "--topology=" + Write("net.yaml", std::string(kTopology)),
                               Write("copies.pcap", network.Capture())},
                              &out, &err),
              0)
        << err.str();
  }

  // Each line.
  std::vector<nlohmann::json> Run(const std::vector<std::string>& words) {
    out_.str("");
    err_.str("");
    EXPECT_EQ(program_(words, &out_, &err_), 0) << err_.str();
    std::vector<nlohmann::json> lines;
    std::istringstream text(out_.str());
    for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }
  std::string Error(const std::vector<std::string>& words) {
    out_.str("");
    err_.str("");
    EXPECT_EQ(program_(words, &out_, &err_), 1);
    return err_.str();
  }

  const Program program_;
  std::string folder_;
  std::string store_;  // as an argument
  std::ostringstream out_;
  std::ostringstream err_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_PROGRAM_KIT_TEST_H
