// Reading a request's body from a blocking stream.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>

#include "exchange.hpp"

namespace tandem {

/// Beast reads as much as the buffer has room for, and by itself it makes room for 512 bytes.
template <typename Stream>
void read_body_from(Stream& stream, boost::beast::flat_buffer& buffer, Parser& parser,
                    boost::system::error_code& error) {
    buffer.reserve(body_read);
    parser.body_limit(body_limit);
    boost::beast::http::read(stream, buffer, parser, error);
}

}  // namespace tandem
