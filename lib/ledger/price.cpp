#include "ledger/price.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpt2/error.hpp"
#include "gpt2/file.hpp"
#include "gpt2/json.hpp"

namespace ledger {

namespace {

using nlohmann::json;

constexpr std::int64_t dollar = 1'000'000'000;  // nano-dollars
constexpr std::int64_t million = 1'000'000;     // tokens that a price is for
constexpr Money dearest{1000 * dollar};
constexpr Money cheapest{dollar / 10'000};  // but for what is given away
constexpr std::int64_t most_tokens = million * million;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A text as a message shows it: on one line, not too long, in plain ASCII.
std::string shown(std::string_view text) {
    std::string line(text.substr(0, 40));
    std::ranges::replace_if(
        line, [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
    return "'" + line + (text.size() > 40 ? "..." : "") + "'";
}

[[noreturn]] void fail(const std::string& where, const std::string& what) {
    throw gpt2::BadInput(where + ": " + what);
}

}  // namespace

// Money
// -----

Money operator+(Money a, Money b) {
    Money sum;
    if (__builtin_add_overflow(a.nano, b.nano, &sum.nano))
        throw gpt2::Error("money: a sum that is out of range");
    return sum;
}

Money& operator+=(Money& a, Money b) { return a = a + b; }

Money operator*(std::int64_t times, Money a) {
    Money product;
    if (__builtin_mul_overflow(times, a.nano, &product.nano))
        throw gpt2::Error("money: a product that is out of range");
    return product;
}

Money parse_dollars(std::string_view decimal, const std::string& where) {
    const auto refuse = [&] {
        fail(where,
             "expected dollars such as 0.20, with at most nine digits behind the "
             "point, found " +
                 shown(decimal));
    };
    const std::size_t point = std::min(decimal.find('.'), decimal.size());
    const std::string_view whole = decimal.substr(0, point);
    const std::string_view rest = decimal.substr(std::min(point + 1, decimal.size()));
    if (whole.empty() || rest.size() > 9 || (point < decimal.size() && rest.empty()) ||
        !std::ranges::all_of(whole, is_digit) || !std::ranges::all_of(rest, is_digit))
        refuse();
    std::int64_t nano = 0;
    for (const char c : whole) {
        nano = 10 * nano + (c - '0');
        if (nano > dollar) fail(where, "more than 1,000,000,000 dollars");
    }
    for (std::size_t i = 0; i < 9; ++i)
        nano = 10 * nano + (i < rest.size() ? rest[i] - '0' : 0);
    if (nano > dollar * dollar) fail(where, "more than 1,000,000,000 dollars");
    return {nano};
}

std::string to_string(Money money) {
    // The least amount has no positive counterpart as a signed number.
    const std::uint64_t size =
        money.nano < 0 ? 0 - std::uint64_t(money.nano) : std::uint64_t(money.nano);
    std::string digits =
        fmt::format("{}{}.{:09}", money.nano < 0 ? "-" : "", size / std::uint64_t(dollar),
                    size % std::uint64_t(dollar));
    const std::size_t cents = digits.size() - 7;
    digits.resize(std::max(cents, digits.find_last_not_of('0') + 1));
    return digits;
}

namespace {

void check(const Price& price, const Usage& usage) {
    const auto tokens = [](std::int64_t n) { return n >= 0 && n <= most_tokens; };
    const auto paid = [](Money each) { return each >= Money{} && each <= dearest; };
    if (!tokens(usage.input) || !tokens(usage.cached) || !tokens(usage.output) ||
        usage.cached > usage.input)
        fail("bill", fmt::format("expected 0 to 10^12 tokens, the cached ones among the "
                                 "input; found {} input, {} cached, {} output",
                                 usage.input, usage.cached, usage.output));
    if (!paid(price.input) || !paid(price.output) || !paid(price.cached_input))
        fail("bill", fmt::format("expected prices of 0 to 1,000 dollars; found {} input, "
                                 "{} cached, {} output",
                                 to_string(price.input), to_string(price.cached_input),
                                 to_string(price.output)));
}

}  // namespace

// [cost]
Money cost(const Price& price, const Usage& usage) {
    check(price, usage);
    Money sum;
    std::int64_t rest = 0;  // millionths of a nano-dollar
    const auto add = [&](std::int64_t tokens, Money each) {
        sum += tokens / million * each;
        rest += tokens % million * each.nano;
    };
    add(usage.input - usage.cached, price.input);
    add(usage.cached, price.cached_input);
    add(usage.output, price.output);
    return sum + Money{(rest + million / 2) / million};
}
// [cost]

Money per_million(double seconds, Money hour) {
    constexpr double hour_of = 3600;  // seconds
    const double nano = seconds / hour_of * double(million) * double(hour.nano);
    if (!(seconds >= 0) || hour < Money{} || !(nano <= double(dearest.nano)))
        fail("price", fmt::format("expected 0 to 1,000 dollars a million tokens, found "
                                  "{:.3g} s a token at {} an hour",
                                  seconds, to_string(hour)));
    return {std::llround(nano)};
}

// Price lists
// -----------

namespace {

/// "2026-10" or "2026-10-31".
bool is_date(std::string_view text) {
    if (text.size() != 7 && text.size() != 10) return false;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (i == 4 || i == 7 ? text[i] != '-' : !is_digit(text[i])) return false;
    const auto two = [&](std::size_t i) {
        return 10 * (text[i] - '0') + text[i + 1] - '0';
    };
    const auto within = [](int n, int most) { return n >= 1 && n <= most; };
    return within(two(5), 12) && (text.size() == 7 || within(two(8), 31));
}

Price read_entry(const json& entry, const std::string& where) {
    constexpr const char* members[] = {"model", "date",   "source",
                                       "input", "output", "cached_input"};
    if (!entry.is_object())
        fail(where, "expected an object, found " + gpt2::shown(entry));
    for (const auto& [name, value] : entry.items())
        if (std::ranges::find(members, name) == std::end(members))
            fail(where, "unknown member " + shown(name));
    const auto text = [&](const char* name) {
        const auto found = entry.find(name);
        if (found == entry.end()) fail(where, fmt::format("{}: missing", name));
        if (!found->is_string() || found->get_ref<const std::string&>().empty())
            fail(where,
                 fmt::format("{}: expected a text, found {}", name, gpt2::shown(*found)));
        return found->get<std::string>();
    };
    const auto price = [&](const char* name) {
        const std::string place = fmt::format("{}: {}", where, name);
        const Money money = parse_dollars(text(name), place);
        if (money > dearest)
            fail(place, "expected at most 1000 dollars, found " + to_string(money));
        if (money > Money{} && money < cheapest)
            fail(place, "expected dollars for a million tokens, found " +
                            to_string(money) + ", which looks like the price of one");
        return money;
    };
    Price read{.model = text("model"),
               .date = text("date"),
               .source = text("source"),
               .input = price("input"),
               .output = price("output"),
               .cached_input = price("cached_input")};
    if (!is_date(read.date))
        fail(where, "date: expected a date such as 2026-10, found " + shown(read.date));
    return read;
}

}  // namespace

std::vector<Price> parse_prices(std::string_view text, const std::string& where) {
    const json list = gpt2::parse_json(text, where);
    if (!list.is_array() || list.empty())
        fail(where, "expected a list of one price or more, found " + gpt2::shown(list));
    std::vector<Price> prices;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string place = fmt::format("{}: [{}]", where, i);
        Price price = read_entry(list[i], place);
        if (std::ranges::find(prices, price.model, &Price::model) != prices.end())
            fail(place, "model: " + shown(price.model) + " is listed twice");
        prices.push_back(std::move(price));
    }
    return prices;
}

std::vector<Price> read_prices(const std::filesystem::path& file) {
    constexpr std::uint64_t most = 1 << 20;  // bytes
    return parse_prices(gpt2::read_file(file, most), file.string());
}

const Price& find_price(const std::vector<Price>& prices, std::string_view model,
                        const std::string& where) {
    const auto found = std::ranges::find(prices, model, &Price::model);
    if (found != prices.end()) return *found;
    std::string known;
    for (const Price& price : prices)
        known += (known.empty() ? "" : ", ") + shown(price.model);
    fail(where, "no price of " + shown(model) + "; there are " + known);
}

}  // namespace ledger
