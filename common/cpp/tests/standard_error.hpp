// What is written on standard error meanwhile.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>

class StandardError {
public:
    StandardError() : kept_(::dup(STDERR_FILENO)), file_(std::tmpfile(), &std::fclose) {
        ::dup2(::fileno(file_.get()), STDERR_FILENO);
    }
    ~StandardError() { restore(); }
    StandardError(const StandardError&) = delete;
    StandardError& operator=(const StandardError&) = delete;

    std::string text() {
        restore();
        std::rewind(file_.get());
        std::string text;
        std::array<char, 4096> buffer{};
        while (const auto read = std::fread(buffer.data(), 1, buffer.size(), file_.get())) {
            text.append(buffer.data(), read);
        }
        return text;
    }

private:
    void restore() {
        if (kept_ >= 0) {
            std::fflush(stderr);
            ::dup2(kept_, STDERR_FILENO);
            ::close(kept_);
            kept_ = -1;
        }
    }

    int kept_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};
