// Declarations, and statements about the simulated world.
#include "testing/parser_statements.h"

namespace cairn::testing {
namespace {

std::optional<DeviceIndex> gpu_option(Line& line, const LineOptions& options) {
  if (const auto value = options.value("gpu=")) return line.device(*value);
  return std::nullopt;
}

Operation parse_gpu(Line& line) {
  GpuDecl gpu;
  gpu.device = line.device(line.take("the number of the device"));
  const LineOptions options(line, {"memory=", "adjacent", "reuse_addresses"});
  if (const auto memory = options.value("memory=")) {
    gpu.memory = line.size(*memory);
    if (gpu.memory > most_memory) line.fail(*memory, "a device has at most 1024GiB");
  }
  gpu.adjacent = options.has("adjacent");
  gpu.reuse_addresses = options.has("reuse_addresses");
  return gpu;
}

Operation parse_conf(Line& line) { return Conf{std::string(line.take_rest("settings text").text)}; }

Operation parse_segment(Line& line) {
  SegmentDecl segment;
  segment.address = line.block_address(line.take("the segment's address"));
  const Word size = line.take("the segment's size");
  segment.size = line.block_size(size);
  if (segment.address.value + segment.size.count < segment.address.value)
    line.fail(size, "the segment does not fit the address space");
  segment.pool = line.one_of(pool_words, line.take("small or large"));
  segment.stream = line.stream(line.take("the segment's stream"));
  segment.gpu = gpu_option(line, LineOptions(line, {"gpu="}));
  return segment;
}

Operation parse_block(Line& line) {
  BlockDecl block;
  const Word name = line.take("a name, or - for a free block,");
  if (name.text != "-") block.name = line.name(name);
  block.size = line.block_size(line.take("the block's size"));
  return block;
}

Operation parse_fault(Line& line) {
  Fault fault;
  const Word call = line.take("the kind of driver call");
  fault.call = line.driver_call(call);
  const LineOptions options(line, {"at=", "error=", "count=", "sticky"});
  const auto at = options.value("at=");
  const auto error = options.value("error=");
  if (!at || !error) {
    line.fail(call, "a fault needs at=N and error=NAME");
    return fault;
  }
  fault.at = line.positive(*at);
  const auto status = cuda_status_from(error->text);
  if (!status || *status == CudaStatus::success)
    line.fail(*error, quoted(error->text) + " is not the name of a CUDA error");
  fault.error = status.value_or(CudaStatus::unknown);
  if (const auto count = options.value("count=")) {
    fault.count.reset();
    if (count->text != "forever") fault.count = line.positive(*count);
  }
  fault.sticky = options.has("sticky");
  return fault;
}

Operation parse_next_segment(Line& line) {
  return NextSegment{line.block_address(line.take("an address"))};
}

Operation parse_device(Line& line) {
  return SetDevice{line.device(line.take("the number of the device"))};
}

Operation parse_stream(Line& line) {
  MakeStream make;
  make.stream = line.name(line.take("the stream's name"));
  const LineOptions options(line, {"gpu=", "blocking", "reuse="});
  make.gpu = gpu_option(line, options);
  make.blocking = options.has("blocking");
  if (const auto reuse = options.value("reuse=")) make.reuse = line.name(*reuse);
  return make;
}

Operation parse_destroy_stream(Line& line) {
  DestroyStream destroy;
  destroy.stream = line.name(line.take("the stream's name"));
  destroy.unannounced = LineOptions(line, {"unannounced"}).has("unannounced");
  return destroy;
}

Touch parse_touch(Line& line, Word word) {
  const auto colon = word.text.find(':');
  Touch touch{line.name(word.part(0, colon)), colon != std::string_view::npos};
  if (touch.read_only && word.text.substr(colon) != ":r")
    line.fail(word.part(colon), "after the name only :r may stand");
  return touch;
}

Operation parse_launch(Line& line) {
  Launch launch;
  launch.stream = line.stream(line.take("the stream"));
  Word names = line.take("what the kernel touches");
  while (names.text.find(',') != std::string_view::npos) {
    const auto comma = names.text.find(',');
    launch.touches.push_back(parse_touch(line, names.part(0, comma)));
    names = names.part(comma + 1);
  }
  launch.touches.push_back(parse_touch(line, names));
  launch.ticks = line.number(line.take("the number of ticks"));
  return launch;
}

Operation parse_order(Line& line) {
  Order order;
  order.before = line.stream(line.take("the stream whose work comes first"));
  order.after = line.stream(line.take("the stream that waits"));
  return order;
}

Operation parse_advance(Line& line) {
  return Advance{line.number(line.take("the number of ticks"))};
}

Operation parse_sync(Line& line) {
  Sync sync;
  if (!line.at_end() && line.peek().text.find('=') == std::string_view::npos)
    sync.stream = line.stream(line.take("the stream"));
  sync.gpu = gpu_option(line, LineOptions(line, {"gpu="}));
  return sync;
}

constexpr auto rules = std::to_array<StatementRule>({
    {"gpu", parse_gpu, Place::declaration},
    {"conf", parse_conf, Place::declaration},
    {"segment", parse_segment, Place::declaration},
    {"block", parse_block, Place::declaration},
    {"fault", parse_fault, Place::setting},
    {"next_segment", parse_next_segment, Place::setting},
    {"device", parse_device, Place::setting},
    {"stream", parse_stream, Place::setting},
    {"destroy_stream", parse_destroy_stream, Place::operation},
    {"launch", parse_launch, Place::operation},
    {"order", parse_order, Place::operation},
    {"advance", parse_advance, Place::certain},
    {"sync", parse_sync, Place::operation},
});

}  // namespace

std::span<const StatementRule> world_statements() { return rules; }

}  // namespace cairn::testing
