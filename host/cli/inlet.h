// Bytes on their way into a run: read only as fast as the run takes them, at most one piece held.
#pragma once

#include <bulkhead/host.hpp>
#include <cstddef>
#include <string_view>
#include <vector>

namespace bh::cli {

class Inlet {
 public:
  // `fd` stays the caller's; -1: there is nothing to send.
  explicit Inlet(int fd);

  int fd() const { return fd_; }
  // Whether to poll for reading now. A terminal is left alone while another job has it: reading
  // would stop this one.
  bool wants_read() const;
  // Call when readable; at the end of the bytes the run is told.
  bulkhead::Fault read_into(bulkhead::Run& run);
  // Call on BH_EVENT_ROOM.
  bulkhead::Fault go_on(bulkhead::Run& run);
  // Nobody will read the rest.
  void stop();

 private:
  bulkhead::Fault offer(bulkhead::Run& run);

  int fd_;
  bool terminal_;
  bool ended_ = false;  // the source has; what is held may still have to go
  bool told_ = false;
  std::vector<char> buffer_;
  std::string_view rest_;  // of buffer_
};

}  // namespace bh::cli
