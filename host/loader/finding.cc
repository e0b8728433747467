#include "loader/finding.h"

namespace bh {

const char* name_of(PluginStatus status) {
  switch (status) {
    case PluginStatus::available:
      return "available";
    case PluginStatus::loaded:
      return "loaded";
    case PluginStatus::shadowed:
      return "shadowed";
    case PluginStatus::disabled:
      return "disabled";
    case PluginStatus::refused:
      return "refused";
    case PluginStatus::failed:
      return "failed";
  }
  return "failed";
}

const char* name_of(LoadStage stage) {
  switch (stage) {
    case LoadStage::none:
      return "";
    case LoadStage::manifest:
      return "manifest";
    case LoadStage::permission:
      return "permission";
    case LoadStage::hash:
      return "hash";
    case LoadStage::elf:
      return "elf";
    case LoadStage::abi:
      return "abi";
    case LoadStage::load:
      return "load";
    case LoadStage::entry:
      return "entry";
    case LoadStage::interface:
      return "interface";
    case LoadStage::schema:
      return "schema";
  }
  return "";
}

}  // namespace bh
