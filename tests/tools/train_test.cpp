// `warpline train` as a person meets it: every strategy learns the same thing, bit for bit, and what makes no
// sense is refused. That the work is really split: train_split_test.cpp.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "engine/safetensors.h"
#include "tests/models/files.h"
#include "tests/support/run_json.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

using Catch::Matchers::Contains;
using warpline::read_safetensors;
using warpline::SafetensorsFile;
using warpline::write_safetensors;
using warpline::test::ProgramResult;
using warpline::test::read_json;
using warpline::test::run_json;
using warpline::test::TemporaryFolder;
using warpline::test::write_mnist;

namespace {

// The built-in digits, so that the tests need no download.
ProgramResult train(const std::string& arguments) {
  return warpline::test::run_program(
      fmt::format("'{}' train --data builtin {}", WARPLINE_PROGRAM, arguments));
}

nlohmann::json train_json(const std::string& arguments) {
  return warpline::test::run_json("train --data builtin " + arguments);
}

const std::vector<std::string> kStrategies = {
    "--threads 2",
    "--threads 3",
    "--strategy data --data-parallel 2",
    "--strategy data --data-parallel 4",
    "--strategy layer --stages 2",
    "--strategy pipeline --stages 2",
    "--strategy pipeline --stages 4",
    "--strategy pipeline --stages 2 --schedule 1f1b",
    "--strategy pipeline --stages 4 --schedule 1f1b",
    "--strategy hybrid --data-parallel 2 --stages 2",
    "--strategy hybrid --send-mode rendezvous --order-seed 1",
    "--strategy hybrid --send-mode buffered --order-seed 2",
};

int same_as_serial(const std::string& common) {
  const nlohmann::json serial = train_json(common + " --threads 1");
  int same = 0;
  for (const std::string& strategy : kStrategies) {
    const nlohmann::json run = train_json(fmt::format("{} {}", common, strategy));
    const bool equal =
        run["parameters_sha256"] == serial["parameters_sha256"] && run["losses"] == serial["losses"];
    if (!equal) fmt::print("other bits than serial: {} {}\n", common, strategy);
    same += equal ? 1 : 0;
  }
  return same;
}

}  // namespace

TEST_CASE("every strategy ends with the bits of serial", "[train]") {
  const int same = same_as_serial("--deterministic --steps 3");
  fmt::print("{} of {} strategies equal serial\n", same, kStrategies.size());
  CHECK(same == static_cast<int>(kStrategies.size()));
}

TEST_CASE("the same with an odd batch, whose blocks differ in size", "[train]") {
  const int same = same_as_serial("--deterministic --steps 2 --batch-size 61");
  fmt::print("{} of {} strategies equal serial at batch 61\n", same, kStrategies.size());
  CHECK(same == static_cast<int>(kStrategies.size()));
}

TEST_CASE("the same for mlp, cut in two and in three", "[train]") {
  const std::string common = "--model mlp --deterministic --steps 5 --threads 1";
  const nlohmann::json serial = train_json(common);
  for (const char* stages : {"2", "3"}) {
    CHECK(train_json(fmt::format("{} --strategy layer --stages {}", common, stages))["parameters_sha256"] ==
          serial["parameters_sha256"]);
  }
}

TEST_CASE("a checkpoint is continued by any strategy, bit for bit", "[train][checkpoint]") {
  const TemporaryFolder folder;
  const std::string common = "--deterministic --threads 1";
  const nlohmann::json whole = train_json(common + " --steps 6");
  for (const char* writer : {"", "--strategy hybrid"}) {
    const std::string file = folder / "half.safetensors";
    REQUIRE(train(fmt::format("{} --steps 3 {} --checkpoint '{}'", common, writer, file)).status == 0);
    for (const char* reader :
         {"", "--strategy data", "--strategy layer", "--strategy pipeline --stages 3", "--strategy hybrid"}) {
      const nlohmann::json run =
          train_json(fmt::format("{} --steps 6 {} --resume '{}'", common, reader, file));
      INFO("written by '" << writer << "', continued by '" << reader << "'");
      CHECK(run["parameters_sha256"] == whole["parameters_sha256"]);
      CHECK(run["losses"].size() == 3);
    }
  }
}

TEST_CASE("a run of whole epochs goes on with another batch size, and ends where it should",
          "[train][checkpoint]") {
  const TemporaryFolder folder;
  write_mnist(folder.path(), 64, 8);
  const std::string file = folder / "run.safetensors";
  const std::string common = fmt::format("train --threads 1 --data-dir '{}'", folder.path().string());
  const auto steps = [&](const std::string& flags) {
    return run_json(fmt::format("{} --resume '{}' {}", common, file, flags))["losses"].size();
  };
  const auto refused = [&](const std::string& flags) {
    const ProgramResult result = warpline::test::run_program(
        fmt::format("'{}' {} --resume '{}' {}", WARPLINE_PROGRAM, common, file, flags));
    CHECK(result.status == 2);
    return result.errors;
  };
  run_json(fmt::format("{} --batch-size 2 --seed 7 --checkpoint '{}'", common, file));  // 32 steps, an epoch

  CHECK(steps("--batch-size 8 --epochs 2") == 8);
  CHECK(steps("--batch-size 1 --epochs 2") == 64);
  CHECK(steps("--batch-size 8 --steps 35") == 3);
  CHECK(steps("--batch-size 8 --steps 50") == 18);  // into the fourth epoch
  CHECK(steps("--batch-size 8 --steps 50 --epochs 2") == 8);
  CHECK(steps("--batch-size 8 --epochs 2 --seed 7") == 8);
  CHECK_THAT(refused("--epochs 1"), Contains("nothing is left to do"));
  CHECK_THAT(refused("--epochs 1 --steps 100"), Contains("nothing is left to do"));
  CHECK_THAT(refused("--steps 32"), Contains("nothing is left to do"));
  CHECK_THAT(refused("--epochs 2 --seed 8"), Contains("seed 7; got --seed 8"));
  CHECK_THAT(refused("--epochs 2 --optimizer adam"), Contains("state of sgd; got --optimizer adam"));
}

TEST_CASE("a trained network is evaluated and infers the same, whole or cut", "[train][checkpoint]") {
  const TemporaryFolder folder;
  write_mnist(folder.path(), 64, 8);
  for (const char* optimizer : {"sgd", "adam", "adamw"}) {
    const std::string file = folder / "run.safetensors";
    const nlohmann::json run =
        run_json(fmt::format("train --data-dir '{}' --steps 3 --evaluate --optimizer {} --strategy hybrid "
                             "--message-delay 0.001 --checkpoint '{}'",
                             folder.path().string(), optimizer, file));
    REQUIRE(run["test_accuracy"].is_number());
    CHECK(run["test_accuracy"] >= 0.0);
    CHECK(run["test_accuracy"] <= 1.0);
    const std::string infer = fmt::format("infer --random --batches 3 --checkpoint '{}'", file);
    const nlohmann::json whole = run_json(infer), cut = run_json(infer + " --strategy pipeline --stages 2");
    CHECK(whole["output_sha256"] == cut["output_sha256"]);
    CHECK(whole["output_sha256"] != run_json("infer --random --batches 3")["output_sha256"]);
  }
}

TEST_CASE("an epoch may be a single step, whatever the strategy", "[train]") {
  const TemporaryFolder folder;
  write_mnist(folder.path(), 64, 8);
  const std::string common =
      fmt::format("train --data-dir '{}' --deterministic --epochs 3", folder.path().string());
  const nlohmann::json serial = run_json(common);
  CHECK(serial["losses"].size() == 3);
  for (const std::string& strategy : kStrategies) {
    CHECK(run_json(fmt::format("{} {}", common, strategy))["losses"] == serial["losses"]);
  }
}

TEST_CASE("a rate needs a second step, and a path of any bytes is written down", "[train]") {
  const nlohmann::json run = train_json("--steps 1 --batch-size 4");
  CHECK(run["images_per_second"].is_null());
  const TemporaryFolder folder;
  CHECK(train_json(fmt::format("--steps 1 --batch-size 4 --checkpoint '{}/\xff'",
                               folder.path().string()))["flags"]["checkpoint"]
            .is_string());
}

TEST_CASE("no output takes the place of another, or of what is read", "[train]") {
  const TemporaryFolder folder;
  const std::string a = folder / "a", same = (folder.path() / "." / "a").string();
  const std::string common = "--steps 1 --batch-size 4 --threads 1";
  const std::string link = folder / "link";
  std::filesystem::create_symlink("a", link);  // to what is not there yet
  for (const std::string& flags :
       {fmt::format("--json '{}' --trace '{}'", a, same), fmt::format("--json '{}' --trace '{}'", a, link),
        fmt::format("--checkpoint '{}' --json '{}'", a, same)}) {
    const ProgramResult result = train(common + " " + flags);
    CHECK(result.status == 2);
    CHECK_THAT(result.errors, Contains("give each its own"));
    CHECK(folder.entries() == 1);
  }
  REQUIRE(train(fmt::format("{} --checkpoint '{}'", common, a)).status == 0);
  CHECK(train(fmt::format("--batch-size 4 --steps 2 --resume '{}' --json '{}'", a, same)).status == 2);
  CHECK(train(fmt::format("--batch-size 4 --steps 2 --resume '{}' --checkpoint '{}'", a, same)).status == 0);
  const std::string infer =
      fmt::format("'{}' infer --random --batches 1 --checkpoint '{}'", WARPLINE_PROGRAM, a);
  CHECK(warpline::test::run_program(fmt::format("{} --json '{}'", infer, same)).status == 2);
  CHECK(warpline::test::run_program(infer).status == 0);
}

TEST_CASE("streams that cannot be written: the run goes on, lost output is said", "[train]") {
  const auto shell = [](const std::string& arguments, const std::string& streams) {
    return warpline::test::run_program(
        fmt::format("sh -c \"'{}' {} {}\"", WARPLINE_PROGRAM, arguments, streams));
  };
  const std::string run = "train --data builtin --model mlp --steps 2 --batch-size 4 --threads 1";
  CHECK(shell(run, "2>/dev/full").status == 0);
  CHECK(shell(run, "2>&-").status == 0);
  CHECK(shell(run, ">&-").status == 0);
  CHECK(shell("train --steps 0", "2>&-").status == 2);
  CHECK(shell("op bogus a b", "2>/dev/full").status == 2);
  for (const char* list :
       {"op --list", "schedule --name gpipe --stages 2 --micro-batches 2 --csv", "doctor"}) {
    CHECK(shell(list, ">/dev/full").status == 1);
  }
}

TEST_CASE("a checkpoint that lacks or adds a tensor is not resumed", "[train][checkpoint]") {
  const TemporaryFolder folder;
  const std::string file = folder / "run";
  const std::string common = "--model mlp --batch-size 4 --threads 1";
  REQUIRE(train(fmt::format("{} --steps 1 --checkpoint '{}'", common, file)).status == 0);
  const SafetensorsFile whole = read_safetensors(file);
  const auto resumed = [&](const SafetensorsFile& changed) {
    write_safetensors(folder / "changed", changed);
    const ProgramResult result = train(fmt::format("{} --steps 2 --resume '{}'", common, folder / "changed"));
    CHECK((result.status == 0 || result.status == 2));
    return result.errors;
  };
  CHECK_THAT(resumed(whole), !Contains("--resume"));
  for (std::size_t i = 0; i < whole.tensors.size(); ++i) {
    SafetensorsFile less = whole;
    less.tensors.erase(less.tensors.begin() + static_cast<std::ptrdiff_t>(i));
    CHECK_THAT(resumed(less), Contains(fmt::format("has no tensor '{}'", whole.tensors[i].name)));
  }
  SafetensorsFile more = whole;
  more.tensors.push_back(whole.tensors[0]);
  more.tensors.back().name = "extra.weight";
  CHECK_THAT(resumed(more), Contains("holds 'extra.weight'"));
  for (const auto& [key, value] : std::map<std::string, std::string>{{"epoch", "9223372036854775807"},
                                                                     {"step", "0"},
                                                                     {"sample_position", "-1"},
                                                                     {"optimizer", "adam"}}) {
    SafetensorsFile lying = whole;
    lying.metadata[key] = value;
    CHECK(!resumed(lying).empty());
    CHECK_THAT(resumed(lying), !Contains("images/s"));
  }
}

TEST_CASE("a network that holds NaN infers NaN", "[train][checkpoint]") {
  const TemporaryFolder folder;
  const std::string file = folder / "run";
  REQUIRE(
      train(fmt::format("--model mlp --lr 1e38 --steps 3 --batch-size 4 --checkpoint '{}'", file)).status ==
      0);
  const ProgramResult result = warpline::test::run_program(fmt::format(
      "'{}' infer --data builtin --model mlp --index 1 --checkpoint '{}'", WARPLINE_PROGRAM, file));
  CHECK(result.status == 0);
  CHECK_THAT(result.out, Contains("nan %"));
}

TEST_CASE("one of several started processes is refused", "[train]") {
  for (const char* variable : {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"}) {
    const auto run = [&](int size) {
      return warpline::test::run_program(fmt::format(
          "{}={} '{}' train --data builtin --steps 1 --batch-size 4", variable, size, WARPLINE_PROGRAM));
    };
    const ProgramResult result = run(4);
    CHECK(result.status == 2);
    CHECK_THAT(result.errors, Contains(fmt::format("[{}] is 4", variable)));
    CHECK(run(1).status == 0);
  }
}

TEST_CASE("what does not fit together is refused, and nothing is written", "[train]") {
  const std::vector<std::string> bad = {"--unknown",
                                        "--strategy other",
                                        "--model other",
                                        "--device tpu",
                                        "--device cuda --strategy data",
                                        "--backend nccl",
                                        "--send-mode other",
                                        "--data-parallel 2",
                                        "--stages 2",
                                        "--strategy data --stages 2",
                                        "--strategy layer --schedule gpipe",
                                        "--strategy pipeline --schedule other",
                                        "--strategy pipeline --stages 12",
                                        "--strategy data --data-parallel 0",
                                        "--strategy layer --stages -1",
                                        "--batch-size 0",
                                        "--batch-size 2 --micro-batches 4",
                                        "--micro-batches 0",
                                        "--strategy data --data-parallel 8 --deterministic",
                                        "--lr nan",
                                        "--lr -1",
                                        "--momentum inf",
                                        "--weight-decay -0.1",
                                        "--optimizer other",
                                        "--optimizer adam --momentum 0.5",
                                        "--epochs 0",
                                        "--steps -1",
                                        "--threads 0",
                                        "--timeout 0",
                                        "--timeout nan",
                                        "--timeout 1e10",
                                        "--batch-size 9223372036854775807",
                                        "--batch-size 99999999999999999999",
                                        "--steps 010",
                                        "--steps 0x10",
                                        "--steps ''",
                                        "--lr ''",
                                        "--seed -1",
                                        "--seed 18446744073709551616",
                                        "--resume ''",
                                        "--checkpoint ''",
                                        "--cut ''",
                                        "--threads 100000",
                                        "--message-delay 1e10",
                                        "--data-dir /nonexistent",
                                        "--model vgg --depth 1",
                                        "--depth 4",
                                        "--model vgg --data mnist",
                                        "--resume /nonexistent",
                                        "--checkpoint /nonexistent/file",
                                        "--trace /nonexistent/f",
                                        "--strategy pipeline --cut nothing"};
  int refused = 0;
  for (const std::string& arguments : bad) {
    const TemporaryFolder folder;
    const ProgramResult result = warpline::test::run_program(
        fmt::format("'{}' train {} --json '{}'", WARPLINE_PROGRAM, arguments, folder / "r.json"));
    const bool good = result.status == 2 && !result.errors.empty() && folder.entries() == 0;
    if (!good)
      fmt::print("not refused with status 2: {} (status {})\n{}\n", arguments, result.status, result.errors);
    refused += good ? 1 : 0;
  }
  fmt::print("{} of {} bad uses refused\n", refused, bad.size());
  CHECK(refused == static_cast<int>(bad.size()));
}

TEST_CASE("a trace and a result file are whole JSON", "[train]") {
  const TemporaryFolder folder;
  const ProgramResult result = train(fmt::format("--steps 2 --strategy pipeline --json '{}' --trace '{}'",
                                                 folder / "run.json", folder / "trace.json"));
  REQUIRE(result.status == 0);
  CHECK(result.out.starts_with("batch 64 = 1 replica x 4 micro-batches x 16 images\n"));
  const nlohmann::json run = read_json(folder / "run.json");
  CHECK(run["losses"].size() == 2);
  CHECK(run["test_accuracy"].is_null());
  CHECK(run["data"] == "builtin");
  CHECK(run["peak_rss_bytes"] > 0);
  CHECK(run["bound"] > 1.0);
  CHECK(run["bound"] <= 2.0);
  CHECK(!read_json(folder / "trace.json").empty());
  CHECK(folder.entries() == 2);
}
