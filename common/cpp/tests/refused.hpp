// Why a call refuses what it was given.
#pragma once

#include <catch2/catch_test_macros.hpp>

#include "errors.hpp"

template <typename Function>
tandem::Reason reason_of(Function function) {
    try {
        function();
    } catch (const tandem::Refusal& refusal) {
        return refusal.reason;
    }
    FAIL("it was not refused");
    return {};
}
