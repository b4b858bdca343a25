// SPDX-License-Identifier: MIT
// Values that have no form of their own here are shown as DuckDB itself writes them.
#include <cstdint>
#include <cstdlib>
#include <iterator>

#include "sql/value_reader.h"

namespace fathom::sql {

namespace {

constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// A DECIMAL's digits as DuckDB boxes them: widened to 128 bits.
duckdb_hugeint widened(std::int64_t value) {
  return {static_cast<std::uint64_t>(value), value < 0 ? -1 : 0};
}

}  // namespace

Value ValueReader::read_by_text(idx_t row) const {
  duckdb_value value = boxed(row);
  if (value == nullptr) return {};
  std::string text = take_text(*api_, api_->get_varchar(value));
  api_->destroy_value(&value);
  return text;
}

duckdb_value ValueReader::boxed(idx_t row) const {
  switch (id_) {
    case DUCKDB_TYPE_HUGEINT:
      return api_->create_hugeint(at<duckdb_hugeint>(row));
    case DUCKDB_TYPE_UHUGEINT:
      return api_->create_uhugeint(at<duckdb_uhugeint>(row));
    case DUCKDB_TYPE_DATE:
      return api_->create_date(at<duckdb_date>(row));
    case DUCKDB_TYPE_TIME:
      return api_->create_time(at<duckdb_time>(row));
    case DUCKDB_TYPE_TIME_NS:
      return api_->create_time_ns(at<duckdb_time_ns>(row));
    case DUCKDB_TYPE_TIME_TZ:
      return api_->create_time_tz_value(at<duckdb_time_tz>(row));
    case DUCKDB_TYPE_TIMESTAMP:
      return api_->create_timestamp(at<duckdb_timestamp>(row));
    case DUCKDB_TYPE_TIMESTAMP_TZ:
      return api_->create_timestamp_tz(at<duckdb_timestamp>(row));
    case DUCKDB_TYPE_TIMESTAMP_S:
      return api_->create_timestamp_s(at<duckdb_timestamp_s>(row));
    case DUCKDB_TYPE_TIMESTAMP_MS:
      return api_->create_timestamp_ms(at<duckdb_timestamp_ms>(row));
    case DUCKDB_TYPE_TIMESTAMP_NS:
      return api_->create_timestamp_ns(at<duckdb_timestamp_ns>(row));
    case DUCKDB_TYPE_INTERVAL:
      return api_->create_interval(at<duckdb_interval>(row));
    case DUCKDB_TYPE_UUID: {
      // Stored with the first bit flipped, so that it sorts as a signed number.
      const auto stored = at<duckdb_hugeint>(row);
      return api_->create_uuid(
          {stored.lower, static_cast<std::uint64_t>(stored.upper) ^ (std::uint64_t{1} << 63U)});
    }
    case DUCKDB_TYPE_BIT: {
      std::string bytes(text(row));
      return api_->create_bit({reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
    }
    default:
      return nullptr;
  }
}

// A number where a double shows all its digits, else text.
Value ValueReader::read_decimal(idx_t row) const {
  constexpr std::int64_t kExactInDouble = std::int64_t{1} << 53U;
  duckdb_hugeint digits{};
  switch (api_->decimal_internal_type(type_.get())) {
    case DUCKDB_TYPE_SMALLINT:
      digits = widened(at<std::int16_t>(row));
      break;
    case DUCKDB_TYPE_INTEGER:
      digits = widened(at<std::int32_t>(row));
      break;
    case DUCKDB_TYPE_BIGINT:
      digits = widened(at<std::int64_t>(row));
      break;
    default:
      digits = at<duckdb_hugeint>(row);
  }
  const auto low = static_cast<std::int64_t>(digits.lower);
  const std::uint8_t scale = api_->decimal_scale(type_.get());
  const bool fits = digits.upper == (low < 0 ? -1 : 0) && std::llabs(low) <= kExactInDouble;
  // Both are exact in a double, so that the quotient is the double nearest to the decimal.
  if (fits && scale < std::size(kPowersOfTen))
    return static_cast<double>(low) / kPowersOfTen[scale];
  duckdb_value value = api_->create_decimal({api_->decimal_width(type_.get()), scale, digits});
  std::string text = take_text(*api_, api_->get_varchar(value));
  api_->destroy_value(&value);
  return text;
}

}  // namespace fathom::sql
