// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <string>

namespace trumpet {
namespace {

// A service manager that listens at `name`, and is named by the environment.
class ServiceManagerTest : public testing::Test {
 protected:
  void Listen(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ASSERT_LT(name.size(), sizeof(address.sun_path));
    name.copy(address.sun_path, name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    ASSERT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), length), 0);
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
    if (name[0] == '/') path_ = name;
  }

  std::string Heard() const {
    char text[64];
    const ssize_t size = recv(fd_, text, sizeof text, MSG_DONTWAIT);
    return size < 0 ? "nothing" : std::string(text, static_cast<size_t>(size));
  }

  void TearDown() override {
    if (fd_ >= 0) close(fd_);
    if (!path_.empty()) unlink(path_.c_str());
    unsetenv("NOTIFY_SOCKET");
  }

 private:
  int fd_ = -1;
  std::string path_;
};

TEST_F(ServiceManagerTest, HearsThatWeAreReady) {
  Listen(testing::TempDir() + "notify." + std::to_string(getpid()));
  EXPECT_TRUE(TellServiceManager("READY=1"));
  EXPECT_EQ(Heard(), "READY=1");
}

TEST_F(ServiceManagerTest, MayListenAtANameThatIsNoFile) {
  Listen("@trumpet-notify-test-" + std::to_string(getpid()));
  EXPECT_TRUE(TellServiceManager("STOPPING=1"));
  EXPECT_EQ(Heard(), "STOPPING=1");
}

TEST_F(ServiceManagerTest, IsNotNeeded) {
  unsetenv("NOTIFY_SOCKET");
  EXPECT_FALSE(TellServiceManager("READY=1"));
}

TEST_F(ServiceManagerTest, IsNotLookedForWhereNoneCanBe) {
  for (const std::string name : {"", "relative", "/", "@", "/nobody/listens/here"}) {
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
    EXPECT_FALSE(TellServiceManager("READY=1")) << name;
  }
  setenv("NOTIFY_SOCKET", ("/" + std::string(200, 'x')).c_str(), 1);
  EXPECT_FALSE(TellServiceManager("READY=1"));
}

}  // namespace
}  // namespace trumpet
