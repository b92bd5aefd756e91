// What holds of every settings text.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>

#include "cairn/options.h"

namespace {

using cairn::Options;
using cairn::parse_settings;

RC_GTEST_PROP(Settings, MebibytesAreBytes, ()) {
  const auto mib = *rc::gen::inRange<std::uint64_t>(21, 1u << 20);
  const auto settings = parse_settings("max_split_size_mb:" + std::to_string(mib));
  RC_ASSERT(settings.ok);
  RC_ASSERT(settings.options.max_split_size_bytes == mib << 20);
}

RC_GTEST_PROP(Settings, ARefusedTextChangesNothing, (const std::string& tail)) {
  Options before;
  before.max_split_size_bytes = 77;
  before.expandable_segments = true;
  const auto settings = parse_settings("max_split_size_mb:128,no_such_key:" + tail, before);
  RC_ASSERT(!settings.ok);
  RC_ASSERT(settings.options == before);
}

RC_GTEST_PROP(Settings, WhiteSpaceMeansNothing, ()) {
  const std::string text = "max_split_size_mb:128,garbage_collection_threshold:0.5";
  const auto at = *rc::gen::inRange<std::size_t>(0, text.size() + 1);
  const auto spaces = *rc::gen::container<std::string>(rc::gen::elementOf(std::string(" \t\n")));
  std::string spaced = text;
  spaced.insert(at, spaces);
  RC_ASSERT(parse_settings(spaced).options == parse_settings(text).options);
}

}  // namespace
