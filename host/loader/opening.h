// What a provider is opened with: the operator's configuration of it, checked, and its own folder
// beneath DATA_ROOT. The same for every kind.
#pragma once

#include <bulkhead/plugin.h>

#include <map>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "loader/tables.h"
#include "state/data_root.h"

namespace bh {

// Owns the texts of a bh_opening.
class Opening {
 public:
  // `configured`: by provider id; one without an entry gets {}. `kind`: the folder of DATA_ROOT that
  // holds a folder for each provider ("backends"). Errors: what the schema of the provider says
  // about its configuration, with the provider named; what makes the folder impossible. [any]
  static Result<Opening> make(const Provider& provider,
                              const std::map<std::string, json::object>& configured,
                              const DataRoot& root, const std::string& kind);

  // Borrows from this; good as long as it stays where it is.
  bh_opening view() const;

 private:
  Opening(const Provider& provider, std::string config, std::string folder)
      : instance_(provider.id), config_(std::move(config)), folder_(std::move(folder)) {}

  std::string instance_, config_, folder_;
};

}  // namespace bh
