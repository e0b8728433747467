// bulkhead/sdk/isolation/files_protocol.hpp - what a host and its file worker inside a sandbox say to
// each other over two pipes: frames of a length, a kind and a body. Bytes of files travel in frames
// of their own, so that neither side ever holds more than one of them.
//
//   host    kRequest, then for a write: kData ... kEnd
//   worker  kInfo ..., or kData ..., or kReady (a write: send the bytes); then kDone or kFailed
//
// No SDK types here: helper programs include it too.
#ifndef BULKHEAD_SDK_ISOLATION_FILES_PROTOCOL_HPP
#define BULKHEAD_SDK_ISOLATION_FILES_PROTOCOL_HPP

#include "launch_job.hpp"

namespace bulkhead::sdk::isolation::files {

enum FrameKind : uint32_t { kRequest = 1, kData, kEnd, kInfo, kReady, kDone, kFailed };

struct FrameHead {
  uint32_t size = 0;  // of the body
  uint32_t kind = 0;
};
constexpr size_t kChunk = 65536;        // of a file's bytes
constexpr size_t kMostBody = 1u << 18;  // of any frame

enum Act : uint32_t { kStat = 1, kList, kRead, kWrite, kMakeFolder, kSetAccess, kRename, kRemove };

// The flags of isolation_files.h, which helper programs do not include.
enum Flag : uint32_t {
  kNoFollow = 1, kRecursive = 2, kParents = 4, kInput = 8, kAppend = 16, kNew = 32
};
constexpr uint32_t kKeepMode = UINT32_MAX;

// What went wrong where no errno says it.
enum Trouble : uint32_t { kNotAFile = 10001, kNoOwner, kBadRequest, kRootItself };

struct Request {
  uint32_t act = 0, flags = 0;
  uint32_t depth = 0;
  uint32_t mode = kKeepMode;
  uint64_t offset = 0;
  uint64_t size = UINT64_MAX;  // UINT64_MAX: to the end
  std::string path, to, owner, group;
};

struct Info {
  uint32_t kind = 0, mode = 0;  // kind: BH_FILE_*
  uint64_t size = 0;
  int64_t modified_ns = 0, created_ns = -1;
  std::string name, target, owner, group;
};

inline std::string encode(const Request& r) {
  isolation::detail::Writer w;
  for (const uint32_t n : {r.act, r.flags, r.depth, r.mode}) w.number(n);
  w.number(r.offset);
  w.number(r.size);
  for (const std::string* s : {&r.path, &r.to, &r.owner, &r.group}) w.text(*s);
  return w.take();
}
inline bool decode(std::string_view bytes, Request& r) {
  isolation::detail::Reader in(bytes);
  for (uint32_t* n : {&r.act, &r.flags, &r.depth, &r.mode}) *n = in.small();
  r.offset = in.number();
  r.size = in.number();
  for (std::string* s : {&r.path, &r.to, &r.owner, &r.group}) *s = in.text();
  return in.ok();
}

inline std::string encode(const Info& i) {
  isolation::detail::Writer w;
  w.number(i.kind);
  w.number(i.mode);
  w.number(i.size);
  w.number(static_cast<uint64_t>(i.modified_ns));
  w.number(static_cast<uint64_t>(i.created_ns));
  for (const std::string* s : {&i.name, &i.target, &i.owner, &i.group}) w.text(*s);
  return w.take();
}
inline bool decode(std::string_view bytes, Info& i) {
  isolation::detail::Reader in(bytes);
  i.kind = in.small();
  i.mode = in.small();
  i.size = in.number();
  i.modified_ns = static_cast<int64_t>(in.number());
  i.created_ns = static_cast<int64_t>(in.number());
  for (std::string* s : {&i.name, &i.target, &i.owner, &i.group}) *s = in.text();
  return in.ok();
}

// kFailed and kDone.
struct Outcome {
  uint32_t error = 0;  // an errno or a Trouble
  uint64_t size = 0;   // of a write: the file's size now
};
inline std::string encode(const Outcome& o) {
  isolation::detail::Writer w;
  w.number(o.error);
  w.number(o.size);
  return w.take();
}
inline bool decode(std::string_view bytes, Outcome& o) {
  isolation::detail::Reader in(bytes);
  o.error = in.small();
  o.size = in.number();
  return in.ok();
}

inline std::string frame(FrameKind kind, std::string_view body) {
  const FrameHead head{static_cast<uint32_t>(body.size()), kind};
  std::string out(reinterpret_cast<const char*>(&head), sizeof head);
  return out.append(body);
}

}  // namespace bulkhead::sdk::isolation::files

#endif  // BULKHEAD_SDK_ISOLATION_FILES_PROTOCOL_HPP
