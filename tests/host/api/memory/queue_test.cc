// What the library does when an allocation of its own fails: a program of its own, with the library's
// objects inside, since a shared library has an operator new of its own.
#include <cstdlib>
#include <new>

#include "support/catch.h"
#include "support/embedder.h"

using bh_test::Embedder;
using bh_test::Place;

namespace {

// The next allocation of this thread fails.
thread_local bool refuse_one = false;

void* memory_of(std::size_t size) noexcept {
  if (refuse_one) {
    refuse_one = false;
    return nullptr;
  }
  return std::malloc(size > 0 ? size : 1);
}

void* memory_or_throw(std::size_t size) {
  void* out = memory_of(size);
  if (out == nullptr) throw std::bad_alloc();
  return out;
}

}  // namespace

void* operator new(std::size_t size) { return memory_or_throw(size); }
void* operator new[](std::size_t size) { return memory_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return memory_of(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return memory_of(size); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }

TEST_CASE("an event for which there is no memory stays in its queue") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d"));
  bh_request* r = Embedder::request("host.inspect", "{}");
  REQUIRE(bh_do(host.session, r, host.queue, 1, nullptr) == BH_OK);
  bh_request_free(r);
  bh_event* e = nullptr;
  refuse_one = true;
  const bh_status st = bh_queue_next(host.queue, 0, &e, nullptr);
  const bool refused = !refuse_one;
  refuse_one = false;
  REQUIRE(refused);
  CHECK(st == BH_RESOURCE_EXHAUSTED);
  CHECK(e == nullptr);
  CHECK(host.finish(1).last == BH_EVENT_RESULT);
}
