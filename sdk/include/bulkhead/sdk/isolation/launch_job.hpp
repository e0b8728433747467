// bulkhead/sdk/isolation/launch_job.hpp - what a backend hands to its helper program: a job for the
// launcher (outside the wall) and a task for the init (inside it), in a plain length-prefixed form,
// so that the helper parses nothing that needs a library.
#ifndef BULKHEAD_SDK_ISOLATION_LAUNCH_JOB_HPP
#define BULKHEAD_SDK_ISOLATION_LAUNCH_JOB_HPP

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::sdk::isolation {

// Descriptors travel beside the job, in this order; what a backend adds follows from kFdExtra on.
enum FdRole : uint32_t {
  kFdJob,   // the job's bytes
  kFdTask,  // the task's bytes
  kFdIn,    // the command's stdin, stdout and stderr
  kFdOut,
  kFdErr,
  kFdControl,  // the init's end of the control socket
  kFdPeer,     // a duplicate of the host's end: the launcher forwards signals through it
  kFdHost,     // pidfd of the host: when it dies, everything dies
  kFdInit,     // the helper program itself, sealed, to be run inside the wall
  kFdExtra
};

// In a text of Job::arguments: stands for the number that a descriptor has in the launcher.
// kMark, 'x', index of an extra descriptor, kMark; or 's' and the index of a source; or 'r', role.
constexpr char kMark = '\x01';
inline std::string mark(char kind, uint32_t index) {
  return std::string(1, kMark) + kind + std::to_string(index) + kMark;
}

constexpr uint32_t kNobody = UINT32_MAX;

// Something done beneath a staged source, parents first. Paths have no links on their way.
struct InnerMount {
  enum Kind : uint32_t { kPin, kReadOnly, kWritable, kHide, kSource };
  uint32_t kind = kPin;
  uint32_t source = 0;    // kSource: which source is laid there
  uint32_t make = 0;      // a missing mount point is made: 1 as the source's owner, 2 in a mask
  uint32_t optional = 0;  // 1: nothing there is fine
  std::string path;       // relative to the source
};

// A folder or file of the host that is mounted into the sandbox.
struct Source {
  uint64_t device = 0, inode = 0;  // checked after opening: the path was resolved once
  uint32_t staged = 0;             // 1: mounted by the launcher first, in its own namespace
  uint32_t read_only = 0;
  uint32_t owner = kNobody, group = kNobody;  // shown as Job::uid, gid; kNobody: as they are
  std::string path;
  std::vector<InnerMount> inner;
};

struct Job {
  uint32_t uid = kNobody, gid = kNobody;  // what the wall runs as; kNobody: as we are
  uint32_t private_users = 0;             // 1: staging needs a user namespace (not started by root)
  uint32_t check_only = 0;                // 1: try the staging, answer, run nothing
  uint32_t early_door = kNobody;          // index of an extra descriptor; see open_early()
  std::vector<std::string> program;       // the wall's argv, the command inside included
  std::vector<std::string> arguments;     // more options for it, read from a descriptor (mark 'a')
  std::vector<Source> sources;
};

struct Limit {
  uint32_t resource = 0;
  uint64_t value = 0;
};

struct Task {
  std::vector<std::string> argv, env;
  std::string cwd;
  uint64_t cwd_device = 0, cwd_inode = 0;  // what has to be there; 0: whatever is
  std::vector<Limit> limits;
  uint64_t wall_ns = 0;  // 0: none
  uint32_t rows = 0, columns = 0;  // of a terminal that is made for it; 0: none
  uint32_t keep = 0;     // 1: what it leaves goes on, unless it was stopped
  uint32_t worker = 0;   // 1: no program; the helper itself serves requests about files (argv: its name)
};

namespace detail {

class Writer {
 public:
  void number(uint64_t n) { out_.append(reinterpret_cast<const char*>(&n), sizeof n); }
  void text(std::string_view s) {
    number(s.size());
    out_.append(s);
  }
  void texts(const std::vector<std::string>& list) {
    number(list.size());
    for (const auto& s : list) text(s);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// Past the end everything is zero and empty, and ok() is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : in_(bytes) {}
  bool ok() const { return ok_ && in_.empty(); }
  uint64_t number() {
    uint64_t n = 0;
    if (in_.size() < sizeof n) return fail();
    std::memcpy(&n, in_.data(), sizeof n);
    in_.remove_prefix(sizeof n);
    return n;
  }
  uint32_t small() { return static_cast<uint32_t>(number()); }
  std::string text() {
    const uint64_t size = number();
    if (size > in_.size()) return fail(), std::string();
    std::string s(in_.substr(0, size));
    in_.remove_prefix(size);
    return s;
  }
  // A count of things that take at least eight bytes each.
  uint64_t count() {
    const uint64_t n = number();
    return n <= in_.size() / 8 ? n : fail();
  }
  std::vector<std::string> texts() {
    std::vector<std::string> list(count());
    for (auto& s : list) s = text();
    return list;
  }

 private:
  uint64_t fail() {
    ok_ = false;
    in_ = {};
    return 0;
  }
  std::string_view in_;
  bool ok_ = true;
};

inline void put(Writer& w, const std::vector<Source>& sources) {
  w.number(sources.size());
  for (const Source& s : sources) {
    w.number(s.device);
    w.number(s.inode);
    for (const uint32_t n : {s.staged, s.read_only, s.owner, s.group}) w.number(n);
    w.text(s.path);
    w.number(s.inner.size());
    for (const InnerMount& m : s.inner) {
      for (const uint32_t n : {m.kind, m.source, m.make, m.optional}) w.number(n);
      w.text(m.path);
    }
  }
}

inline std::vector<Source> sources(Reader& r) {
  std::vector<Source> list(r.count());
  for (Source& s : list) {
    s.device = r.number();
    s.inode = r.number();
    for (uint32_t* n : {&s.staged, &s.read_only, &s.owner, &s.group}) *n = r.small();
    s.path = r.text();
    s.inner.resize(r.count());
    for (InnerMount& m : s.inner) {
      for (uint32_t* n : {&m.kind, &m.source, &m.make, &m.optional}) *n = r.small();
      m.path = r.text();
    }
  }
  return list;
}

}  // namespace detail

inline std::string encode(const Job& job) {
  detail::Writer w;
  for (const uint32_t n :
       {job.uid, job.gid, job.private_users, job.check_only, job.early_door}) {
    w.number(n);
  }
  w.texts(job.program);
  w.texts(job.arguments);
  detail::put(w, job.sources);
  return w.take();
}

inline bool decode(std::string_view bytes, Job& job) {
  detail::Reader r(bytes);
  for (uint32_t* n :
       {&job.uid, &job.gid, &job.private_users, &job.check_only, &job.early_door}) {
    *n = r.small();
  }
  job.program = r.texts();
  job.arguments = r.texts();
  job.sources = detail::sources(r);
  return r.ok();
}

inline std::string encode(const Task& task) {
  detail::Writer w;
  w.texts(task.argv);
  w.texts(task.env);
  w.text(task.cwd);
  w.number(task.cwd_device);
  w.number(task.cwd_inode);
  w.number(task.limits.size());
  for (const Limit& l : task.limits) {
    w.number(l.resource);
    w.number(l.value);
  }
  w.number(task.wall_ns);
  for (const uint32_t n : {task.rows, task.columns, task.keep, task.worker}) w.number(n);
  return w.take();
}

inline bool decode(std::string_view bytes, Task& task) {
  detail::Reader r(bytes);
  task.argv = r.texts();
  task.env = r.texts();
  task.cwd = r.text();
  task.cwd_device = r.number();
  task.cwd_inode = r.number();
  task.limits.resize(r.count());
  for (Limit& l : task.limits) {
    l.resource = r.small();
    l.value = r.number();
  }
  task.wall_ns = r.number();
  for (uint32_t* n : {&task.rows, &task.columns, &task.keep, &task.worker}) *n = r.small();
  return r.ok();
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_LAUNCH_JOB_HPP
