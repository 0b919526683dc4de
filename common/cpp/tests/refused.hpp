// The status with which a call refuses what it was given.
#pragma once

#include <catch2/catch_test_macros.hpp>

#include "errors.hpp"

template <typename Function>
tandem::http::status status_of(Function function) {
    try {
        function();
    } catch (const tandem::Refusal& refusal) {
        return refusal.status;
    }
    FAIL("it was not refused");
    return {};
}
