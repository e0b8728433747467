// A real system, where one is at hand: BH_TEST_ROOT names a folder that holds one (debootstrap's, say).
#include <stdlib.h>

#include "imports.h"

using namespace bh_test;
namespace json = bh::json;

TEST_CASE("a distribution's root is imported and listed; by tar and by folder it is the same tree") {
  const char* source = ::getenv("BH_TEST_ROOT");
  if (source == nullptr) BH_SKIP("BH_TEST_ROOT names no root file system");
  Store store;
  Answer answer = store.import(source, R"(,"name":"real")");
  REQUIRE(done(answer));
  const json::object told = json::parse_object(answer.result).value();
  CHECK(json::get_int(told, "entries") > 1000);
  CHECK(json::get_int(told, "size") > 50'000'000);
  CHECK(store.count() == 1);
  const std::string root = store.root("real");
  CHECK(std::filesystem::is_symlink(root + "/bin"));
  CHECK(look(root + "/usr/bin/su").mode() == 0755);
  const std::string tar = store.place.path + "/real.tar";
  REQUIRE(std::system(("tar -C '" + root + "' -cf '" + tar + "' .").c_str()) == 0);
  CHECK(done(store.import(tar, R"(,"name":"tar")")));
  CHECK(names_of(store.root("tar")) == names_of(root));
}
