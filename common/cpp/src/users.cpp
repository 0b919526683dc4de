#include "users.hpp"

namespace tandem {

std::uint64_t Users::create() {
    const std::unique_lock lock(mutex_);
    ids_.insert(ids_.end(), next_);
    return next_++;
}

bool Users::contains(std::uint64_t id) const {
    const std::shared_lock lock(mutex_);
    return ids_.contains(id);
}

bool Users::remove(std::uint64_t id) {
    const std::unique_lock lock(mutex_);
    return ids_.erase(id) > 0;
}

std::string Users::list() const {
    const std::shared_lock lock(mutex_);
    std::string text;
    for (const auto id : ids_) {
        if (!text.empty()) {
            text.push_back(',');
        }
        text.append(std::to_string(id));
    }
    return text;
}

}  // namespace tandem
