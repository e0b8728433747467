// The probe's attempts at what lies outside: networks, other processes, the kernel's doors.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <string>

struct rusage_ms {
  // Processor time of the children that were waited for.
  int64_t children() const {
    rusage u{};
    ::getrusage(RUSAGE_CHILDREN, &u);
    return (int64_t{u.ru_utime.tv_sec} + u.ru_stime.tv_sec) * 1000 +
           (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000;
  }
};

// The exit code, or -1: there is no such verb.
int reach(const std::string& verb, const std::string& a, const std::string& b);
