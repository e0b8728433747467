// What a sandbox is to be, resolved: the backend, the profile it gets and what its report must say.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sandbox/backends.h"
#include "sandbox/profile.h"

namespace bh {

struct Shape {
  std::shared_ptr<const OpenedBackend> opened;
  json::object profile;     // the whole one
  std::string for_backend;  // what its schema lists
  std::vector<std::string> taken_out;
  std::vector<std::string> required;
  std::string image;       // its name, as the caller said it
  std::string root_image;  // its digest; empty: the host's own system stands in for it
  json::array passed_over;  // backends that were preferred and cannot do it here: {backend, reason}

  // Of a profile that is resolved already: a new one's, or a record's. INVALID_ARGUMENT where the
  // backend's schema refuses it.
  static Result<Shape> of(std::shared_ptr<const OpenedBackend> opened, json::object profile,
                          std::string image, std::string root_image);

  // The backend's report with a line for every rule.
  json::object complete(json::object report) const;
  // The same; FAILED_PRECONDITION (not_enforced) where a required rule does not hold.
  Result<json::object> judged(json::object report) const;
};

}  // namespace bh
