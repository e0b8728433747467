// Backends that are wrong in one thing: the table of `process`, which keeps the contract, with one
// function in the place of its own. Each is a provider of one plugin, by the name of its fault.
#pragma once

#include <bulkhead/isolation.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace broken {

const bh_isolation& good();  // the table of `process`

// A call on its way to the good backend, some of whose answers are bent. What is not set passes.
class Bent {
 public:
  explicit Bent(bh_call* inner);
  bh_call* raw() { return &raw_.call; }
  bh_call* inner() const { return inner_; }

  std::function<bh_status(int32_t, std::string_view)> emit;
  std::function<bh_status(std::string_view)> result;
  std::function<bh_status(std::string_view)> item;
  std::function<bh_status(bh_status, std::string_view, std::string_view)> fail;
  bool deaf = false;  // cancel is not heard

  bh_status pass(int32_t stream, std::string_view bytes) const {
    return inner_->api->emit(inner_, stream, bytes.data(), bytes.size());
  }
  bh_status pass_result(std::string_view json) const {
    return inner_->api->result(inner_, json.data(), json.size());
  }

 private:
  struct Raw {
    bh_call call;
    Bent* self;
  };
  static Bent& of(bh_call* call) { return *reinterpret_cast<Raw*>(call)->self; }
  static const bh_call_api& api();
  Raw raw_;
  bh_call* inner_;
};

struct Fault {
  const char* name;
  void (*bend)(bh_isolation&);
  void (*describe)(bh_provider&) = nullptr;
};
// One list per file.
std::vector<Fault> reports();
std::vector<Fault> walls();
std::vector<Fault> output();
std::vector<Fault> commands();
std::vector<Fault> lives();
std::vector<Fault> manners();
std::vector<Fault> tables();

inline bh_status exec_good(void* box, Bent& bent, const bh_exec* what, bh_exit* out) {
  return good().exec(box, bent.raw(), what, out);
}

std::string replaced(std::string text, std::string_view from, std::string_view to);
// The profile without that key; what is no object stays as it is.
std::string without(std::string_view profile, std::string_view key);

}  // namespace broken
