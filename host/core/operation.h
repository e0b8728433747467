// Operations: what the host offers to embedders and toolsets alike. This room knows their shape and
// no single one; host/operations/ has them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "core/schema.h"
#include "core/sink.h"

namespace bh {

class Call;

// Bytes beside the arguments.
struct Blob {
  std::string name;
  std::string media_type;
  std::string data;
};

struct Arguments {
  json::object values;
  std::vector<BlobView> blobs;  // borrowed for the call
};

enum class Lane {
  kWork,     // a worker of its own
  kControl,  // kill, list and their like: never behind a full house
};

// Everything that host/operations.md says of one.
struct OperationSpec {
  std::string name;     // "sandbox.exec"
  int major = 1;
  std::string summary;  // one sentence
  std::string args_schema;    // JSON Schema; keys that are not listed are refused
  std::string result_schema;  // for readers; empty: null
  std::string input;    // what the input is, or empty: it takes none
  std::string output;   // items, streams and attachments, or empty
  Lane lane = Lane::kWork;
  bool quick = false;       // never waits for others: fit for bh_do on any thread
  bool repeatable = false;  // calling it twice does no more than calling it once
  std::vector<std::string> reasons;  // stable words of its errors
  // Runs on a worker or on the caller's thread. The result goes into the call.
  std::function<Result<void>(Call&, const Arguments&)> run;
};

// A schema that is compiled when it is first needed: a host has dozens of operations, most processes
// use few, and compiling them all would be half of a start. [any]
class LateSchema {
 public:
  // `text` has to outlive this. INTERNAL where it is faulty.
  Result<std::shared_ptr<const Schema>> of(const std::string& text) const;

 private:
  mutable std::once_flag once_;
  mutable std::shared_ptr<const Schema> schema_;
  mutable Error error_;
};

class Catalogue {
 public:
  void add(OperationSpec spec);

  struct Entry {
    OperationSpec spec;
    std::shared_ptr<const LateSchema> late;
    // What the arguments are held to; INTERNAL with the operation's name where it is faulty. [any]
    Result<std::shared_ptr<const Schema>> args() const;
  };
  // "sandbox.exec" or "sandbox.exec/1"; null where there is none. [any]
  const Entry* find(std::string_view name) const;
  // By name. [any]
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

// The error for a name that is not there, with the nearest one that is.
Error unknown_operation(const Catalogue& catalogue, std::string_view name);

// The most that JSON arguments may be long: looked at before anything of them is parsed, since a
// parsed value takes a multiple of its text.
inline constexpr std::size_t kMaxArguments = 64u << 20;

// Parses and checks the arguments of one call. RESOURCE_EXHAUSTED (arguments_too_large) above that.
Result<json::object> checked_arguments(const Catalogue::Entry& entry, std::string_view json);

}  // namespace bh
