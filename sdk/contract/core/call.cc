#include "call.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "bulkhead/sdk/json.hpp"
#include "bulkhead/sdk/text.hpp"

namespace bulkhead::sdk::contract {

Call::Call(const bh_host* host)
    : raw_{{&api(), host}, this},
      stop_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      input_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
Call::~Call() {
  ::close(stop_fd_);
  ::close(input_fd_);
}

Said Call::said() const {
  const std::lock_guard lock(m_);
  return said_;
}
uint64_t Call::bytes(int32_t stream) const {
  const std::lock_guard lock(m_);
  const auto it = said_.bytes.find(stream);
  return it != said_.bytes.end() ? it->second : 0;
}
std::string Call::kept(int32_t stream) const {
  const std::lock_guard lock(m_);
  const auto it = said_.kept.find(stream);
  return it != said_.kept.end() ? it->second : std::string();
}

void Call::complain(std::string what) {
  if (misuse_.size() < 20) misuse_.push_back(std::move(what));
}
std::vector<std::string> Call::take_misuse() {
  const std::lock_guard lock(m_);
  return std::exchange(misuse_, {});
}
void Call::live(const char* function) {
  if (over_) complain(std::string(function) + "() after the call's function has returned");
}
template <class Edit>
bh_status Call::take(const char* function, Edit edit) {
  const std::lock_guard lock(m_);
  live(function);
  if (stop_ != BH_OK) return stop_;
  edit();
  return BH_OK;
}

// Under the lock: the descriptor says whether receive() would wait.
void Call::set_readable() {
  uint64_t n = 0;
  (void)!::read(input_fd_, &n, sizeof n);
  n = 1;
  if (!input_.empty() || pattern_at_ < pattern_total_ || input_over_ || stop_ != BH_OK) {
    (void)!::write(input_fd_, &n, sizeof n);
  }
  changed_.notify_all();
}
void Call::feed(std::string bytes) {
  const std::lock_guard lock(m_);
  input_ += bytes;
  set_readable();
}
void Call::end_of_input() {
  const std::lock_guard lock(m_);
  input_over_ = true;
  set_readable();
}
void Call::feed_pattern(uint64_t total) {
  const std::lock_guard lock(m_);
  pattern_total_ = total;
  input_over_ = true;
  set_readable();
}
void Call::stop(bh_status code) {
  const std::lock_guard lock(m_);
  if (stop_ == BH_OK) stop_ = code;
  const uint64_t one = 1;
  (void)!::write(stop_fd_, &one, sizeof one);
  set_readable();
}

void Call::over(bh_status returned) {
  const std::lock_guard lock(m_);
  over_ = true;
  if (returned == BH_OK) return;
  if (returned < 0 || returned > BH_UNAUTHENTICATED) {
    complain("returned a code that is not listed: " + std::to_string(returned));
  }
  const bool hosts = returned == stop_;  // handed on as it came
  if (!said_.failed && !hosts) {
    complain("returned " + std::string(code_name(returned)) + " without a record of fail()");
  }
  if (said_.failed && !hosts) {
    if (said_.code != returned) {
      complain("recorded " + std::string(code_name(said_.code)) + " and returned " +
               std::string(code_name(returned)));
    }
    if (said_.message.empty()) complain("an error without a sentence for people");
    auto details = json::parse_object(said_.details);
    if (!details.ok() || json::text(*details, "reason").empty()) {
      complain("the error \"" + said_.message + "\" has no reason word in its details");
    }
  }
}

const bh_call_api& Call::api() {
  static const bh_call_api table = [] {
    bh_call_api t{};
    t.struct_size = sizeof t;
    t.abi_minor = BH_ABI_MINOR;
    t.fail = [](bh_call* c, bh_status code, const char* msg, size_t size, const char* details,
                size_t details_size) {
      Call& me = of(c);
      const std::lock_guard lock(me.m_);
      me.live("fail");
      me.said_.failed = true;
      me.said_.code = code;
      me.said_.message = view(msg, size);
      me.said_.details = view(details, details_size);
      if (!is_utf8(me.said_.message) || !is_utf8(me.said_.details)) {
        me.complain("an error that is not UTF-8");
      }
      return code;
    };
    t.result = [](bh_call* c, const char* text, size_t size) {
      Call& me = of(c);
      const std::lock_guard lock(me.m_);
      me.live("result");
      me.said_.result = view(text, size);
      if (++me.said_.results > 1) me.complain("result() more than once");
      if (!json::parse(me.said_.result)) me.complain("result() with what is not JSON");
      return bh_status{BH_OK};
    };
    t.item = [](bh_call* c, const char* text, size_t size) {
      Call& me = of(c);
      return me.take("item", [&] {
        me.said_.items.emplace_back(view(text, size));
        if (!json::parse(me.said_.items.back())) me.complain("item() with what is not JSON");
      });
    };
    t.emit = [](bh_call* c, int32_t stream, const void* data, size_t size) {
      Call& me = of(c);
      const std::string_view bytes = view(static_cast<const char*>(data), size);
      const bh_status st = me.take("emit", [&] {
        me.said_.bytes[stream] += size;
        if (me.sink) return;
        std::string& kept = me.said_.kept[stream];
        kept.append(bytes.substr(0, std::min(bytes.size(), kKept - kept.size())));
      });
      if (st != BH_OK || !me.sink) return st;
      const bh_status said = me.sink(stream, bytes);
      if (said != BH_OK) me.stop(said);
      return said;
    };
    t.attach = [](bh_call* c, const bh_blob*) { return of(c).take("attach", [] {}); };
    t.event = [](bh_call* c, const char*, size_t) { (void)of(c).take("event", [] {}); };
    t.receive = [](bh_call* c, void* buffer, size_t size, size_t* got) {
      Call& me = of(c);
      std::unique_lock lock(me.m_);
      me.live("receive");
      auto there = [&] {
        return me.stop_ != BH_OK || !me.input_.empty() || me.pattern_at_ < me.pattern_total_ ||
               me.input_over_ || me.said_.input_ended;
      };
      me.changed_.wait(lock, there);
      if (me.stop_ != BH_OK) return me.stop_;
      *got = 0;
      auto* to = static_cast<char*>(buffer);
      if (me.said_.input_ended) return bh_status{BH_OK};
      if (!me.input_.empty()) {
        *got = std::min(size, me.input_.size());
        std::memcpy(to, me.input_.data(), *got);
        me.input_.erase(0, *got);
      } else {
        const size_t most = std::min<size_t>(size, 65536);
        while (*got < most && me.pattern_at_ < me.pattern_total_) {
          to[(*got)++] = pattern(me.pattern_at_++);
        }
      }
      me.said_.received += *got;
      me.set_readable();
      return bh_status{BH_OK};
    };
    t.receive_fd = [](bh_call* c) { return bh_fd{of(c).input_fd_}; };
    t.end_input = [](bh_call* c) {
      Call& me = of(c);
      const std::lock_guard lock(me.m_);
      me.live("end_input");
      me.said_.input_ended = true;
      me.changed_.notify_all();
    };
    t.wait = [](bh_call* c, int64_t ns) {
      Call& me = of(c);
      std::unique_lock lock(me.m_);
      me.live("wait");
      if (ns > 0) {
        me.changed_.wait_for(lock, std::chrono::nanoseconds(std::min<int64_t>(ns, 3600000000000)),
                             [&] { return me.stop_ != BH_OK; });
      }
      return me.stop_;
    };
    t.cancel_fd = [](bh_call* c) { return bh_fd{of(c).stop_fd_}; };
    t.time_left_ns = [](bh_call*) { return int64_t{INT64_MAX}; };
    t.get_service = [](bh_call*, const char*) -> const void* { return nullptr; };
    return t;
  }();
  return table;
}

}  // namespace bulkhead::sdk::contract
