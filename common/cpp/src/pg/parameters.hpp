// The parameters of a statement, in binary format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/endian/conversion.hpp>

namespace tandem::pg {

struct Parameter {
    Parameter(std::int32_t number) : bytes(sizeof number, '\0') {
        boost::endian::store_big_s32(reinterpret_cast<unsigned char*>(bytes.data()), number);
    }
    Parameter(std::string_view text) : bytes(text) {}

    std::string bytes;
};

using Parameters = std::vector<Parameter>;

}  // namespace tandem::pg
