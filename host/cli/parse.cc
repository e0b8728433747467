// The one unit that sees CLI11.
#include "cli/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "cli/text.h"
#include "cli/verbs.h"

namespace bh::cli {
namespace {

constexpr const char* kGlobalHelp =
    "\nFlags of every verb:\n"
    "  --config FILE      instead of $XDG_CONFIG_HOME/bulkhead/config.json  [BULKHEAD_CONFIG]\n"
    "  --data-root DIR    where workspaces, homes and state are kept  [BULKHEAD_DATA_ROOT]\n"
    "  --plugin-path DIR  look for plugins there first; may be given again\n";

// CLI11's own layout has no place for the verb's usage line and its example.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string) const override {
    for (const VerbText& v : verb_texts()) {
      if (app->get_name() == v.name) return std::string("Usage: bulkhead ") + v.usage + "\n";
    }
    return "Usage: bulkhead VERB [FLAGS]\n";
  }
};

struct Raw {
  Options options;
  std::string timeout;
};

std::string footer_of(const VerbText& v) {
  std::string text = kGlobalHelp;
  if (*v.details != '\0') text += std::string("\n") + v.details + "\n";
  text += std::string("\nExample:\n") + v.examples + "\n";
  text += std::string("\nExit codes:\n") + v.exit_codes;
  return text;
}

void add_option(CLI::App* app, const char* name, std::optional<std::string>& into, const char* type,
                const char* text) {
  app->add_option_function<std::string>(
         name, [&into](const std::string& value) { into = value; }, text)
      ->type_name(type);
}

void add_shared(CLI::App* app, Options& o, bool network) {
  add_option(app, "--persona", o.persona, "NAME", "whose sandboxes and files [BULKHEAD_PERSONA]");
  add_option(app, "--workspace", o.workspace, "DIR",
             "the folder that the work is about; default: the current one [BULKHEAD_WORKSPACE]");
  add_option(app, "--backend", o.backend, "ID", "the isolation backend [BULKHEAD_BACKEND]");
  if (network) {
    add_option(app, "--net", o.net, "MODE", "off (the default) or unrestricted [BULKHEAD_NET]");
  }
}

void add_image_flags(CLI::App* app, Options& o) {
  app->add_option("ACTION", o.action, "import, list, rm, inspect or build")->type_name("");
  app->add_option("WHAT", o.target, "a file, a folder or -; an image's name or digest; what to build")
      ->type_name("");
  add_option(app, "--name", o.name, "NAME", "what the image is to be called");
  app->add_flag("--replace", o.replace, "also where another image has that name");
  add_option(app, "--reference", o.reference, "NAME", "import: which of several images in the file");
  add_option(app, "--platform", o.platform, "OS/ARCH", "import: another than this machine's");
  add_option(app, "--suite", o.suite, "NAME", "build: the release; default: this machine's");
  add_option(app, "--persona", o.persona, "NAME", "one persona's own images; default: those of all");
}

void add_flags(CLI::App* app, Verb verb, Raw& raw) {
  Options& o = raw.options;
  if (verb != Verb::kRun && verb != Verb::kMcp) {
    app->add_flag("--json", o.json, "print JSON, the same from version to version");
  }
  if (verb == Verb::kDoctor || verb == Verb::kCall || verb == Verb::kRun || verb == Verb::kMcp) {
    add_shared(app, o, true);
  } else if (verb == Verb::kTools) {
    add_option(app, "--persona", o.persona, "NAME", "whose tools [BULKHEAD_PERSONA]");
  }
  if (verb == Verb::kImage) add_image_flags(app, o);
  if (verb == Verb::kRun || verb == Verb::kCall) {
    app->add_option("--timeout", raw.timeout, "stop it after so many seconds")->type_name("S");
  }
  if (verb == Verb::kRun) {
    add_option(app, "--profile", o.profile, "FILE", "an isolation profile (JSON)");
    add_option(app, "--image", o.image, "NAME", "start from an image of the store");
  }
  if (verb == Verb::kCall) {
    app->add_option("TOOL", o.tool, "the tool's name, as `bulkhead tools` lists it")->required();
    app->add_option("JSON", o.arguments,
                    "its arguments; - reads them from stdin, @FILE from a file")
        ->type_name("");
    add_option(app, "--input", o.input, "FILE", "bytes for the tool to read; - is stdin");
    add_option(app, "--output", o.output, "DIR", "save what the tool attaches there");
  }
}

std::string known_verbs() {
  std::string all;
  for (const VerbText& v : verb_texts()) all += (all.empty() ? "" : ", ") + std::string(v.name);
  return all;
}

Problem unknown_verb(const std::string& word) {
  std::vector<std::string> names;
  for (const VerbText& v : verb_texts()) names.emplace_back(v.name);
  std::string near = nearest(word, names);
  return Problem{
      "there is no verb \"" + word + "\"",
      near.empty() ? "there are " + known_verbs() : "did you mean `bulkhead " + near + "`?"};
}

Problem unknown_argument(const CLI::App* verb, const CLI::App& root, const std::string& word) {
  std::string name = verb == nullptr ? "bulkhead" : "bulkhead " + verb->get_name();
  if (word.size() > 1 && word.front() == '-') {
    std::vector<std::string> flags;
    for (const CLI::App* app : {verb, &root}) {
      if (app == nullptr) continue;
      for (const CLI::Option* option : app->get_options()) {
        for (const std::string& flag : option->get_lnames()) flags.push_back("--" + flag);
      }
    }
    std::string flag = word.substr(0, word.find('='));
    std::string near = nearest(flag, flags);
    return Problem{name + " has no flag " + flag,
                   near.empty() ? "see `" + name + " --help`" : "did you mean " + near + "?"};
  }
  if (verb != nullptr && verb->get_name() == "run") {
    return Problem{"bulkhead run takes the command after --", "bulkhead run -- " + word + " …"};
  }
  return Problem{name + " does not take \"" + word + "\"", "see `" + name + " --help`"};
}

Result<std::int64_t> timeout_of(const std::string& text) {
  double seconds = 0;
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, seconds);
  if (error != std::errc() || at != end || !std::isfinite(seconds) || seconds < 0.001 ||
      seconds > 1e9) {
    return problem("--timeout must be a number of seconds above 0, not \"" + text + "\"",
                   "for example --timeout 30");
  }
  return static_cast<std::int64_t>(std::llround(seconds * 1000));
}

Result<void> check_image(const Options& o) {
  static constexpr std::pair<const char*, const char*> kNeeds[] = {
      {"import", "a file, a folder, or - for stdin"},
      {"list", nullptr},
      {"rm", "the name or digest of an image"},
      {"inspect", "the name or digest of an image"},
      {"build", "what to build: agent-session"}};
  for (const auto& [action, needs] : kNeeds) {
    if (o.action != action) continue;
    if (needs == nullptr && !o.target.empty()) {
      return problem("bulkhead image " + o.action + " does not take \"" + o.target + "\"",
                     "see `bulkhead image --help`");
    }
    if (o.action == std::string_view("build") && o.persona) {
      return problem("an image that is built is shared with all; --persona is for import",
                     "leave --persona out");
    }
    if (needs != nullptr && o.target.empty()) {
      return problem("bulkhead image " + o.action + " needs " + needs, "see `bulkhead image --help`");
    }
    return {};
  }
  const std::string actions = "import, list, rm, inspect and build";
  if (o.action.empty()) return problem("bulkhead image needs an action", "there are " + actions);
  return problem("bulkhead image has no action \"" + o.action + "\"", "there are " + actions);
}

// What CLI11 cannot know.
Result<Options> finish(Raw raw, bool dashes, std::vector<std::string> command) {
  Options& o = raw.options;
  if (!raw.timeout.empty()) {
    Result<std::int64_t> ms = timeout_of(raw.timeout);
    if (!ms) return tl::unexpected<Problem>(std::move(ms.error()));
    o.timeout_ms = *ms;
  }
  if (o.net && *o.net != "off" && *o.net != "unrestricted") {
    return problem("--net must be off or unrestricted, not \"" + *o.net + "\"");
  }
  if (o.verb == Verb::kImage && !dashes) {
    Result<void> whole = check_image(o);
    if (!whole) return tl::unexpected<Problem>(std::move(whole.error()));
  }
  if (o.verb == Verb::kRun) {
    if (command.empty()) {
      return problem("bulkhead run needs a command after --", "for example: bulkhead run -- ls -l");
    }
    o.command = std::move(command);
  } else if (dashes) {
    return problem("only bulkhead run takes a command after --",
                   "bulkhead run -- " + (command.empty() ? std::string("CMD") : command[0]) + " …");
  }
  return std::move(raw.options);
}

}  // namespace

Result<Options> parse_arguments(const std::vector<std::string>& arguments) {
  // What follows -- is the command's own, whatever it looks like: CLI11 does not see it.
  auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  std::vector<std::string> ours(arguments.begin(), dashes);
  std::vector<std::string> command;
  if (dashes != arguments.end()) command.assign(dashes + 1, arguments.end());

  // What people type before they know the flags.
  if (!ours.empty() && ours.front() == "help") {
    ours.erase(ours.begin());
    ours.emplace_back("--help");
  }

  Raw raw;
  CLI::App app("Runs the tool calls of AI agents in isolation.", "bulkhead");
  app.formatter(std::make_shared<HelpFormatter>());
  app.fallthrough();
  app.require_subcommand(0, 1);
  app.footer(
      "\n`bulkhead VERB --help` says more about one verb.\n\nExample:\n"
      "  bulkhead run -- python3 -c 'print(6 * 7)'");
  add_option(&app, "--config", raw.options.config, "FILE", "the config file [BULKHEAD_CONFIG]");
  add_option(&app, "--data-root", raw.options.data_root, "DIR",
             "where workspaces, homes and state are kept [BULKHEAD_DATA_ROOT]");
  app.add_option("--plugin-path", raw.options.plugin_path, "look for plugins there first")
      ->type_name("DIR")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag_callback(
      "--version", [&raw] { raw.options.verb = Verb::kVersion; }, "the same as `bulkhead version`");
  for (const VerbText& v : verb_texts()) {
    CLI::App* verb = app.add_subcommand(v.name, v.summary);
    verb->footer(footer_of(v));
    add_flags(verb, v.verb, raw);
    verb->callback([&raw, &v] { raw.options.verb = v.verb; });
  }

  std::vector<std::string> reversed(ours.rbegin(), ours.rend());
  auto chosen = [&app]() -> const CLI::App* {
    auto all = app.get_subcommands();
    return all.empty() ? nullptr : all.front();
  };
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    Options help;
    const CLI::App* verb = chosen();
    help.help = verb != nullptr ? verb->help() : app.help();
    return help;
  } catch (const CLI::ExtrasError&) {
    const CLI::App* verb = chosen();
    std::vector<std::string> extra = app.remaining(true);
    std::string word = extra.empty() ? std::string() : extra.front();
    if (verb == nullptr && (word.empty() || word.front() != '-')) {
      return tl::unexpected<Problem>(unknown_verb(word));
    }
    return tl::unexpected<Problem>(unknown_argument(verb, app, word));
  } catch (const CLI::RequiredError&) {
    return problem("bulkhead call needs the name of a tool", "`bulkhead tools` lists them");
  } catch (const CLI::ParseError& e) {
    const CLI::App* verb = chosen();
    std::string name = verb == nullptr ? "bulkhead" : "bulkhead " + verb->get_name();
    return problem(e.what(), "see `" + name + " --help`");
  }
  if (raw.options.verb == Verb::kNone && dashes == arguments.end()) {
    raw.options.help = short_help();
    return std::move(raw.options);
  }
  return finish(std::move(raw), dashes != arguments.end(), std::move(command));
}

}  // namespace bh::cli
