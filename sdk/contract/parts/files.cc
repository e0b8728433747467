// bh.isolation.files/1: files inside, as a process inside sees them.
#include <bulkhead/isolation_files.h>
#include <unistd.h>

#include "../core/box.h"
#include "../core/extension.h"
#include "../core/rules.h"
#include "../core/suite.h"

namespace bulkhead::sdk::contract {

namespace {

struct Found {
  int32_t kind = -1;
  std::string name, target;
  int64_t size = -1;
  uint32_t mode = 0;
};

// The table on one sandbox. Results of a call that hangs stay alive with it.
class Files {
 public:
  Files(Try& t, Box& box)
      : t_(t), box_(box), table_(extension<bh_isolation_files>(t, BH_ISOLATION_FILES)) {}

  Answer stat(const std::string& path, Found& out, uint32_t flags = 0) {
    auto all = std::make_shared<std::vector<Found>>();
    Answer answer = run(given(table_.stat, "stat"), [=](auto f, void* box, bh_call* c) {
      return f(box, c, path.data(), path.size(), flags, &keep, all.get());
    });
    if (answer.ok() && !all->empty()) out = all->front();
    return answer;
  }
  Answer list(const std::string& path, std::vector<Found>& out, uint32_t depth = 1) {
    auto all = std::make_shared<std::vector<Found>>();
    Answer answer = run(given(table_.list, "list"), [=](auto f, void* box, bh_call* c) {
      return f(box, c, path.data(), path.size(), depth, &keep, all.get());
    });
    if (answer.ok()) out = *all;
    return answer;
  }
  Answer read(const std::string& path, int64_t offset = 0, int64_t size = -1) {
    return run(given(table_.read, "read"), [=](auto f, void* box, bh_call* c) {
      return f(box, c, path.data(), path.size(), offset, size);
    });
  }
  Answer write(const std::string& path, const std::string& data, uint32_t flags = 0,
               uint32_t mode = BH_MODE_KEEP) {
    return run(given(table_.write, "write"), [=](auto f, void* box, bh_call* c) {
      bh_file_access access{};
      access.struct_size = sizeof access;
      access.mode = mode;
      return f(box, c, path.data(), path.size(), flags, &access, data.data(), data.size());
    });
  }
  Answer write_stream(const std::string& path, uint64_t size) {
    auto flight = t_.backend.fly();
    flight->call.feed_pattern(size);
    Backend::start(flight, [=, f = given(table_.write, "write"), box = box_.handle()](bh_call* c) {
      bh_file_access access{};
      access.struct_size = sizeof access;
      access.mode = BH_MODE_KEEP;
      return f(box, c, path.data(), path.size(), BH_FILE_INPUT, &access, nullptr, 0);
    });
    return t_.backend.land(flight);
  }
  Answer make_folder(const std::string& path, uint32_t flags = 0) {
    return run(given(table_.make_folder, "make_folder"), [=](auto f, void* box, bh_call* c) {
      bh_file_access access{};
      access.struct_size = sizeof access;
      access.mode = BH_MODE_KEEP;
      return f(box, c, path.data(), path.size(), flags, &access);
    });
  }
  Answer rename(const std::string& from, const std::string& to, uint32_t flags = 0) {
    return run(given(table_.rename, "rename"), [=](auto f, void* box, bh_call* c) {
      return f(box, c, from.data(), from.size(), to.data(), to.size(), flags);
    });
  }
  Answer remove(const std::string& path, uint32_t flags = 0) {
    return run(given(table_.remove, "remove"), [=](auto f, void* box, bh_call* c) {
      return f(box, c, path.data(), path.size(), flags);
    });
  }

 private:
  template <class F, class Body>
  Answer run(F f, Body body) {
    return offered(
        t_.backend.call([=, box = box_.handle()](bh_call* c) { return body(f, box, c); }), "files");
  }
  static bh_status keep(void* ctx, const bh_file_info* info) {
    static_cast<std::vector<Found>*>(ctx)->push_back({info->kind, std::string(view(info->name)),
                                                      std::string(view(info->target)), info->size,
                                                      info->mode});
    return BH_OK;
  }

  Try& t_;
  Box& box_;
  const bh_isolation_files table_;
};

std::string work(Box& box) {
  if (box.workspace().empty()) Try::skip("no workspace in its profile");
  return box.workspace();
}

void round_trip(Try& t) {
  Box box(t);
  Files files(t, box);
  const std::string path = work(box) + "/odd \xff name\n";
  std::string data;
  for (int i = 0; i < 1000; ++i) data += static_cast<char>(i * 7);
  const Answer written = files.write(path, data);
  t.require(written.ok(), "write: " + written.text());
  const Answer got = files.read(path);
  t.expect(got.ok() && got.said.kept.count(BH_STREAM_DATA) == 1 &&
               got.said.kept.at(BH_STREAM_DATA) == data,
           "what was written is not what is read: " + got.text());
  const Answer part = files.read(path, 10, 5);
  t.expect(part.ok() && part.said.kept.count(BH_STREAM_DATA) == 1 &&
               part.said.kept.at(BH_STREAM_DATA) == data.substr(10, 5),
           "bytes 10 to 15: " + part.text());
  t.equal("its size for a command", box.sh("cat odd* | wc -c | tr -d ' '").out, "1000\n");
  Found found;
  t.require(files.stat(path, found).ok(), "stat");
  t.equal("its kind", found.kind, BH_FILE_REGULAR);
  t.equal("its size", found.size, int64_t{1000});
  t.equal("its mode", found.mode & 0777u, 0644u);
}

void same_view(Try& t) {
  Box box(t);
  Files files(t, box);
  const std::string at = work(box);
  t.require(box.sh("echo inside > made-inside; mkdir folder; ln -s made-inside link").exited(0),
            "sh");
  const Answer got = files.read(at + "/link");
  t.expect(got.ok() && got.said.kept.count(BH_STREAM_DATA) == 1 &&
               got.said.kept.at(BH_STREAM_DATA) == "inside\n",
           "a file that a command made: " + got.text());
  std::vector<Found> all;
  t.require(files.list(at, all).ok(), "list");
  std::string seen;
  for (const Found& one : all) seen += one.name + ":" + std::to_string(one.kind) + " ";
  for (const char* one : {"made-inside:1", "folder:2", "link:3"}) {
    t.expect(seen.find(one) != std::string::npos, std::string("list has no ") + one + ": " + seen);
  }
  Found link;
  t.require(files.stat(at + "/link", link, BH_FILE_NO_FOLLOW).ok(), "stat of a link");
  t.equal("a link's target", link.target, "made-inside");
  t.require(files.write(at + "/by-host", "host\n").ok(), "write");
  t.equal("the file for a command", box.sh("cat by-host").out, "host\n");
}

void manage(Try& t) {
  Box box(t);
  Files files(t, box);
  const std::string at = work(box);
  t.expect(files.make_folder(at + "/a/b/c", BH_FILE_PARENTS).ok(), "make_folder with parents");
  t.expect(files.make_folder(at + "/x/y").status == BH_NOT_FOUND, "make_folder without its parent");
  t.expect(files.write(at + "/a/file", "1").ok(), "write");
  t.expect(files.write(at + "/a/file", "2", BH_FILE_NEW).status == BH_ALREADY_EXISTS,
           "BH_FILE_NEW");
  t.expect(
      files.write(at + "/a/file", "3", BH_FILE_APPEND).ok() && box.sh("cat a/file").out == "13",
      "BH_FILE_APPEND");
  t.expect(
      files.rename(at + "/a/file", at + "/a/b/moved").ok() && box.sh("cat a/b/moved").out == "13",
      "rename");
  t.expect(!files.remove(at + "/a").ok() && is_there(at + "/a"),
           "a full folder goes without BH_FILE_RECURSIVE");
  t.expect(files.remove(at + "/a", BH_FILE_RECURSIVE).ok() && !is_there(at + "/a"), "remove");
  Found none;
  t.expect(files.stat(at + "/a", none).status == BH_NOT_FOUND, "stat of what is gone");
  t.expect(files.read(at + "/none").status == BH_NOT_FOUND, "read of what is not there");
}

void large(Try& t) {
  Box box(t);
  Files files(t, box);
  const std::string path = work(box) + "/large";
  constexpr uint64_t kSize = uint64_t{20} << 20;
  const Answer written = files.write_stream(path, kSize);
  t.require(written.ok(), "a stream of 20 MiB: " + written.text());
  t.equal("its size", box.sh("wc -c < large | tr -d ' '").out, std::to_string(kSize) + "\n");
  const Answer got = files.read(path);
  const auto bytes = got.said.bytes.find(BH_STREAM_DATA);
  t.expect(got.ok() && bytes != got.said.bytes.end() && bytes->second == kSize,
           "reading it: " + got.text());
  bool same = got.ok();
  const auto kept = got.said.kept.find(BH_STREAM_DATA);
  for (size_t i = 0; same && i < kept->second.size(); ++i)
    same = kept->second[i] == Call::pattern(i);
  t.expect(same, "its bytes were changed");
}

// What a rule keeps from commands, it keeps from here.
void walls(Try& t) {
  if (json::text(t.backend.plugin().capabilities, "strength") == "none") {
    Try::skip("it isolates nothing");
  }
  Folder folder(t.backend.scratch());
  Box box(t);
  Files files(t, box);
  const std::string at = work(box), outside = folder.make("outside");
  (void)folder.write("outside/file", "outside\n");
  if (!box.report().enforced("workspace")) Try::skip("the workspace is no wall here");
  (void)box.sh("ln -s '" + outside + "' out; ln -s ../../../../../../../../../etc/hostname up");
  const Answer through = files.write(at + "/out/by-link", "x");
  t.expect(!is_there(outside + "/by-link"), "written outside through a link: " + through.text());
  const Answer direct = files.write(outside + "/direct", "x");
  t.expect(!is_there(outside + "/direct"), "written outside by its path: " + direct.text());
  t.expect(files.write(at + "/own", "x").ok(), "the same in the workspace");
}

void bad_paths(Try& t) {
  Box box(t);
  Files files(t, box);
  for (const std::string& path :
       {std::string("relative"), std::string(), std::string("/a\0b", 4)}) {
    Found found;
    const Answer answer = files.stat(path, found);
    t.expect(answer.returned && answer.status == BH_INVALID_ARGUMENT,
             "the path " + json_quote(to_utf8(path)) + " answers " + answer.text());
  }
}

}  // namespace

void add_files(Suite& s) {
  s.add("files.round_trip", "what is written is what is read, whatever it is called", round_trip);
  s.add("files.same_view", "files are those that commands see", same_view);
  s.add("files.manage", "folders, moves, removals and flags do what they say", manage);
  s.add("files.large", "20 MiB pass both ways", large);
  s.add("files.walls", "no path and no link leads out", walls);
  s.add("files.bad_paths", "paths that are none are refused", bad_paths);
}

}  // namespace bulkhead::sdk::contract
