#include "cli/exec_args.h"

#include <bulkhead/base64.hpp>

#include "cli/json.h"
#include "cli/text.h"

namespace bh::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxProfile = 1 << 20;

// The profile's file with the flags on top: what is typed for this one command wins.
Result<json::object> read_profile(const Options& options, const Setup& setup,
                                  const Surroundings& around) {
  std::string path = around.absolute(*options.profile);
  Result<std::string> text = read_small_file(path, "the profile", kMaxProfile);
  if (!text) return tl::unexpected<Problem>(std::move(text.error()));
  Result<json::object> profile = parse_strict_object(*text, "the profile " + path);
  if (!profile) return profile;
  if (options.net && profile->contains("network")) {
    (*profile)["network"] = json::object{{"mode", setup.network.value}};
  }
  json::value* workspace = profile->if_contains("workspace");
  if (workspace != nullptr && workspace->is_object()) {
    json::object& w = workspace->get_object();
    if (options.workspace) {
      if (setup.workspace_problem) return tl::unexpected<Problem>(*setup.workspace_problem);
      w["source"] = setup.workspace.value;
    } else if (std::string source = string_at(w, "source"); !source.empty()) {
      Result<std::string> real = check_workspace(around.absolute(source), around);
      if (!real) return tl::unexpected<Problem>(std::move(real.error()));
      w["source"] = *real;
    }
  }
  return profile;
}

}  // namespace

Result<json::object> exec_args(const Options& options, const Setup& setup,
                               const Surroundings& around) {
  json::object args;
  bool own_workspace = false;
  if (options.profile) {
    Result<json::object> profile = read_profile(options, setup, around);
    if (!profile) return profile;
    own_workspace = profile->contains("workspace");
    args["profile"] = std::move(*profile);
  }
  if (!own_workspace && setup.workspace_problem) {
    return tl::unexpected<Problem>(*setup.workspace_problem);
  }
  if (options.image) {
    json::object* root = make_at(args, {"profile", "root"});
    // The library says so where the profile names another root.
    if (root != nullptr) (*root)["image"] = *options.image;
  }
  // Only a flag names a backend for this call; the environment and the file choose a default.
  if (options.backend) args["backend"] = *options.backend;
  if (options.timeout_ms) {
    // The profile's limit (ten minutes by default) holds beside the command's, so both are said.
    args["timeout_ms"] = *options.timeout_ms;
    json::object* limits = make_at(args, {"profile", "limits"});
    if (limits != nullptr) (*limits)["wall_ms"] = *options.timeout_ms;
  }

  // The workspace is seen at its own path, so a folder of it can be the current one inside too.
  const std::string& workspace = setup.workspace.value;
  bool beneath = !workspace.empty() && around.cwd.size() > workspace.size() &&
                 around.cwd.compare(0, workspace.size(), workspace) == 0 &&
                 around.cwd[workspace.size()] == '/';
  if (!own_workspace && beneath && is_utf8(around.cwd)) args["cwd"] = around.cwd;

  json::array argv;
  for (const std::string& word : options.command) {
    if (word.empty() && argv.empty()) {
      return problem("the command's name is empty", "name a program: bulkhead run -- CMD [ARG]...");
    }
    if (is_utf8(word)) {
      argv.emplace_back(word);
    } else {
      argv.push_back(json::object{{"base64", bulkhead::base64::encode(word)}});
    }
  }
  if (!argv.empty()) args["argv"] = std::move(argv);
  return args;
}

Named named_of_exec(const Options& options, const Setup& setup, const Surroundings& around) {
  Named named;
  named.config_file = setup.named.config_file;
  auto say = [&](const char* place, const char* what) {
    named.origins.push_back({place, what, place});
  };
  if (options.backend) say("/backend", "--backend");
  if (options.timeout_ms) {
    say("/timeout_ms", "--timeout");
    say("/profile/limits/wall_ms", "--timeout");
  }
  if (!options.profile) return named;
  if (options.net) say("/profile/network", "--net");
  named.origins.push_back(
      {"/profile", "the profile " + around.absolute(*options.profile), "/profile"});
  return named;
}

}  // namespace bh::cli
