// What the worker is told and what it counts: shared by all of its parts.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace bh::unpack {

// Beyond these an image is refused. Each is generous for a system and small for a disk.
struct Limits {
  std::int64_t bytes = std::int64_t{64} << 30;  // of files' data, and of one file's size
  std::int64_t entries = 4'000'000;
  int depth = 256;  // parts of a path
  // A stream that grows by more than that, once it has come to `ratio_from` bytes, is a bomb.
  std::int64_t ratio = 200;
  std::int64_t ratio_from = std::int64_t{256} << 20;
};

// What was done, and what an image may not bring along.
struct Counts {
  std::int64_t entries = 0;
  std::int64_t bytes = 0;
  std::int64_t devices = 0;  // with FIFOs and sockets: left out
  std::int64_t set_ids = 0;  // setuid and setgid bits taken off
  std::int64_t xattrs = 0;   // entries whose extended attributes (capabilities among them) were left out
};

struct Job {
  Limits limits;
  Counts counts;
  bool keep_ids = false;  // owners as the image has them; else those of who unpacks
  std::string reference;  // which image of several; empty: the only one
  std::string os = "linux";
  std::string arch;  // as OCI names it: "amd64"
};

}  // namespace bh::unpack
