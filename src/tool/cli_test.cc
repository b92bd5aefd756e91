#include "tool/cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "testing/gzip_file.h"

namespace cairn::tool {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Runs `cairn` in process, in a folder of its own.
class Cli : public ::testing::Test {
 protected:
  Cli() : folder_(::testing::TempDir() + "cli_test_" + name_of_test() + "/") {
    std::filesystem::create_directories(folder_);
  }
  ~Cli() override { std::filesystem::remove_all(folder_); }

  int cairn(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "cairn");
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    out_.str("");
    err_.str("");
    return run_cli(static_cast<int>(argv.size()), argv.data(), out_, err_);
  }
  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }

  std::string path(const std::string& name) const { return folder_ + name; }
  std::string write(const std::string& name, const std::string& content) const {
    EXPECT_TRUE(cairn::testing::write_content(path(name), content));
    return path(name);
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

 private:
  static std::string name_of_test() {
    return ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  std::string folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

const std::string holds = "alloc a 1MiB\nexpect allocated == 1MiB\nfree a\n";
const std::string violated = "alloc a 1MiB\nexpect allocated == 2MiB\n";
const std::string unreadable = "alloc a 1MiB\nallocate b\n";
const std::string events =
    "device,seq,time_us,action,addr,size,stream,pool\n"
    "0,0,1,free_requested,2097152,1000,0,\n"
    "0,1,1,free_completed,2097152,1000,0,\n"
    "0,2,1,alloc,2097152,500,0,\n";
const std::string initial_map =
    R"({"segments": [{"address": 2097152, "total_size": 2097152, "segment_type": "small",
        "blocks": [[2097152, 1024, false], [2098176, 2096128, true]]}]})";
const std::string final_map =
    R"({"segments": [{"address": 2097152, "total_size": 2097152, "segment_type": "small",
        "blocks": [[2097152, 512, 500, "active_allocated"], [2097664, 2096640, 9, "inactive"]]}]})";

TEST_F(Cli, HelpHasExamplesAndNothingFails) {
  EXPECT_EQ(cairn({"--help"}), 0);
  EXPECT_THAT(out(), HasSubstr("cairn import snapshot.pickle -o s.program"));
  EXPECT_EQ(cairn({"--version"}), 0);
  EXPECT_THAT(out(), StartsWith("cairn "));
  for (const char* command : {"run", "import", "replay"}) EXPECT_EQ(cairn({command, "--help"}), 0);
}

TEST_F(Cli, WhatCannotBeUnderstoodIsBadInput) {
  EXPECT_EQ(cairn({}), 2);
  EXPECT_EQ(cairn({"walk"}), 2);
  EXPECT_EQ(cairn({"run"}), 2);
  EXPECT_EQ(cairn({"replay", "--repeat", "0", "x"}), 2);
  EXPECT_EQ(cairn({"import", "--format", "pdf", "x"}), 2);
  EXPECT_NE(err(), "");
}

TEST_F(Cli, AFileThatIsNotThereIsBadInput) {
  for (const char* command : {"run", "import", "replay"}) {
    EXPECT_EQ(cairn({command, path("gone")}), 2);
    EXPECT_EQ(err(), path("gone") + ": cannot be opened: No such file or directory\n");
  }
}

TEST_F(Cli, RunSaysWhatHolds) {
  const std::string file = write("good.program", holds);
  EXPECT_EQ(cairn({"run", file}), 0);
  EXPECT_THAT(out(), StartsWith(file + ": holds, 2 operations, peak allocated 1.00 MiB"));
}

TEST_F(Cli, RunTellsTheDriversCallsOfEachLine) {
  const std::string ends = write("ends.program", "alloc a 1MiB\nfree a\nempty_cache\nalloc b 1\n");
  EXPECT_EQ(cairn({"run", "--calls", ends}), 0);
  EXPECT_THAT(out(), StartsWith(ends + ":1: malloc device=0 size=2097152 address=0x"));
  EXPECT_THAT(out(), HasSubstr("\n" + ends + ":3: stream_sync device=0 stream=0x1\n" + ends +
                               ":3: free device=0 address=0x"));
  EXPECT_THAT(out(), HasSubstr("\n" + ends + ":4: malloc device=0 size=2097152 address=0x"));
  EXPECT_THAT(out(), Not(HasSubstr(ends + ":2:"))) << "no call was made there";
}

TEST_F(Cli, RunTellsTheDriversCallsInJsonToo) {
  const std::string file = write("good.program", holds);
  EXPECT_EQ(cairn({"run", "--calls", "--json", file}), 0);
  const auto calls = nlohmann::json::parse(out())["calls"];
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0][0], 1);
  EXPECT_THAT(calls[0][1].get<std::string>(),
              StartsWith("malloc device=0 size=2097152 address=0x"));
}

TEST_F(Cli, RunNamesLineExpectedAndFound) {
  const std::string file = write("bad.program", violated);
  EXPECT_EQ(cairn({"run", file}), 1);
  EXPECT_THAT(err(), StartsWith(file + ":2:"));
  EXPECT_THAT(err(), HasSubstr("expect allocated == 2MiB"));
}

TEST_F(Cli, RunNamesThePlaceThatItCannotRead) {
  const std::string file = write("broken.program", unreadable);
  EXPECT_EQ(cairn({"run", file}), 2);
  EXPECT_THAT(err(), StartsWith(file + ":2:1: "));
}

TEST_F(Cli, OfSeveralFilesTheWorstCounts) {
  const std::string good = write("good.program", holds);
  const std::string bad = write("bad.program", violated);
  const std::string later = write("later.program", "alloc a 1MiB\npool P\n");
  const std::string broken = write("broken.program", unreadable);
  EXPECT_EQ(cairn({"run", good, good}), 0);
  EXPECT_EQ(cairn({"run", later, good}), 3);
  EXPECT_EQ(cairn({"run", good, later, bad}), 1);
  EXPECT_EQ(cairn({"run", broken, bad, later, good}), 2);
}

TEST_F(Cli, RunPrintsOneJsonObjectForEachFile) {
  const std::string good = write("good.program.gz", holds);
  const std::string bad = write("bad.program", violated);
  EXPECT_EQ(cairn({"run", "--json", good, bad, path("gone")}), 2);
  std::istringstream lines(out());
  std::string line;
  std::getline(lines, line);
  const auto first = nlohmann::json::parse(line);
  EXPECT_EQ(first["verdict"], "holds");
  EXPECT_EQ(first["operations"], 2);
  EXPECT_EQ(first["peak_allocated"], 1 << 20);
  EXPECT_FALSE(first.contains("calls")) << "nobody asked for them";
  const auto& statistics = first["statistics"][0];
  EXPECT_EQ(statistics["allocated_bytes.all.current"], 0);
  EXPECT_EQ(statistics["allocated_bytes.small_pool.peak"], 1 << 20);
  EXPECT_EQ(statistics["allocated_bytes.small_pool.freed"], 1 << 20);
  EXPECT_EQ(statistics["allocated_bytes.large_pool.allocated"], 0);
  EXPECT_EQ(statistics["segment.all.current"], 1);
  EXPECT_EQ(statistics["num_device_alloc"], 1);
  std::getline(lines, line);
  const auto second = nlohmann::json::parse(line);
  EXPECT_EQ(second["verdict"], "violated");
  EXPECT_EQ(second["line"], 2);
  std::getline(lines, line);
  EXPECT_EQ(nlohmann::json::parse(line)["verdict"], "bad input");
}

TEST_F(Cli, ImportFindsTheMapsBesideATable) {
  const std::string table = write("t.events.csv.gz", events);
  write("t.initial.json.gz", initial_map);
  write("t.segments.json", final_map);
  EXPECT_EQ(cairn({"import", table}), 0);
  EXPECT_THAT(out(), HasSubstr("block w1 1KiB\n"));
  EXPECT_THAT(out(), HasSubstr("expect_block 512 active_allocated requested=500\n"));
  EXPECT_EQ(err(),
            table + ": events of 3 entries: 1 allocations, 1 frees, 1 segments at the start\n");
  EXPECT_EQ(cairn({"run", table}), 0) << err();
  EXPECT_EQ(cairn({"replay", table}), 0) << err();
}

TEST_F(Cli, MessagesAboutARecordingNameLinesOfItsProgram) {
  const std::string table = write("t.events.csv", events);
  write("t.initial.json", initial_map);
  write("t.segments.json", initial_map);  // Not what is there at the end.
  EXPECT_EQ(cairn({"run", table}), 1);
  EXPECT_THAT(err(), StartsWith(table + ", imported:"));
  EXPECT_THAT(err(), HasSubstr("expect"));
}

TEST_F(Cli, OutputThatCannotBeWrittenIsNoSuccess) {
  const std::string file = write("good.program", holds);
  std::ostream nowhere(nullptr);
  std::ostringstream complaints;
  const char* const argv[] = {"cairn", "import", file.c_str()};
  EXPECT_EQ(run_cli(3, argv, nowhere, complaints), 2);
  EXPECT_THAT(complaints.str(), HasSubstr("the output cannot be written"));
}

TEST_F(Cli, ReplayReportsFigures) {
  const std::string file = write("good.program", holds);
  EXPECT_EQ(cairn({"replay", "--repeat", "4", file}), 0);
  EXPECT_THAT(out(), HasSubstr("median of 4 repetitions"));
  EXPECT_EQ(cairn({"replay", "--json", file}), 0);
  const auto figures = nlohmann::json::parse(out());
  EXPECT_EQ(figures["verdict"], "replayed");
  EXPECT_EQ(figures["operations"], 2);
  EXPECT_EQ(figures["peak_reserved"], 2 << 20);
  EXPECT_EQ(figures["fragmentation_at_peak"], 0.5);
  EXPECT_EQ(figures["driver_calls"]["malloc"], 1);
  EXPECT_EQ(figures["skipped"]["expectations"], 1);
  const std::string wrong = write("wrong.program", "alloc a 1MiB = 0x7e0000000000\n");
  EXPECT_EQ(cairn({"replay", wrong}), 1);
  EXPECT_THAT(err(), StartsWith(wrong + ":1: expected 0x7e0000000000, found 0x"));
}

TEST_F(Cli, AFolderIsNoFile) {
  EXPECT_EQ(cairn({"replay", path("")}), 2);
  EXPECT_EQ(err(), path("") + ": it is a folder\n");
}

TEST_F(Cli, ReplayDrawsARunAsOnePage) {
  const std::string file = write("good.program", holds);
  const std::string page = path("run.html");
  EXPECT_EQ(cairn({"replay", "--html", page, file}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("picture              " + page + "\n"));
  EXPECT_TRUE(read(page).starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(cairn({"replay", "--json", "--html", page, file}), 0);
  const std::string figures = out().substr(0, out().size() - 1);
  EXPECT_TRUE(nlohmann::json::accept(figures));
  EXPECT_NE(read(page).find(figures), std::string::npos);
}

TEST_F(Cli, APageThatCannotBeWrittenIsRefusedBeforeTheRun) {
  const std::string file = write("good.program", holds);
  const auto refused = [&](const std::string& page) {
    EXPECT_EQ(cairn({"replay", "--html", page, file}), 2);
    EXPECT_EQ(out(), "");
    return err();
  };
  EXPECT_EQ(refused(path("no/run.html")),
            path("no/run.html") + ": cannot be written: No such file or directory\n");
  EXPECT_EQ(refused(path("")), path("") + ": cannot be written: it is a folder\n");
  EXPECT_EQ(refused("/dev/null"), "/dev/null: cannot be written: it is no regular file\n");
  EXPECT_EQ(refused(file), file + ": cannot be written: it is what is to be replayed\n");
  EXPECT_EQ(read(file), holds);
  EXPECT_THAT(refused(""), HasSubstr("it has no name"));
  EXPECT_EQ(cairn({"replay", "--html", path("run.html"), file, file}), 2);
  EXPECT_EQ(err(), "--html makes the page of one FILE, not of several\n");
  EXPECT_FALSE(std::filesystem::exists(path("run.html")));
}

TEST_F(Cli, ARunThatFailsLeavesThePageOfBefore) {
  const std::string page = write("run.html", "the page of before");
  const std::string wrong = write("wrong.program", "alloc a 1MiB = 0x7e0000000000\n");
  EXPECT_EQ(cairn({"replay", "--html", page, wrong}), 1);
  EXPECT_EQ(read(page), "the page of before");
}

TEST_F(Cli, ImportWritesWhereItIsToldAndReadsItBack) {
  const std::string table = write("table", events);
  const std::string map = write("map", initial_map);
  const std::string made = path("made.program.gz");
  EXPECT_EQ(cairn({"import", table, "--initial", map, "-o", made, "--json"}), 0);
  const auto report = nlohmann::json::parse(out());
  EXPECT_EQ(report["format"], "events");
  EXPECT_EQ(report["allocations"], 1);
  EXPECT_TRUE(cairn::testing::is_gzip(read(made)));
  EXPECT_EQ(cairn({"run", made}), 0) << err();
  EXPECT_EQ(cairn({"import", table, "--initial", map, "-o", path("no/such/folder")}), 2);
}

TEST_F(Cli, ImportKnowsFormatsByTheirContent) {
  const std::string threads = write("threads",
                                    "ts_us,tid,addr,bytes,total_allocated,total_reserved\n"
                                    "1,900,4096,512,512,0\n");
  const std::string log = write("log",
                                "Thread,Time,Action,Pointer,Size,Stream\n"
                                "1,t,allocate failure,0x0,512,0x0\n1,t,free,0x100,512,0x0\n");
  const std::string map = write("map", final_map);
  EXPECT_EQ(cairn({"import", threads}), 0);
  EXPECT_THAT(out(), HasSubstr("T1: alloc a1 512\n"));
  EXPECT_EQ(cairn({"import", map}), 0);
  EXPECT_THAT(out(), HasSubstr("expect segments == 1\n"));
  EXPECT_EQ(cairn({"import", log}), 2);
  EXPECT_EQ(err(), log + ": line 3: frees a pointer that is not live\n");
  EXPECT_EQ(cairn({"import", "--skip-unknown-frees", log}), 0);
  EXPECT_THAT(err(), HasSubstr("left out: 1 allocate failure\n"));
  EXPECT_EQ(cairn({"import", "--format", "snapshot", log}), 2);
  EXPECT_THAT(err(), HasSubstr("byte 0: this is not a pickle"));
}

TEST_F(Cli, ARefusedImportLeavesStandardOutputToThePrograms) {
  EXPECT_EQ(cairn({"import", "--json", path("gone")}), 2);
  EXPECT_EQ(out(), "");
  EXPECT_THAT(err(), HasSubstr(R"("verdict":"bad input")"));
  EXPECT_EQ(cairn({"import", "--json", path("gone"), "-o", path("made")}), 2);
  EXPECT_THAT(out(), HasSubstr(R"("verdict":"bad input")"));
}

TEST_F(Cli, AFileBeyondTheLimitIsBadInput) {
  const std::string bomb = write("bomb.gz", std::string(1 << 20, '#'));
  EXPECT_EQ(cairn({"run", "--limit", "512KiB", bomb}), 2);
  EXPECT_EQ(err(), bomb + ": unpacked, it holds more than 524288 bytes, the limit\n");
}

}  // namespace
}  // namespace cairn::tool
