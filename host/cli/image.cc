#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <ctime>

#include "cli/client.h"
#include "cli/image_build.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/stream_loop.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/verbs.h"

namespace bh::cli {
namespace {

namespace json = boost::json;

// Whoever has the program's rights is the operator; with --persona, it acts as that one.
Result<Setup> image_setup(const Options& options, const Surroundings& around) {
  Result<Setup> setup = make_setup(options, around);
  if (setup && !options.persona) setup->session_config = R"({"operator":true})";
  return setup;
}

std::string counted(std::int64_t count, const char* one, const char* several) {
  return std::to_string(count) + " " + (count == 1 ? one : several);
}

std::string left_out_text(const json::object& image) {
  const json::object& left_out = object_at(image, "left_out");
  std::string text;
  auto add = [&](const char* key, const char* one, const char* several) {
    const std::int64_t count = int_at(left_out, key);
    if (count > 0) text += (text.empty() ? "" : ", ") + counted(count, one, several);
  };
  add("devices", "device", "devices");
  add("set_ids", "setuid or setgid bit", "setuid or setgid bits");
  add("xattrs", "file's extended attributes", "files' extended attributes");
  return text;
}

std::string day(std::int64_t ms) {
  const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  char text[32] = "";
  if (::gmtime_r(&seconds, &parts) != nullptr) std::strftime(text, sizeof text, "%F %R", &parts);
  return text;
}

// Enough of a digest to tell it from others.
std::string short_digest(const std::string& digest) { return digest.substr(0, 19); }

std::string called(const json::object& image) {
  const std::string name = string_at(image, "name");
  return name.empty() ? string_at(image, "digest") : name;
}

class ImportHandler : public StreamHandler {
 public:
  int route(std::int32_t) override { return 0; }
  bool signal(int number) override {
    last_ = number;
    return true;
  }
  int last() const { return last_; }

 private:
  int last_ = 0;
};

// Where the bytes come from: the library opens a path for the operator alone.
struct Source {
  std::string path;
  int input = -1;
};

Result<Source> source_of(const Options& options, const Surroundings& around) {
  Source out;
  if (options.target == "-") {
    if (::isatty(STDIN_FILENO) == 1) {
      return problem("there is no image on stdin", "docker save NAME | bulkhead image import -");
    }
    out.input = STDIN_FILENO;
    return out;
  }
  out.path = around.absolute(options.target);
  if (!options.persona) return out;
  struct stat st {};
  out.input = ::open(out.path.c_str(), O_RDONLY | O_CLOEXEC);  // until the program ends
  if (out.input < 0 || ::fstat(out.input, &st) != 0) {
    return problem("cannot open the image " + out.path + ": " + std::strerror(errno));
  }
  if (S_ISDIR(st.st_mode)) {
    return problem("a persona's image comes as a file, and " + out.path + " is a folder",
                   "make a tar of it, or leave --persona out, which shares it with all");
  }
  out.path.clear();
  return out;
}

int import_from(Client& client, const Source& source, const Options& options, Signals& signals,
                Progress& progress, const std::string& name) {
  json::object args;
  if (!source.path.empty()) args["path"] = source.path;
  if (!name.empty()) args["name"] = name;
  if (options.reference) args["reference"] = *options.reference;
  if (options.platform) args["platform"] = *options.platform;
  if (options.replace) args["replace"] = true;
  bulkhead::Request request;
  bulkhead::Run run;
  bulkhead::Fault fault = bulkhead::Request::make("image.import", json::serialize(args), request);
  if (!fault && source.input >= 0) fault = request.input();
  if (!fault) {
    fault = bulkhead::Run::start(client.session(), request, client.queue(), StreamLoop::kTag, run);
  }
  if (fault) return fail(failure_of(fault, client.named()), options.json);
  progress.start("unpacking the image");
  ImportHandler handler;
  StreamLoop loop(client.queue(), run, signals, progress, handler);
  StreamLoop::Ending ending = loop.go(source.input);
  if (ending.cancelled && handler.last() != 0) return kExitSignal + handler.last();
  if (!ending.result) return fail(failure_of(ending.fault, client.named()), options.json);
  if (options.json) return print(*ending.result + "\n") ? kExitOk : kExitOurs;
  const json::object image = parse_object_or_empty(*ending.result);
  std::string text = "imported " + printable(called(image)) + ": " +
                     counted(int_at(image, "entries"), "file", "files") + ", " +
                     bytes_text(int_at(image, "size")) + ", " + short_digest(string_at(image, "digest")) +
                     (bool_at(image, "fresh") ? "" : " (it was there already)") + "\n";
  const std::string left_out = left_out_text(image);
  if (!left_out.empty()) complain("bulkhead: left out: " + left_out + "\n");
  if (!bool_at(image, "ids_kept")) {
    complain("bulkhead: its files all belong to you, since only root can give them their owners\n");
  }
  return print(text) ? kExitOk : kExitOurs;
}

int import_image(Client& client, const Options& options, const Surroundings& around,
                 Signals& signals) {
  Result<Source> source = source_of(options, around);
  if (!source) return fail(failure_of(source.error()), options.json);
  Progress progress(STDERR_FILENO);
  return import_from(client, *source, options, signals, progress, options.name.value_or(""));
}

int build_image(Client& client, const Options& options, const Surroundings& around,
                Signals& signals) {
  Result<void> ready = check_build(around);
  if (!ready) return fail(failure_of(ready.error()), options.json);
  const std::string name = options.name.value_or(options.target);
  if (!options.replace) {
    // Before minutes of work.
    auto there = client.ask("image.inspect", json::serialize(json::object{{"image", name}}), "");
    if (there) {
      return fail(failure_of(Problem{"there is an image " + name + " already",
                                     "--replace puts the new one in its place"}),
                  options.json);
    }
  }
  auto host = client.ask("host.inspect", "{}", "");
  if (!host) return fail(host.error(), options.json);
  Result<BuildFolder> folder =
      BuildFolder::make(string_at(parse_object_or_empty(host->result), "data_root"));
  if (!folder) return fail(failure_of(folder.error()), options.json);
  Progress progress(STDERR_FILENO);
  progress.start("building " + options.target);
  Result<void> built = build_root(options.target, options.suite.value_or(""), folder->root(), around,
                                  signals, progress);
  if (!built) return fail(failure_of(built.error()), options.json);
  return import_from(client, {folder->root(), -1}, options, signals, progress, name);
}

int list_images(Client& client, const Options& options) {
  auto answer = client.ask("image.list", "{}", "listing the images");
  if (!answer) return fail(answer.error(), options.json);
  if (options.json) {
    std::string text = "{\"images\":[";
    for (const std::string& item : answer->items) text += (text.back() == '[' ? "" : ",") + item;
    text += "],\"count\":" + std::to_string(answer->items.size()) + "}\n";
    return print(text) ? kExitOk : kExitOurs;
  }
  if (answer->items.empty()) {
    return print("There are no images; `bulkhead image import FILE` brings one.\n") ? kExitOk
                                                                                   : kExitOurs;
  }
  Table table({"IMAGE", "DIGEST", "KIND", "SIZE", "IMPORTED", "WHOSE"});
  for (const std::string& item : answer->items) {
    const json::object image = parse_object_or_empty(item);
    const std::string persona = string_at(image, "persona");
    table.row({string_at(image, "name").empty() ? "-" : string_at(image, "name"),
               short_digest(string_at(image, "digest")), string_at(image, "kind"),
               bytes_text(int_at(image, "size")), day(int_at(image, "created_ms")),
               bool_at(image, "shared") ? "shared" : persona.empty() ? "own" : persona});
  }
  return print(table.text(Palette::for_fd(STDOUT_FILENO), columns_of(STDOUT_FILENO))) ? kExitOk
                                                                                      : kExitOurs;
}

// Operations on one image that answer with one object.
int about_image(Client& client, const Options& options, const char* operation, const char* doing) {
  auto answer = client.ask(operation, json::serialize(json::object{{"image", options.target}}), doing);
  if (!answer) return fail(answer.error(), options.json);
  if (options.json) return print(answer->result + "\n") ? kExitOk : kExitOurs;
  const json::object result = parse_object_or_empty(answer->result);
  if (options.action == "rm") {
    const bool whole = !string_at(result, "removed").empty();
    return print(whole ? "removed " + printable(options.target) + "\n"
                       : "removed the name " + printable(options.target) +
                             "; the image has others\n")
               ? kExitOk
               : kExitOurs;
  }
  Table table({"", ""});
  for (const auto& member : result) {
    const json::value& v = member.value();
    std::string text = v.is_string() ? std::string(v.get_string()) : json::serialize(v);
    if (member.key() == "size") text = bytes_text(int_at(result, "size"));
    if (member.key() == "created_ms") text = day(int_at(result, "created_ms"));
    if (!v.is_null()) table.row({std::string(member.key()), text});
  }
  const std::string text = table.text(Palette::for_fd(STDOUT_FILENO));
  return print(text.substr(text.find('\n') + 1)) ? kExitOk : kExitOurs;
}

}  // namespace

int verb_image(const Options& options, const Surroundings& around) {
  Result<Setup> setup = image_setup(options, around);
  if (!setup) return fail(failure_of(setup.error()), options.json);
  Signals signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT});
  tl::expected<Client, Failure> client = Client::open(*setup);
  if (!client) return fail(client.error(), options.json);
  if (options.action == "import") return import_image(*client, options, around, signals);
  if (options.action == "build") return build_image(*client, options, around, signals);
  if (options.action == "list") return list_images(*client, options);
  if (options.action == "rm") return about_image(*client, options, "image.remove", "removing the image");
  return about_image(*client, options, "image.inspect", "looking at the image");
}

}  // namespace bh::cli
