// The verbs: what each is for, in words, and the functions that do them. Each returns the
// program's exit code and has said on stderr why, where it is not the command's own.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/surroundings.h"

namespace bh::cli {

struct VerbText {
  Verb verb;
  const char* name;
  const char* usage;     // what follows "bulkhead "
  const char* summary;   // one line
  const char* details;   // paragraphs; may be empty
  const char* examples;  // lines, each indented by two
  const char* exit_codes;
};

const std::vector<VerbText>& verb_texts();

// For `bulkhead` alone.
std::string short_help();

int verb_doctor(const Options& options, const Surroundings& around);
int verb_plugins(const Options& options, const Surroundings& around);
int verb_tools(const Options& options, const Surroundings& around);
int verb_call(const Options& options, const Surroundings& around);
int verb_run(const Options& options, const Surroundings& around);
int verb_mcp(const Options& options, const Surroundings& around);
int verb_image(const Options& options, const Surroundings& around);
int verb_version(const Options& options, const Surroundings& around);

// The whole program: parses, does, returns the exit code. Throws nothing.
int program(const std::vector<std::string>& arguments);

}  // namespace bh::cli
