// A process, named so that no other can ever be taken for it: pids come again, a pid with its start
// time and the machine's start does not.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace bh {

struct ProcessName {
  pid_t pid = 0;             // 0: nobody
  std::uint64_t start = 0;   // in clock ticks since the machine's start
  std::string boot;          // the machine's start

  // The calling process. [any]
  static const ProcessName& self();
  // As text() gave it; anything else is nobody.
  static ProcessName parse(std::string_view text);

  std::string text() const;  // empty for nobody
  bool nobody() const { return pid == 0; }
  bool here() const { return *this == self(); }
  // That very process runs (a zombie does not). Nobody does not. [any]
  bool alive() const;
  // What the system calls it ("bulkhead"); empty where it is gone. [any]
  std::string command() const;

  bool operator==(const ProcessName&) const = default;
};

}  // namespace bh
