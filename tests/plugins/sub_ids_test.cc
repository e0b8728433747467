// Ranges of ids that the machine's owner gives to users: what is read, and what is made of it.
#include <sys/prctl.h>

#include <bulkhead/sdk/isolation/sub_ids.hpp>
#include <thread>

#include "setting.h"

using namespace bh_test;
using namespace bulkhead::sdk::isolation;

namespace {

std::string shown(const std::vector<IdSpan>& spans) {
  std::string out;
  for (const auto& one : spans) out += std::to_string(one.first) + "+" + std::to_string(one.count) + " ";
  return out;
}
std::string shown(const std::vector<IdMapping>& map) {
  std::string out;
  for (const auto& one : map) {
    out += std::to_string(one.inside) + ":" + std::to_string(one.outside) + "+" + std::to_string(one.count) + " ";
  }
  return out;
}

}  // namespace

TEST_CASE("ids of /etc/subuid: a user's lines, by name or number, and nobody else's") {
  const std::string text =
      "ann:100000:65536\nbob:165536:65536\n1000:300000:10\nannette:400000:10\n\nann:500000:5";
  CHECK(shown(sub_ids_in(text, "ann", 1000, 1000)) == "100000+65536 300000+10 500000+5 ");
  CHECK(shown(sub_ids_in(text, "bob", 1001, 1001)) == "165536+65536 ");
  CHECK(shown(sub_ids_in(text, "eve", 1002, 1002)).empty());
  CHECK(shown(sub_ids_in(text, "", 1002, 1002)).empty());
}

TEST_CASE("ids of /etc/subuid: what cannot be, or must not, is left out") {
  auto left = [](const std::string& line) { return shown(sub_ids_in(line, "ann", 1000, 1000)); };
  CHECK(left("ann:0:65536").empty());        // the kernel's root
  CHECK(left("ann:500:1000").empty());       // her own id in it
  CHECK(left("ann:1001:1000") == "1001+1000 ");
  CHECK(left("ann:4294967295:1").empty());
  CHECK(left("ann:4294967000:1000").empty());
  CHECK(left("ann:100000:0").empty());
  CHECK(left("ann:100000").empty());
  CHECK(left("ann:0x10:5").empty());
  CHECK(left("ann:-5:5").empty());
  CHECK(left("ann:100000:5:6").empty());
  CHECK(left("ann:99999999999:5").empty());
}

TEST_CASE("ids of /etc/subuid: the user's own stands where the sandbox's user is, theirs everywhere else") {
  CHECK(shown(map_around(0, 1000, {{100000, 65536}})) == "0:1000+1 1:100000+65535 ");
  CHECK(shown(map_around(1000, 1000, {{100000, 65536}})) == "1000:1000+1 0:100000+1000 1001:101000+64535 ");
  CHECK(shown(map_around(1000, 7, {{100000, 600}, {200000, 70000}})) ==
        "1000:7+1 0:100000+600 600:200000+400 1001:200400+64535 ");
  CHECK(shown(map_around(70000, 7, {{100000, 70000}})) == "70000:7+1 0:100000+65536 ");
  CHECK(shown(map_around(0, 7, {})) == "0:7+1 ");
}

TEST_CASE("ids of /etc/subuid: where they cannot be had, what to do is said") {
  const SubIds found = find_sub_ids();
  if (found.usable()) {
    CHECK(how_many(found.users) >= kSubIds);
    CHECK(found.newuidmap[0] == '/');
    CHECK(found.newgidmap[0] == '/');
    // A thread that may gain no rights has no use for them.
    SubIds without;
    std::thread([&without] {
      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      without = find_sub_ids();
    }).join();
    CHECK_FALSE(without.usable());
    CHECK(without.why.find("no_new_privs") != std::string::npos);
    return;
  }
  CHECK((found.why.find("usermod") != std::string::npos || found.why.find("uidmap") != std::string::npos));
  // A program that others can write to, or that has no right to map, is not taken for one.
  Folder folder;
  CHECK_FALSE(detail::is_mapper(folder.write("newuidmap", "#!/bin/sh\n")));
  CHECK_FALSE(detail::is_mapper("/bin/true"));
  CHECK_FALSE(detail::is_mapper(folder.path()));
}
