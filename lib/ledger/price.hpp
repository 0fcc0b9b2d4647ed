#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ledger {

/// An amount of money, exact: a whole number of nano-dollars, which are 10^-9 dollars.
/// Up to 9.2 billion dollars.
struct Money {
    std::int64_t nano = 0;  ///< nano-dollars

    /// By amount.
    auto operator<=>(const Money&) const = default;

    /// The nearest double, for tables and ratios; sums are made before.
    double dollars() const { return double(nano) / 1e9; }
};

/// @throws gpt2::Error for a sum that is out of range
Money operator+(Money a, Money b);

/// @throws gpt2::Error as operator+
Money& operator+=(Money& a, Money b);

/// @throws gpt2::Error for a product that is out of range
Money operator*(std::int64_t times, Money a);

/// The amount that a decimal such as "0.20" writes, without any rounding.
/// @param where  named in messages: the file and the place in it, or an option
/// @throws gpt2::BadInput for anything but digits, with at most nine of them behind a
///         point, and for more than 1,000,000,000 dollars
Money parse_dollars(std::string_view decimal, const std::string& where);

/// All of its digits, two or more behind the point: "0.20", "0.0132".
std::string to_string(Money money);

/// What a company asks for a model's work, per million tokens.
struct Price {
    std::string model;   ///< the name under which it is sold
    std::string date;    ///< when: "2026-10", or a day
    std::string source;  ///< where it was printed
    Money input;         ///< a million tokens read
    Money output;        ///< a million tokens written
    Money cached_input;  ///< a million tokens that a prefix cache knew
};

/// The tokens of one request, or of many.
struct Usage {
    std::int64_t input = 0;   ///< tokens of prompts, cached ones included
    std::int64_t cached = 0;  ///< those of them that a prefix cache knew
    std::int64_t output = 0;  ///< tokens written
};

/// What a request costs: its input without the cached part, that part, and its output,
/// each token at one price. Rounded once, at the end, to the nearest nano-dollar; half a
/// nano-dollar is rounded up. A price with no more than three digits behind the point is
/// a whole number of nano-dollars a token: then nothing is rounded.
/// @throws gpt2::BadInput unless 0 <= cached <= input, output >= 0, none is above 10^12,
///         and all prices are 0 to 1,000 dollars
Money cost(const Price& price, const Usage& usage);

/// What a million tokens cost on a machine that is rented by the hour, where one token
/// takes so many seconds: to the nearest nano-dollar.
/// @throws gpt2::BadInput for seconds or an hour below 0, and for more than 1,000 dollars
Money per_million(double seconds, Money hour);

/// A price list: an array of objects with the members of Price, all texts.
/// @param where  named in messages, such as the file
/// @throws gpt2::BadInput with the entry and the member for anything else: a member that
///         is missing, unknown or there twice; an empty text; a date of another form; a
///         price that is no decimal from 0 to 1,000, or so small that it must be that of
///         one token; a model listed twice; an empty list
std::vector<Price> parse_prices(std::string_view json, const std::string& where);

/// The same for a file of at most 1 MiB.
/// @throws gpt2::BadInput as parse_prices, and where the file cannot be read
std::vector<Price> read_prices(const std::filesystem::path& file);

/// The price of a model.
/// @param where  as parse_prices
/// @throws gpt2::BadInput where the list has no model of that name; it says which it has
const Price& find_price(const std::vector<Price>& prices, std::string_view model,
                        const std::string& where);

}  // namespace ledger
