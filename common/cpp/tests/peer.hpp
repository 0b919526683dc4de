// A server that is allowed by the protocol and that PostgreSQL is not asked to be: it sends eight
// megabytes of notices before it reads a statement.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>
#include <thread>

class TalkativePeer {
public:
    static constexpr std::size_t size = 8 << 20;

    TalkativePeer() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), length) == 0);
        REQUIRE(::listen(listener_, 1) == 0);
        REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) == 0);
        port_ = ntohs(address.sin_port);
        thread_ = std::jthread([this] { serve(); });
    }
    ~TalkativePeer() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }
    TalkativePeer(const TalkativePeer&) = delete;
    TalkativePeer& operator=(const TalkativePeer&) = delete;

    [[nodiscard]] std::string url() const {
        return "postgresql://u:p@127.0.0.1:" + std::to_string(port_) +
               "/d?sslmode=disable&gssencmode=disable";
    }

    /// A statement of that size.
    static std::string statement() { return "select" + std::string(size, ' ') + "1"; }

private:
    /// A message: its type, its length in network order, its content.
    static std::string message(char type, std::string_view content) {
        const auto length = htonl(static_cast<std::uint32_t>(content.size() + 4));
        std::string text(1, type);
        text.append(reinterpret_cast<const char*>(&length), sizeof length);
        return text.append(content);
    }

    static void send_all(int socket, std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) {
                return;
            }
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }

    void serve() const {
        using namespace std::literals;
        const int socket = ::accept(listener_, nullptr, nullptr);
        std::array<char, 65'536> buffer{};
        ::recv(socket, buffer.data(), buffer.size(), 0);  // the startup message is short
        send_all(socket, message('R', "\0\0\0\0"sv) + message('Z', "I"));
        const auto notice = message('N', "SNOTICE\0C00000\0M"s + std::string(4096, '.') + "\0\0"s);
        std::string notices;
        while (notices.size() < size) {
            notices += notice;
        }
        // Not before the statement has begun to come, so that it is no login message.
        ::recv(socket, buffer.data(), 1, MSG_PEEK);
        send_all(socket, notices);
        for (std::size_t read = 0; read < size;) {
            const auto more = ::recv(socket, buffer.data(), buffer.size(), 0);
            if (more <= 0) {
                break;
            }
            read += static_cast<std::size_t>(more);
        }
        send_all(socket, message('C', "SELECT 0\0"sv) + message('Z', "I"));
        while (::recv(socket, buffer.data(), buffer.size(), 0) > 0) {
        }
        ::close(socket);
    }

    int listener_;
    int port_ = 0;
    std::jthread thread_;
};
