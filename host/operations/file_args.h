// What the operations on a sandbox's files have in common: their sandbox, paths as bytes, how a file
// is told, and errors that name the entry they are about.
#pragma once

#include <memory>
#include <string>

#include "base/json.h"
#include "core/operation.h"
#include "sandbox/files.h"

namespace bh {

// Properties of a schema, without braces: which sandbox. The profile in it is checked by files_of(),
// against the schema of sandbox.plan: a dozen copies of that would be felt at every start.
extern const char kPlaceProperties[];
// One value: a path, or bytes.
extern const char kBytesSchema[];
// mode, owner, group.
extern const char kAccessProperties[];

// The files of the sandbox that the arguments name, or of the persona's default one.
Result<SandboxFiles> files_of(Call& call, const json::object& args);

// A text, or {"base64"}. `field` is a JSON pointer for the error.
Result<std::string> bytes_of(const json::value& value, const std::string& field);
// The same as a path inside: not empty, no NUL.
Result<std::string> path_of(const SandboxFiles& files, const json::value& value,
                            const std::string& field);
// Text where it is UTF-8, else {"base64"}.
json::value bytes_value(const std::string& bytes);

SandboxFileAccess access_of(const json::object& args);

// The error as the caller reads it: about which path, in which argument; `done`: how many entries
// before it were finished, or -1.
Error about(Error error, const std::string& field, const std::string& path, std::int64_t done = -1);

std::string_view kind_of(const SandboxFile& file);
// An item of list_files and its like; `path` is the whole one.
json::object file_item(const SandboxFile& file, const std::string& path);
extern const char kFileItem[];  // for readers

// For each entry of args[key]: work(entry, field). Stops at the first failure, which says how many
// were done; else the count.
template <class Work>
Result<std::int64_t> for_each_entry(Call& call, const json::object& args, const char* key,
                                    Work work) {
  std::int64_t done = 0;
  for (const json::value& entry : *json::get_array(args, key)) {
    std::string field = "/";
    field.append(key).append("/").append(std::to_string(done));
    Result<void> one = call.check();
    if (one) one = work(entry, field);
    if (!one) return tl::unexpected(about(std::move(one).error(), {}, {}, done));
    done++;
  }
  return done;
}

}  // namespace bh
