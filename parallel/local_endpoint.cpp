#include "parallel/local_endpoint.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <thread>

#include "engine/transfer.h"
#include "parallel/communicator.h"

namespace warpline::parallel::local {

Endpoint::Endpoint(std::shared_ptr<World> world, std::shared_ptr<Domain> domain, int rank, Device device)
    : world_(std::move(world)),
      domain_(std::move(domain)),
      rank_(rank),
      context_(device, 1),
      random_(world_->options.order_seed * 1000003 + static_cast<std::uint64_t>(rank)) {}

void Endpoint::throw_if_over() {
  world_->throw_if_failed(world_rank());
  if (me().state.cancelled)
    warpline::fail<Cancelled>("communicator", "{} leaves with an error", domain_->members.who(rank_));
}

void Endpoint::fail(const Disagreement& disagreement) {
  world_->fail({{disagreement.text, "MismatchError"}, world_rank(), disagreement.world_ranks});
}

// The messages of one group, on their way together. While it lives it holds the lock, except where it copies
// or waits; when it ends, however it does, no other thread touches the messages' tensors.
class Endpoint::Exchange {
 public:
  Exchange(Endpoint& endpoint, std::span<const Message> messages)
      : endpoint_(endpoint),
        world_(*endpoint.world_),
        domain_(*endpoint.domain_),
        messages_(messages),
        lock_(world_.mutex),
        order_(messages.size()),
        done_(messages.size(), false),
        posted_(messages.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (world_.options.order_seed != 0) std::shuffle(order_.begin(), order_.end(), endpoint_.random_);
  }
  ~Exchange() {
    if (!lock_.owns_lock()) lock_.lock();
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      if (posted_[i]) withdraw(posted_[i], channel(messages_[i]));
    }
    endpoint_.me().state.waits.clear();
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void run() {
    while (true) {
      endpoint_.throw_if_over();
      next_arrival_.reset();
      const bool progress = step();
      if (std::all_of(done_.begin(), done_.end(), [](bool done) { return done; })) return;
      if (progress) continue;
      std::vector<Wait>& waits = endpoint_.me().state.waits;
      for (std::size_t i = 0; i < messages_.size(); ++i) {
        if (done_[i]) continue;
        waits.push_back({messages_[i].peer, messages_[i].sends, messages_[i].call});
        give_up_on_the_dead(messages_[i]);
      }
      if (world_.first) continue;
      if (next_arrival_) {
        endpoint_.me().wake.wait_until(lock_, *next_arrival_);
      } else {
        endpoint_.me().wake.wait(lock_);
      }
      waits.clear();
    }
  }

 private:
  Channel& channel(const Message& message) {
    return message.sends ? domain_.channel(endpoint_.rank_, message.peer)
                         : domain_.channel(message.peer, endpoint_.rank_);
  }

  // Tries each message once; of those with one peer and direction, only the first that has not begun.
  bool step() {
    bool progress = false;
    for (const std::size_t i : order_) {
      if (done_[i] || !is_next(i)) continue;
      progress |= messages_[i].sends ? send(i) : recv(i);
    }
    return progress;
  }

  bool is_next(std::size_t i) const {
    for (std::size_t k = 0; k < i; ++k) {
      if (messages_[k].sends == messages_[i].sends && messages_[k].peer == messages_[i].peer && !done_[k] &&
          !posted_[k]) {
        return false;
      }
    }
    return true;
  }

  bool send(std::size_t i) {
    if (posted_[i]) {
      done_[i] = posted_[i]->state == Parcel::State::Received;
      if (done_[i]) posted_[i].reset();
      return done_[i];
    }
    const Message& message = messages_[i];
    Channel& link = channel(message);
    const SendMode mode = world_.options.send_mode;
    const bool buffered = mode != SendMode::Rendezvous;
    if (mode == SendMode::Bounded && link.buffered >= world_.options.buffers) return false;
    auto parcel = std::make_shared<Parcel>();
    parcel->message = message;
    parcel->buffered = buffered;
    if (buffered) {
      lock_.unlock();
      parcel->message.tensor = copy_to(endpoint_.context_, message.tensor);
      endpoint_.context_.synchronize();
      lock_.lock();
      ++link.buffered;  // only this thread sends on this link
    }
    const auto delay = std::chrono::duration<double>(world_.options.message_delay_seconds);
    link.free_from =
        std::max(Clock::now(), link.free_from) + std::chrono::duration_cast<Clock::duration>(delay);
    parcel->arrives = link.free_from;
    link.parcels.push_back(parcel);
    if (!buffered) posted_[i] = std::move(parcel);
    done_[i] = buffered;
    domain_.peer(message.peer).wake.notify_all();
    return true;
  }

  bool recv(std::size_t i) {
    const Message& message = messages_[i];
    Channel& link = channel(message);
    if (link.parcels.empty()) return false;
    const std::shared_ptr<Parcel> parcel = link.parcels.front();
    if (const auto found = disagreement(domain_.members, {endpoint_.rank_, message.envelope()},
                                        {message.peer, parcel->message.envelope()})) {
      endpoint_.fail(*found);
      return true;
    }
    if (parcel->arrives > Clock::now()) {
      next_arrival_ = std::min(next_arrival_.value_or(parcel->arrives), parcel->arrives);
      return false;
    }
    link.parcels.pop_front();
    parcel->state = Parcel::State::Taken;
    lock_.unlock();
    device_to_device(message.tensor.data(), parcel->message.tensor.data(),
                     static_cast<std::size_t>(message.tensor.bytes()), endpoint_.context_.stream());
    endpoint_.context_.synchronize();
    lock_.lock();
    parcel->message.tensor = {};  // the sender is its tensor's only owner again
    parcel->state = Parcel::State::Received;
    if (parcel->buffered) --link.buffered;
    done_[i] = true;
    domain_.peer(message.peer).wake.notify_all();
    return true;
  }

  // A peer that has left neither sends nor receives any more.
  void give_up_on_the_dead(const Message& message) {
    const RankState& peer = domain_.peer(message.peer).state;
    if (!peer.left || (!message.sends && !channel(message).parcels.empty())) return;
    const std::string text =
        waits_for_one_that_has_ended(domain_.members, endpoint_.rank_, message.call, message.peer, peer.last);
    world_.fail({{text, "PeerError"}, endpoint_.world_rank(), {endpoint_.world_rank()}});
  }

  void withdraw(const std::shared_ptr<Parcel>& parcel, Channel& link) {
    if (parcel->state == Parcel::State::Posted) {
      link.parcels.erase(std::find(link.parcels.begin(), link.parcels.end(), parcel));
    }
    endpoint_.me().wake.wait(lock_, [&] { return parcel->state != Parcel::State::Taken; });
  }

  Endpoint& endpoint_;
  World& world_;
  Domain& domain_;
  std::span<const Message> messages_;
  std::unique_lock<std::mutex> lock_;
  std::vector<std::size_t> order_;
  std::vector<bool> done_;
  std::vector<std::shared_ptr<Parcel>> posted_;  // rendezvous sends that are not done
  std::optional<Clock::time_point> next_arrival_;
};

void Endpoint::exchange(std::span<const Message> messages) {
  context_.synchronize();  // a peer reads what is sent
  if (world_->options.order_seed != 0) {
    for (auto turns = random_() % 4; turns > 0; --turns) std::this_thread::yield();
  }
  Exchange(*this, messages).run();
}

void Endpoint::begin(std::span<const Signature> calls, std::int64_t collective) {
  const std::lock_guard lock(world_->mutex);
  throw_if_over();
  me().state.current = calls.front();
  last_of_current_ = calls.back();
  if (collective < 0) return;
  if (const auto found = domain_->order.begin(domain_->members, rank_, calls.front(), collective)) {
    fail(*found);
    throw_if_over();
  }
}

void Endpoint::end() {
  const std::lock_guard lock(world_->mutex);
  me().state.last = last_of_current_;
  me().state.current.reset();
}

std::unique_ptr<PointToPoint> Endpoint::child(const std::vector<int>& members, std::int64_t collective,
                                              const std::string& name) {
  const int rank = static_cast<int>(std::find(members.begin(), members.end(), rank_) - members.begin());
  const std::lock_guard lock(world_->mutex);
  return std::make_unique<Endpoint>(world_, world_->child(*domain_, collective, members, name), rank,
                                    context_.device());
}

void Endpoint::fail(std::exception_ptr error) {
  CaughtError caught = describe(error);
  const std::lock_guard lock(world_->mutex);
  world_->fail({std::move(caught), world_rank(), {world_rank()}});
}

void Endpoint::check() const {
  const std::lock_guard lock(world_->mutex);
  world_->throw_if_failed(world_rank());
}

void Endpoint::time_out(const Signature& awaited, double seconds) {
  const std::lock_guard lock(world_->mutex);
  const std::string text = waited_too_long(domain_->members, rank_, awaited, seconds, world_->states());
  world_->fail({{text, "TimeoutError"}, world_rank(), {world_rank()}});
}

void Endpoint::cancel() {
  const std::lock_guard lock(world_->mutex);
  me().state.cancelled = true;
  me().wake.notify_all();
}

void Endpoint::leave() {
  const std::lock_guard lock(world_->mutex);
  if (me().state.cancelled) return;
  me().state.left = true;
  for (Peer& peer : domain_->peers) peer.wake.notify_all();
}

}  // namespace warpline::parallel::local
