// The worker's own limits, smaller than usual ones, and what becomes of a worker that fails.
#include <fcntl.h>
#include <unistd.h>

#include "core/engine.h"
#include "images/unpack.h"
#include "imports.h"

using namespace bh_test;
namespace json = bh::json;

namespace {

struct Direct {
  Place place;
  bh::Catalogue catalogue;
  std::shared_ptr<bh::Engine> engine = std::make_shared<bh::Engine>(catalogue, 2);
  std::string helper;  // empty: ours

  bh::Error unpack(const std::string& bytes, json::object options) {
    const std::string archive = place.path + "/archive";
    std::ofstream(archive, std::ios::binary) << bytes;
    const std::string folder = place.path + "/target" + std::to_string(++count_);
    std::filesystem::create_directories(folder);
    const bh::Fd source(::open(archive.c_str(), O_RDONLY | O_CLOEXEC));
    const bh::Fd target(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    bh::UnpackJob job;
    job.helper = helper;
    job.source = source.get();
    job.target = target.get();
    job.options = std::move(options);
    auto done = engine->run_internal(60'000'000'000, [&](bh::Call& call) -> bh::Result<void> {
      auto told = bh::unpack_image(call, job);
      if (!told) return tl::unexpected(std::move(told).error());
      return {};
    });
    return done ? bh::Error{BH_OK, {}, {}} : done.error();
  }

 private:
  int count_ = 0;
};

bool says(const bh::Error& error, const char* word) {
  UNSCOPED_INFO(error.message << " " << error.details);
  return error.details.find(word) != std::string::npos;
}

}  // namespace

TEST_CASE("entries, bytes and depth are counted; one below the limit passes") {
  Direct direct;
  const std::string tar = tar_of({file("a", "12345"), file("b/c", "12345")});
  CHECK(direct.unpack(tar, {{"entries", 3}, {"bytes", 10}, {"depth", 2}}).code == BH_OK);
  CHECK(says(direct.unpack(tar, {{"entries", 2}}), R"("limit":"entries=2")"));
  CHECK(says(direct.unpack(tar, {{"bytes", 9}}), R"("limit":"bytes=9")"));
  CHECK(says(direct.unpack(tar, {{"bytes", 4}}), R"("limit":"bytes=4")"));
  CHECK(says(direct.unpack(tar, {{"depth", 1}}), R"("limit":"depth=1")"));
}

TEST_CASE("folders without end end with the limit of entries, and not with the memory") {
  Direct direct;
  Tar tar;
  for (int i = 0; i < 20000; i++) tar.add(folder("d" + std::to_string(i) + "/"));
  CHECK(says(direct.unpack(tar.bytes(), {{"entries", 10000}}), R"("limit":"entries=10000")"));
  CHECK(direct.unpack(tar.bytes(), {{"entries", 20000}}).code == BH_OK);
}

TEST_CASE("what grows out of proportion is a bomb, from that size on") {
  Direct direct;
  const std::string grown = compressed(tar_of({file("z", std::string(8 << 20, '\0'))}), "gzip");
  CHECK(says(direct.unpack(grown, {{"ratio_from", 1 << 20}, {"ratio", 100}}), R"("limit":"ratio=100")"));
  CHECK(direct.unpack(grown, {{"ratio_from", 1 << 24}, {"ratio", 100}}).code == BH_OK);
  CHECK(direct.unpack(grown, {{"ratio_from", 1 << 20}, {"ratio", 5000}}).code == BH_OK);
}

TEST_CASE("a worker that is not there, says nothing or dies is an error with its last words") {
  Direct direct;
  const std::string tar = tar_of({file("a", "1")});
  direct.helper = direct.place.path + "/none";
  bh::Error error = direct.unpack(tar, {});
  CHECK(error.code == BH_UNAVAILABLE);
  CHECK(says(error, "image_unpack"));
  auto script = [&](const char* text) {
    direct.helper = direct.place.path + "/script";
    std::ofstream(direct.helper) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(direct.helper, std::filesystem::perms::owner_all);
    return direct.unpack(tar, {});
  };
  error = script("echo some words >&2; exit 3\n");
  CHECK(error.code == BH_INTERNAL);
  CHECK(error.message.find("ended with code 3; it said: \"some words\\n\"") != std::string::npos);
  CHECK(script("kill -11 $$\n").message.find("signal 11") != std::string::npos);
  CHECK(script("echo not json; echo '{}'\n").code == BH_INTERNAL);
  CHECK(script("exec yes x | tr -d '\\n'\n").message.find("too much") != std::string::npos);
  // Its words are taken as words.
  error = script("echo '{\"error\":{\"code\":99,\"message\":7}}'\n");
  CHECK(error.code == BH_INTERNAL);
}
