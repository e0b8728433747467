// What waits to be written to a client. Writing never waits for it, whatever kind of file its end
// is, and the file's flags, which other processes may share, stay as they are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bh::mcp {

// Borrows the fd. The thread that writes has SIGPIPE blocked (SigpipeBlocked).
class OutStream {
 public:
  explicit OutStream(int fd);
  ~OutStream();
  OutStream(const OutStream&) = delete;
  OutStream& operator=(const OutStream&) = delete;

  void add(std::string&& line);  // its newline is added here
  // Writes what goes without waiting. False: nobody reads any more, the rest is dropped.
  bool write_some();
  size_t waiting() const { return text_.size() - written_; }
  int fd() const { return fd_; }

 private:
  int fd_;
  bool is_socket_ = false;
  // A pipe, opened anew: this description of it is ours alone, and does not block. -1: none.
  int own_ = -1;
  std::string text_;
  size_t written_ = 0;
};

// While it lives a write to a closed pipe gives EPIPE instead of ending the process; other threads
// and the handlers that the program has are left alone.
class SigpipeBlocked {
 public:
  SigpipeBlocked();
  ~SigpipeBlocked();
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;

 private:
  bool was_blocked_ = true;
};

}  // namespace bh::mcp
