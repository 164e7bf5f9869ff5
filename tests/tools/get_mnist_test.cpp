// tools/get_mnist against a server of our own: all four files and checked, or none, and an error that says
// why.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/core.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/models/files.h"

using namespace warpline;
using namespace warpline::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

// What the server sends for a path, and the length that it announces: more than it sends is a broken
// download.
struct Reply {
  Bytes body;
  std::size_t announced;
};

// HTTP/1.0 on the loopback interface, one request at a time.
class Server {
 public:
  explicit Server(std::map<std::string, Reply> replies) : replies_(std::move(replies)) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, 8) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw Failure("no port to listen on");
    }
    url_ = fmt::format("http://127.0.0.1:{}/mnist", ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~Server() { stop(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const std::string& url() const { return url_; }
  // Ends the server and tells how many requests came.
  int stop() {
    if (thread_.joinable()) {
      shutdown(listener_, SHUT_RDWR);  // accept() returns
      thread_.join();
      close(listener_);
    }
    return requests_;
  }

 private:
  void serve() {
    for (int client = 0; (client = accept(listener_, nullptr, nullptr)) >= 0; close(client)) {
      ++requests_;
      std::string request;
      std::array<char, 1024> piece{};
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t got = recv(client, piece.data(), piece.size(), 0);
        if (got <= 0) break;
        request.append(piece.data(), static_cast<std::size_t>(got));
      }
      const std::size_t begin = request.find('/');
      const auto reply = replies_.find(request.substr(begin, request.find(' ', begin) - begin));
      if (reply == replies_.end()) {
        put(client, "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        continue;
      }
      put(client, fmt::format("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", reply->second.announced));
      put(client, std::string(reply->second.body.begin(), reply->second.body.end()));
    }
  }
  static void put(int client, const std::string& text) {
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t now = send(client, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (now <= 0) return;
      sent += static_cast<std::size_t>(now);
    }
  }

  int listener_ = -1;
  int requests_ = 0;
  std::string url_;
  std::map<std::string, Reply> replies_;
  std::thread thread_;
};

struct Outcome {
  int status;
  std::string output;  // both streams
};

Outcome get_mnist(const std::string& arguments) {
  const std::string command = fmt::format("{}/tools/get_mnist {} 2>&1", WARPLINE_SOURCE_ROOT, arguments);
  std::FILE* pipe = popen(command.c_str(), "r");
  Outcome outcome{-1, ""};
  std::array<char, 4096> piece{};
  while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), pipe)) {
    outcome.output.append(piece.data(), got);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  return outcome;
}

const std::array<std::string, 4> kNames = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                           "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

// A small set, its checksums, and a server that has it.
struct Mirror {
  Mirror() {
    fs::create_directory(folder.path() / "origin");
    write_mnist(folder.path() / "origin", 50, 20);
    std::string lines;
    for (const std::string& name : kNames) {
      plain[name] = read_file(folder.path() / "origin" / name);
      const Bytes packed = gzip(plain[name]);
      replies["/mnist/" + name + ".gz"] = {packed, packed.size()};
      std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
      unsigned size = 0;
      EVP_Digest(plain[name].data(), plain[name].size(), digest.data(), &size, EVP_sha256(), nullptr);
      for (unsigned i = 0; i < size; ++i) lines += fmt::format("{:02x}", digest[i]);
      lines += "  " + name + "\n";
    }
    write_file(sums(), Bytes(lines.begin(), lines.end()));
  }
  fs::path sums() const { return folder.path() / "sums"; }
  fs::path target() const { return folder.path() / "data" / "mnist"; }
  Reply& reply(const std::string& name) { return replies.at("/mnist/" + name + ".gz"); }
  // Serves `replies` to one call.
  Outcome fetch() {
    Server server(replies);
    Outcome outcome = get_mnist(fmt::format("--url {} --checksums {} --timeout 5 {}", server.url(),
                                            sums().string(), target().string()));
    requests = server.stop();
    return outcome;
  }
  bool whole() const {
    return std::all_of(kNames.begin(), kNames.end(), [&](const std::string& name) {
      const fs::path file = target() / (name + ".gz");
      return fs::exists(file) && read_file(file) == gzip(plain.at(name));
    });
  }

  TemporaryFolder folder;
  std::map<std::string, Bytes> plain;
  std::map<std::string, Reply> replies;
  int requests = 0;
};

}  // namespace

TEST_CASE("get_mnist fetches four files, once", "[get_mnist]") {
  Mirror mirror;
  Outcome outcome = mirror.fetch();
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  CHECK(mirror.requests == 4);
  CHECK(mirror.whole());
  CHECK(std::distance(fs::directory_iterator(mirror.target()), {}) == 4);  // nothing else stays

  outcome = mirror.fetch();
  CHECK(outcome.status == 0);
  CHECK(mirror.requests == 0);
  CHECK_THAT(outcome.output, Contains("t10k-labels-idx1-ubyte: there already"));

  // A damaged file is fetched again, and only that one; a plain one that is whole counts as there.
  write_file(mirror.target() / (kNames[1] + ".gz"), {1, 2, 3});
  fs::remove(mirror.target() / (kNames[2] + ".gz"));
  write_file(mirror.target() / kNames[2], mirror.plain[kNames[2]]);
  outcome = mirror.fetch();
  CHECK(outcome.status == 0);
  CHECK(mirror.requests == 1);
  CHECK(read_file(mirror.target() / (kNames[1] + ".gz")) == gzip(mirror.plain[kNames[1]]));
}

TEST_CASE("get_mnist writes nothing when a file cannot be had whole", "[get_mnist]") {
  const auto fails = [](const std::function<void(Mirror&)>& damage, const std::string& reason) {
    Mirror mirror;
    damage(mirror);
    const Outcome outcome = mirror.fetch();
    INFO(outcome.output);
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.output,
               Contains(reason) && Contains("t10k-images-idx3-ubyte.gz") && !Contains("Traceback"));
    CHECK(!fs::exists(mirror.folder.path() / "data"));
  };
  const std::string name = "t10k-images-idx3-ubyte";
  fails([&](Mirror& m) { m.replies.erase("/mnist/" + name + ".gz"); }, "404 Not Found");
  fails([&](Mirror& m) { m.reply(name).announced += 1; }, "broke off");
  fails([&](Mirror& m) { m.reply(name).body.resize(20); }, "broke off");
  fails(  // cut at the server: the length is right
      [&](Mirror& m) {
        m.reply(name).body.pop_back();
        m.reply(name).announced -= 1;
      },
      "not a whole gzip file");
  fails([&](Mirror& m) { m.reply(name).body[30] ^= 1; }, "not a whole gzip file");
  fails([&](Mirror& m) { m.reply(name) = m.reply("train-images-idx3-ubyte"); }, "another checksum");
  fails([&](Mirror& m) { m.reply(name) = {{'<', 'h', 't', 'm', 'l', '>'}, 6}; }, "not a whole gzip file");
}

TEST_CASE("get_mnist leaves what is there alone when it fails", "[get_mnist]") {
  Mirror mirror;
  fs::create_directories(mirror.target());
  write_file(mirror.target() / (kNames[0] + ".gz"), {9, 9});
  mirror.replies.erase("/mnist/" + kNames[3] + ".gz");
  CHECK(mirror.fetch().status == 1);
  CHECK(std::distance(fs::directory_iterator(mirror.target()), {}) == 1);
  CHECK(read_file(mirror.target() / (kNames[0] + ".gz")) == Bytes{9, 9});
}

TEST_CASE("get_mnist refuses what it cannot do", "[get_mnist]") {
  Mirror mirror;
  const auto refused = [](const std::string& arguments, const std::string& reason) {
    const Outcome outcome = get_mnist(arguments);
    INFO(arguments << "\n" << outcome.output);
    CHECK(outcome.status == 2);
    CHECK_THAT(outcome.output, Contains(reason) && !Contains("Traceback"));
  };
  const std::string target = mirror.target().string();
  refused("--nonsense", "unrecognized arguments");
  refused(target + " " + target, "unrecognized arguments");
  refused("--timeout 0 " + target, "--timeout");
  refused("--timeout nan " + target, "--timeout");
  refused("--url file:///etc " + target, "http");
  refused("--checksums /nowhere " + target, "/nowhere: cannot be read");
  write_file(mirror.sums(), {'a', '\n'});
  refused("--checksums " + mirror.sums().string() + " " + target, "line 1");
  refused("--url http://127.0.0.1:1 /dev/null/mnist", "/dev/null/mnist: cannot be written");
  fs::create_directories(mirror.target());
  write_file(mirror.target() / kNames[0], {1});
  refused("--url http://127.0.0.1:1 " + target, "remove it first");
  CHECK(std::distance(fs::directory_iterator(mirror.target()), {}) == 1);
}

TEST_CASE("get_mnist says when nobody answers", "[get_mnist]") {
  const TemporaryFolder folder;
  // Port 1 is the reserved tcpmux: nobody listens there.
  const Outcome outcome = get_mnist("--url http://127.0.0.1:1/mnist " + (folder.path() / "new").string());
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.output,
             Contains("http://127.0.0.1:1/mnist/train-images-idx3-ubyte.gz") && Contains("refused"));
  CHECK(!fs::exists(folder.path() / "new"));
}
