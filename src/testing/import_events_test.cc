#include "testing/import_events.h"

#include <gtest/gtest.h>

#include "testing/import_map.h"
#include "testing/printer.h"

namespace cairn::testing {
namespace {

const std::string header = std::string(events_header) + "\n";
const std::string initial =
    R"({"segments": [{"address": 2097152, "total_size": 2097152, "segment_type": "small",
        "blocks": [[2097152, 1024, false], [2098176, 2096128, true]]}]})";
const std::string final =
    R"({"segments": [{"device": 0, "address": 2097152, "total_size": 2097152, "stream": 0,
        "segment_type": "small", "segment_pool_id": [0, 0], "is_expandable": false,
        "blocks": [[2097152, 512, 500, "active_allocated"], [2097664, 2096640, 9, "inactive"]]}],
        "allocator_settings": {"max_split_size": -1, "garbage_collection_threshold": 0.5}})";

std::string text_of(const EventFiles& files) {
  const auto imported = import_events(files);
  return imported ? print_program(imported->program) : to_string(imported.error());
}

TEST(ImportEvents, MakesAProgramOfTableAndMaps) {
  const std::string events = header +
                             "0,0,1,free_requested,2097152,1000,0,\n"
                             "0,1,1,free_completed,2097152,1000,0,\n"
                             "0,2,1,alloc,2097152,500,0,\n";
  EXPECT_EQ(text_of({events, initial, final}),
            "gpu 0 memory=80GiB\n"
            "conf best_fit_tie:address,garbage_collection_threshold:0.5\n"
            "segment 0x200000 2MiB small s0\n"
            "block w1 1KiB\n"
            "block - 2047KiB\n"
            "free w1\n"
            "alloc a1 500 = 0x200000\n"
            "expect_segment 0x200000 2MiB small s0\n"
            "expect_block 512 active_allocated requested=500\n"
            "expect_block 2096640 inactive\n"
            "expect segments == 1\n");
}

TEST(ImportEvents, WithoutMapsStartsFromNothingAndExpectsNoMap) {
  EXPECT_EQ(text_of({header, "", ""}),
            "gpu 0 memory=80GiB\n"
            "conf best_fit_tie:address\n");
}

TEST(ImportEvents, NamesTheLineOfABadRow) {
  const auto refusal = [](const std::string& row) { return text_of({header + row, initial, ""}); };
  EXPECT_EQ(refusal("0,0,1,alloc,x,500,0,\n"),
            "line 2: addr is 'x', not a whole number of 64 bits");
  EXPECT_EQ(refusal("0,0,1,leak,1,500,0,\n"), "line 2: the action is none that is known");
  EXPECT_EQ(refusal("64,0,1,alloc,1,500,0,\n"), "line 2: device is 64");
  EXPECT_EQ(refusal("0,0,1,alloc,1,500,0,1:2\n"), "line 2: the event is of a private pool");
  EXPECT_EQ(refusal("0,0,1,alloc,2097152,500,0,\n"),
            "line 2: alloc gives 0x200000, which is still live");
}

TEST(ImportMap, BecomesAProgramThatStartsWithItAndExpectsIt) {
  const auto imported = import_map(final);
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(print_program(imported->program),
            "gpu 0 memory=80GiB\n"
            "conf garbage_collection_threshold:0.5\n"
            "segment 0x200000 2MiB small s0\n"
            "block w1 512\n"
            "block - 2096640\n"
            "expect_segment 0x200000 2MiB small s0\n"
            "expect_block 512 active_allocated\n"
            "expect_block 2096640 inactive\n"
            "expect segments == 1\n");
}

TEST(ImportMap, SaysWhereAMapIsNotOne) {
  const auto refusal = [](const std::string& json) {
    const auto file = read_map(json, "map");
    return file ? "read" : to_string(file.error());
  };
  EXPECT_EQ(refusal("{"), "map, byte 2: not JSON");
  EXPECT_EQ(refusal(R"({"segments": 6e666})"), "map: holds a number that is out of range");
  EXPECT_EQ(refusal("[]"), "map: 'segments' is not a list");
  EXPECT_EQ(refusal(R"({"segments": [1]})"),
            "map.segments[0]: 'address' is missing or not a whole number");
  EXPECT_EQ(refusal(R"({"segments": [{"address": -1}]})"),
            "map.segments[0]: 'address' is missing or not a whole number");
  const std::string segment =
      R"({"segments": [{"address": 512, "total_size": 512, "segment_type": "small", "blocks": )";
  EXPECT_EQ(refusal(segment + "[[512, 512]]}]}"),
            "map.segments[0]: a block is not [address, size, is_free] or [address, size, "
            "requested, state]");
  EXPECT_EQ(refusal(segment + "[]}]}"),
            "map.segments[0]: the segment at 0x200 is not the sum of its blocks");
  EXPECT_EQ(refusal(segment + "[[512, 512, true]], \"is_expandable\": true}]}"),
            "map.segments[0]: is expandable; such cannot be imported");
  EXPECT_EQ(refusal(std::string(100'000, '[')), "map, byte 100001: not JSON");
}

}  // namespace
}  // namespace cairn::testing
