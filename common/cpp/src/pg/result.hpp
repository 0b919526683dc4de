// Answers of the server and their binary format.
#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::pg {

/// The server refused a statement, or answered what cannot be understood: a bug.
class Error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The database is away or too busy, or did not answer in time.
class Unavailable : public Error {
    using Error::Error;
};

/// Decoders of the binary format; they throw Error when the bytes are not such a value.
std::int32_t decode_int4(std::string_view bytes);
/// RFC 3339 in UTC, cut to seconds.
std::string decode_timestamptz(std::string_view bytes);
std::vector<std::string> decode_text_array(std::string_view bytes);

/// A row of a result in binary format. Valid as long as the result.
class Row {
public:
    Row(const PGresult* result, int row) : result_(result), row_(row) {}

    [[nodiscard]] bool is_null(int column) const { return PQgetisnull(result_, row_, column) != 0; }
    [[nodiscard]] std::int32_t int4(int column) const { return decode_int4(bytes(column)); }
    /// Also a time, in RFC 3339.
    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] std::vector<std::string> text_array(int column) const {
        return decode_text_array(bytes(column));
    }

private:
    [[nodiscard]] std::string_view bytes(int column) const;

    const PGresult* result_;
    int row_;
};

/// The answer to one statement.
class Result {
public:
    /// Empty until there is an answer.
    Result() = default;
    explicit Result(PGresult* result) : result_(result) {}

    [[nodiscard]] const PGresult* get() const { return result_.get(); }
    [[nodiscard]] int size() const { return PQntuples(result_.get()); }
    [[nodiscard]] bool empty() const { return size() == 0; }
    [[nodiscard]] Row operator[](int row) const { return {result_.get(), row}; }
    /// What the server says that it did: `COMMIT`, `INSERT 0 1`.
    [[nodiscard]] std::string_view command() const { return PQcmdStatus(result_.get()); }

    [[nodiscard]] auto rows() const {
        return std::views::iota(0, size()) |
               std::views::transform([this](int row) { return (*this)[row]; });
    }

private:
    struct Clear {
        void operator()(PGresult* result) const { PQclear(result); }
    };
    std::unique_ptr<PGresult, Clear> result_;
};

}  // namespace tandem::pg
