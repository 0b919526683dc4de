// The parameters of a statement, in binary format.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <boost/endian/conversion.hpp>

namespace tandem::pg {

/// A text must stay where it is until the statement is answered.
class Parameters {
public:
    static constexpr std::size_t most = 3;

    Parameters() = default;

    template <typename... Values>
        requires(sizeof...(Values) > 0 && sizeof...(Values) <= most &&
                 ((std::same_as<Values, std::int32_t> ||
                   std::convertible_to<Values, std::string_view>) &&
                  ...))
    Parameters(const Values&... values) {
        (add(values), ...);
    }

    [[nodiscard]] int size() const { return static_cast<int>(size_); }

    /// As libpq takes them; into this object, so valid as long as it stays where it is.
    [[nodiscard]] std::array<const char*, most> values() const {
        std::array<const char*, most> pointers{};
        for (std::size_t index = 0; index < size_; ++index) {
            const auto* text = texts_[index];
            pointers[index] = text != nullptr ? text : numbers_[index].data();
        }
        return pointers;
    }
    [[nodiscard]] const int* lengths() const { return lengths_.data(); }
    [[nodiscard]] static const int* formats() { return all_binary.data(); }

private:
    using Number = std::array<char, sizeof(std::int32_t)>;

    void add(std::int32_t number) {
        boost::endian::endian_store<std::int32_t, sizeof number, boost::endian::order::big>(
            reinterpret_cast<unsigned char*>(numbers_[size_].data()), number);
        lengths_[size_++] = sizeof number;
    }

    void add(std::string_view text) {
        texts_[size_] = text.empty() ? "" : text.data();  // a null pointer would be the SQL null
        lengths_[size_++] = static_cast<int>(text.size());
    }

    static constexpr std::array<int, most> all_binary{1, 1, 1};

    std::array<const char*, most> texts_{};
    std::array<Number, most> numbers_{};
    std::array<int, most> lengths_{};
    std::size_t size_ = 0;
};

}  // namespace tandem::pg
