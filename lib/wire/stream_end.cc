// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/stream_end.h"

#include <event2/bufferevent.h>
#include <event2/util.h>

#include "lib/wire/tls_context.h"

namespace trumpet {

StreamEnd WhyStreamEnded(bufferevent* stream, int what, bool is_connecting) {
  const int socket_error = EVUTIL_SOCKET_ERROR();
  const std::string tls_error = TlsErrorOf(stream);
  if (!tls_error.empty()) return {CloseCause::kTls, tls_error};
  const int name_error = is_connecting ? bufferevent_socket_get_dns_error(stream) : 0;
  StreamEnd end{is_connecting ? CloseCause::kConnect : CloseCause::kByPeer, "connection ended"};
  if (name_error != 0) {
    end.text = evutil_gai_strerror(name_error);
  } else if ((what & BEV_EVENT_EOF) == 0 && socket_error != 0) {
    end.text = evutil_socket_error_to_string(socket_error);
  }
  return end;
}

}  // namespace trumpet
