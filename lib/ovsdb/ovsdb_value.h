// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Values of OVSDB as RFC 7047, section 5.1, writes them: atoms, sets, maps, and rows of them.
//
// Readers believe nothing: what is not of the shape asked for gives false, and `*out` is
// unspecified. A set of one element may be written as the element alone, so every reader of sets
// takes atoms.

#ifndef TRUMPET_LIB_OVSDB_OVSDB_VALUE_H
#define TRUMPET_LIB_OVSDB_OVSDB_VALUE_H

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace trumpet {

using Json = nlohmann::json;

// The column of a row; null if the row is no object or does not have it.
const Json* FindColumn(const Json& row, const char* column);

bool ReadOvsdb(const Json& value, std::string* out);
bool ReadOvsdb(const Json& value, int64_t* out);
bool ReadOvsdb(const Json& value, bool* out);
bool ReadOvsdb(const Json& value, std::vector<std::string>* out);  // set of strings
bool ReadOvsdb(const Json& value, std::vector<int64_t>* out);      // set of integers
bool ReadOvsdb(const Json& value, std::map<std::string, std::string>* out);
bool ReadOvsdbUuid(const Json& value, std::string* out);                // ["uuid", ...]
bool ReadOvsdbUuids(const Json& value, std::vector<std::string>* out);  // set of them

// The column of a row, or false if it is not there or of another shape.
template <typename T>
bool ReadColumn(const Json& row, const char* column, T* out) {
  const Json* value = FindColumn(row, column);
  return value != nullptr && ReadOvsdb(*value, out);
}

Json OvsdbUuid(const std::string& uuid);
Json OvsdbNamedUuid(const std::string& name);
Json OvsdbSet(std::vector<Json> values);
Json OvsdbMap(const std::map<std::string, std::string>& pairs);
// ["column", "==", value], of which `where` is a list.
Json OvsdbEquals(const char* column, Json value);

// Neither throws: what is no JSON is Json::value_t::discarded, what is no UTF-8 is written as
// U+FFFD.
Json ParseJson(std::string_view text);
std::string PrintJson(const Json& value);

}  // namespace trumpet

#endif  // TRUMPET_LIB_OVSDB_OVSDB_VALUE_H
