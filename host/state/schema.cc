#include "state/schema.h"

namespace bh {

// Processes (owner, actor) are written as ProcessName::text(). JSON is kept as text. `owner` has
// `busy` commands or jobs of its running inside; `actor` is who makes, pauses or ends it just now.
const char* const kSchemaSteps[] = {
    R"sql(
CREATE TABLE sandboxes (
  id TEXT PRIMARY KEY,
  persona TEXT NOT NULL,
  backend TEXT NOT NULL,
  default_key TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  message TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  changed_ms INTEGER NOT NULL,
  used_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  image TEXT NOT NULL,
  env TEXT NOT NULL,
  metadata TEXT NOT NULL,
  profile TEXT NOT NULL,
  report TEXT NOT NULL,
  owner TEXT NOT NULL,
  busy INTEGER NOT NULL,
  inherited INTEGER NOT NULL,
  actor TEXT NOT NULL
) STRICT;
CREATE INDEX sandboxes_by_persona ON sandboxes (persona);
CREATE INDEX sandboxes_by_default ON sandboxes (default_key) WHERE default_key <> '';
CREATE INDEX sandboxes_by_expiry ON sandboxes (expires_ms) WHERE expires_ms IS NOT NULL;
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  sandbox TEXT NOT NULL,
  persona TEXT NOT NULL,
  argv TEXT NOT NULL,
  options TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  message TEXT NOT NULL,
  exit TEXT NOT NULL,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER,
  bytes INTEGER NOT NULL,
  kept_from INTEGER NOT NULL,
  owner TEXT NOT NULL
) STRICT;
CREATE INDEX jobs_by_sandbox ON jobs (sandbox);
CREATE INDEX jobs_by_persona ON jobs (persona);
)sql",
    // Images, who calls them what (an empty owner: all), and what a sandbox's root is made of.
    R"sql(
CREATE TABLE images (
  digest TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  source TEXT NOT NULL,
  os TEXT NOT NULL,
  arch TEXT NOT NULL,
  config TEXT NOT NULL,
  left_out TEXT NOT NULL,
  ids_kept INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE image_names (
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (owner, name)
) STRICT;
CREATE INDEX image_names_by_digest ON image_names (digest);
ALTER TABLE sandboxes ADD COLUMN root_image TEXT NOT NULL DEFAULT '';
CREATE INDEX sandboxes_by_root ON sandboxes (root_image) WHERE root_image <> '';
)sql",
};

const std::size_t kSchemaVersion = sizeof kSchemaSteps / sizeof kSchemaSteps[0];

}  // namespace bh
