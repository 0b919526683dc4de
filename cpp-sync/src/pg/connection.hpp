// One connection to PostgreSQL through libpq. Calls block, but never beyond their time limit.
#pragma once

#include <libpq-fe.h>

#include <array>
#include <bitset>
#include <chrono>
#include <concepts>
#include <memory>
#include <span>
#include <string>

#include "pg/result.hpp"
#include "queries.hpp"

namespace tandem::pg {

using Clock = std::chrono::steady_clock;

/// Every function throws Error; the connection must not be used again then.
class Connection {
public:
    /// Connects until the deadline. With `prepare` each statement is prepared at its first use.
    Connection(const std::string& url, bool prepare, Clock::time_point deadline);

    /// Runs a statement with integers and strings as parameters; the result is binary.
    template <typename... Parameters>
    Result query(Query query, const Parameters&... parameters) {
        const std::array texts{to_text(parameters)...};
        std::array<const char*, sizeof...(parameters)> pointers{};
        for (std::size_t index = 0; index < texts.size(); ++index) {
            pointers[index] = texts[index].c_str();
        }
        return run(query, pointers);
    }

    /// Runs a text without parameters, such as BEGIN. Returns what the server says that it did.
    std::string command(const char* text);

    /// DISCARD ALL, which also drops what was prepared.
    void reset();

    /// Whether another request may have it: no failure and no open transaction.
    [[nodiscard]] bool reusable() const;

    /// Whether nothing has come in since. An idle connection is only ever told that it ends.
    [[nodiscard]] bool quiet() const;

private:
    static std::string to_text(std::integral auto number) { return std::to_string(number); }
    static std::string to_text(const std::string& text) { return text; }

    Result run(Query query, std::span<const char* const> parameters);
    void prepare(Query query, Clock::time_point deadline);
    Result answer(int sent, Clock::time_point deadline);
    PGresult* next_result(Clock::time_point deadline);
    void wait(short events, Clock::time_point deadline);
    [[noreturn]] void fail(const PGresult* result = nullptr);

    struct Finish {
        void operator()(PGconn* connection) const { PQfinish(connection); }
    };
    std::unique_ptr<PGconn, Finish> connection_;
    bool prepare_;
    bool failed_ = false;
    std::bitset<query_count> prepared_;
};

}  // namespace tandem::pg
