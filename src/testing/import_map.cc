#include "testing/import_map.h"

#include <bit>
#include <nlohmann/json.hpp>

namespace cairn::testing {
namespace {

using Json = nlohmann::json;

class MapReader {
 public:
  explicit MapReader(std::string name) : name_(std::move(name)) {}

  ImportResult<MapFile> read(const Json& json) {
    const Json& segments = member(json, "segments");
    if (!segments.is_array()) refuse("'segments' is not a list");
    for (std::size_t i = 0; i < segments.size() && !error_; ++i) {
      where_ = name_ + ".segments[" + std::to_string(i) + "]";
      read_segment(segments[i]);
    }
    where_ = name_ + ".allocator_settings";
    if (const Json& settings = member(json, "allocator_settings"); settings.is_object()) {
      read_settings(settings);
    }
    if (!error_) error_ = check_map(file_.map, name_ + ".segments");
    if (error_) return Failure{*error_};
    return std::move(file_);
  }

 private:
  void refuse(std::string why) {
    if (!error_) error_ = ImportError{where_, std::move(why)};
  }

  // Null where it is missing.
  static const Json& member(const Json& object, const char* key) {
    static const Json none;
    if (!object.is_object()) return none;
    const auto found = object.find(key);
    return found == object.end() ? none : *found;
  }

  std::uint64_t number(const Json& value, const char* name) {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    refuse("'" + std::string(name) + "' is missing or not a whole number");
    return 0;
  }
  std::uint64_t number_or_zero(const Json& object, const char* key) {
    const Json& value = member(object, key);
    return value.is_null() ? 0 : number(value, key);
  }

  void read_segment(const Json& json) {
    RecordedSegment segment;
    segment.device = static_cast<DeviceIndex>(
        std::min<std::uint64_t>(number_or_zero(json, "device"), most_devices));
    segment.address = {number(member(json, "address"), "address")};
    segment.size = {number(member(json, "total_size"), "total_size")};
    segment.stream = number_or_zero(json, "stream");
    const Json& type = member(json, "segment_type");
    if (type != "small" && type != "large") refuse("'segment_type' is not small or large");
    segment.pool = type == "small" ? PoolKind::small : PoolKind::large;
    if (member(json, "is_expandable") == true) refuse("is expandable; such cannot be imported");
    const Json& pool = member(json, "segment_pool_id");
    if (!pool.is_null() && pool != Json{0, 0})
      refuse("is of a private pool; such cannot be imported");
    const Json& blocks = member(json, "blocks");
    if (!blocks.is_array()) refuse("'blocks' is not a list");
    for (std::size_t i = 0; i < blocks.size() && !error_; ++i) {
      segment.blocks.push_back(read_block(blocks[i]));
    }
    file_.map.push_back(std::move(segment));
  }

  RecordedBlock read_block(const Json& json) {
    RecordedBlock block;
    const std::size_t width = json.is_array() ? json.size() : 0;
    if (width != 3 && width != 4) {
      refuse("a block is not [address, size, is_free] or [address, size, requested, state]");
      return block;
    }
    block.address = {number(json[0], "address of a block")};
    block.size = {number(json[1], "size of a block")};
    if (width == 3) {
      if (!json[2].is_boolean()) refuse("'is_free' of a block is not true or false");
      block.state = json[2] == false ? BlockState::active_allocated : BlockState::inactive;
      return block;
    }
    block.requested = Bytes{number(json[2], "requested size of a block")};
    if (json[3] == "active_allocated") {
      block.state = BlockState::active_allocated;
    } else if (json[3] == "active_pending_free") {
      block.state = BlockState::active_pending_free;
    } else if (json[3] != "inactive") {
      refuse("the state of a block is none that is known");
    }
    return block;
  }

  void read_settings(const Json& json) {
    RecordedSettings& settings = file_.settings;
    if (const Json& text = member(json, "PYTORCH_CUDA_ALLOC_CONF"); text.is_string()) {
      settings.text = text.get<std::string>();
    }
    if (const Json& limit = member(json, "max_split_size"); limit.is_number_unsigned()) {
      settings.max_split_size = Bytes{limit.get<std::uint64_t>()};
    }
    if (const Json& threshold = member(json, "garbage_collection_threshold");
        threshold.is_number()) {
      settings.garbage_collection_threshold = threshold.get<double>();
    }
    const Json& divisions = member(json, "roundup_power2_divisions");
    if (divisions.is_null()) return;
    for (unsigned i = 0; i < settings.roundup_power2_divisions.size(); ++i) {
      const std::string key = std::to_string(std::uint64_t{1} << i);
      const std::uint64_t value =
          number(member(divisions, key.c_str()), "roundup_power2_divisions");
      if (value != 0 && !std::has_single_bit(value)) refuse("a division is not a power of two");
      settings.roundup_power2_divisions[i] = value;
    }
  }

  std::string name_;
  std::string where_ = name_;
  MapFile file_;
  std::optional<ImportError> error_;
};

}  // namespace

ImportResult<MapFile> read_map(std::string_view json, const std::string& name) {
  try {
    return MapReader(name).read(Json::parse(json));
  } catch (const Json::parse_error& error) {
    return Failure{ImportError{name + ", byte " + std::to_string(error.byte), "not JSON"}};
  } catch (const Json::exception&) {
    return Failure{ImportError{name, "holds a number that is out of range"}};
  }
}

ImportResult<Imported> import_map(std::string_view json) {
  auto file = read_map(json, "the map");
  if (!file) return Failure{file.error()};
  Recording recording;
  recording.settings = (*file).settings;
  recording.initial = (*file).map;
  recording.final = std::move((*file).map);
  return program_of(recording);
}

}  // namespace cairn::testing
