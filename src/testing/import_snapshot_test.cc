#include "testing/import_snapshot.h"

#include <gtest/gtest.h>

#include "testing/printer.h"

namespace cairn::testing {
namespace {

using namespace std::string_literals;  // NOLINT

// ---- pickles, written as Python's protocol 2 writes them ----
std::string little_endian(std::uint64_t number, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
  return bytes;
}
std::string text(const std::string& value) { return "X" + little_endian(value.size(), 4) + value; }
std::string number(std::uint64_t value) { return "\x8a\x08" + little_endian(value, 8); }
std::string boolean(bool value) { return value ? "\x88" : "\x89"; }
std::string list(const std::vector<std::string>& items) {
  std::string bytes = "](";
  for (const std::string& item : items) bytes += item;
  return bytes + "e";
}
using Members = std::vector<std::pair<std::string, std::string>>;
std::string dict(const Members& members) {
  std::string bytes = "}(";
  for (const auto& [key, value] : members) bytes += text(key) + value;
  return bytes + "u";
}
std::string file(const std::string& root) { return "\x80\x02" + root + "."; }

constexpr std::uint64_t base = 0x7e0000000000;
constexpr std::uint64_t mib = 1 << 20;

std::string block(std::uint64_t address, std::uint64_t size, const char* state) {
  return dict({{"address", number(address)},
               {"size", number(size)},
               {"requested_size", number(size - 5)},
               {"state", text(state)}});
}
Members segment(std::uint64_t size, const std::vector<std::string>& blocks) {
  return {{"device", number(0)}, {"address", number(base)},       {"total_size", number(size)},
          {"stream", number(0)}, {"segment_type", text("large")}, {"blocks", list(blocks)}};
}
std::string trace_entry(const char* action, std::uint64_t address, std::uint64_t size) {
  return dict({{"action", text(action)},
               {"addr", number(address)},
               {"size", number(size)},
               {"stream", number(0)}});
}
std::string snapshot(const std::vector<std::string>& segments,
                     const std::vector<std::string>& trace) {
  return file(dict({{"segments", list(segments)}, {"device_traces", list({list(trace)})}}));
}

std::string text_of(const std::string& pickle) {
  const auto imported = import_snapshot(pickle);
  return imported ? print_program(imported->program) : to_string(imported.error());
}

const std::string final_segment =
    dict(segment(20 * mib, {block(base, 8 * mib, "active_allocated"),
                            block(base + 8 * mib, 12 * mib, "inactive")}));

TEST(ImportSnapshot, StartsFromTheMapThatTheTraceBeganWith) {
  EXPECT_EQ(text_of(snapshot({final_segment}, {trace_entry("free_requested", base, 4 * mib),
                                               trace_entry("free_completed", base, 4 * mib),
                                               trace_entry("snapshot", 0, 0),
                                               trace_entry("alloc", base, 8 * mib - 5)})),
            "gpu 0 memory=80GiB\n"
            "conf best_fit_tie:address\n"
            "segment 0x7e0000000000 20MiB large s0\n"
            "block w1 4MiB\n"
            "block - 16MiB\n"
            "free w1\n"
            "alloc a1 8388603 = 0x7e0000000000\n"
            "expect_segment 0x7e0000000000 20MiB large s0\n"
            "expect_block 8MiB active_allocated requested=8388603\n"
            "expect_block 12MiB inactive\n"
            "expect segments == 1\n");
}

TEST(ImportSnapshot, WithoutATraceIsTheMapAlone) {
  const auto imported = import_snapshot(file(dict({{"segments", list({final_segment})}})));
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(imported->report.entries, 0U);
  EXPECT_EQ(imported->report.segments_at_start, 1U);
  EXPECT_EQ(imported->program.statements.size(), 9U);
}

TEST(ImportSnapshot, TakesTheSettings) {
  const std::string settings = dict({{"PYTORCH_CUDA_ALLOC_CONF", text("max_split_size_mb:32")},
                                     {"max_split_size", number(32 * mib)},
                                     {"garbage_collection_threshold", "G" + little_endian(0, 8)}});
  const std::string pickle = file(dict({{"segments", list({})}, {"allocator_settings", settings}}));
  EXPECT_EQ(text_of(pickle),
            "gpu 0 memory=80GiB\n"
            "conf best_fit_tie:address,max_split_size_mb:32\n"
            "expect segments == 0\n");
}

TEST(ImportSnapshot, LeavesOutPrivatePoolsAndCountsThem) {
  Members pooled = segment(20 * mib, {block(base, 20 * mib, "active_allocated")});
  pooled.emplace_back("segment_pool_id", number(0) + number(7) + "\x86");
  const auto imported = import_snapshot(snapshot(
      {dict(pooled)}, {trace_entry("alloc", base, 20 * mib), trace_entry("oom", base, 1)}));
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(imported->report.skipped.at("segments of private pools"), 1U);
  EXPECT_EQ(imported->report.skipped.at("events in private pools"), 1U);
  EXPECT_EQ(imported->report.skipped.at("out-of-memory events"), 1U);
  EXPECT_EQ(imported->report.allocations, 0U);
}

TEST(ImportSnapshot, RefusesExpandableSegments) {
  Members expandable = segment(20 * mib, {block(base, 20 * mib, "inactive")});
  expandable.emplace_back("is_expandable", boolean(true));
  EXPECT_EQ(text_of(snapshot({dict(expandable)}, {})),
            "segments[0]: is an expandable segment; these cannot be imported");
  EXPECT_EQ(text_of(snapshot({}, {trace_entry("segment_map", base, mib)})),
            "device_traces[0][0]: is of an expandable segment; these cannot be imported");
}

TEST(ImportSnapshot, SaysWhereTheSnapshotIsNotOne) {
  EXPECT_EQ(text_of(file(list({}))), "the snapshot: is a list, not a dict");
  EXPECT_EQ(text_of(file(dict({}))), "the snapshot: has no 'segments'");
  EXPECT_EQ(text_of(file(dict({{"segments", number(1)}}))),
            "the snapshot: 'segments' is a int, not a list");
  EXPECT_EQ(text_of(snapshot({dict(segment(20 * mib, {"N"}))}, {})),
            "segments[0].blocks[0]: is a None, not a dict");
  EXPECT_EQ(text_of(snapshot({dict(segment(20 * mib, {block(base, mib, "lost")}))}, {})),
            "segments[0].blocks[0]: 'state' is none that is known");
  EXPECT_EQ(text_of(snapshot({dict(segment(20 * mib, {block(base, mib, "inactive")}))}, {})),
            "segments[0]: the segment at 0x7e0000000000 is not the sum of its blocks");
  EXPECT_EQ(text_of(snapshot({final_segment}, {trace_entry("alloc", base + mib, mib)})),
            "device_traces[0][0]: does not fit what follows it: at 0x7e0000100000 there is no live "
            "block");
  EXPECT_EQ(text_of(snapshot({final_segment}, {dict({{"action", text("alloc")}})})),
            "device_traces[0][0]: has no 'stream'");
}

TEST(ImportSnapshot, ASnapshotThatHoldsItselfIsRefused) {
  // segments = [that list itself]
  EXPECT_EQ(text_of(file("}(" + text("segments") + "]q\x01(h\x01" + "eu")),
            "segments[0]: is a list, not a dict");
}

TEST(ImportSnapshot, PartsThatAreSharedAreNotWalkedWithoutEnd) {
  // One list of 100 events, stored once and named 60 times as the trace of a device.
  std::vector<std::string> events(100, "h\x02");
  const std::string event = trace_entry("snapshot", 0, 0) + "q\x02" + "0";
  const std::string trace = list(events) + "q\x03" + "0";
  std::string named;
  for (int i = 0; i < 60; ++i) named += "h\x03";
  const std::string root =
      "}(" + text("segments") + list({}) + text("device_traces") + "](" + named + "eu";
  const std::string pickle = "\x80\x02" + event + trace + root + ".";
  EXPECT_NE(text_of(pickle).find("there are more entries than the file has bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace cairn::testing
