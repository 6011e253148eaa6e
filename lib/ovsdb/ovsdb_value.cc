// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/ovsdb/ovsdb_value.h"

#include <utility>

namespace trumpet {
namespace {

// ["set", [...]] and the like: what comes after the word, or null.
const Json* Tagged(const Json& value, const char* word) {
  if (!value.is_array() || value.size() != 2 || value[0] != word) return nullptr;
  return &value[1];
}

// Calls `read_one(element)` for each element; false if one call was, or if this is no set.
template <typename ReadOne>
bool ReadSet(const Json& value, const ReadOne& read_one) {
  const Json* elements = Tagged(value, "set");
  if (elements == nullptr) return read_one(value);
  if (!elements->is_array()) return false;
  for (const Json& element : *elements) {
    if (!read_one(element)) return false;
  }
  return true;
}

template <typename T, typename ReadOne>
bool ReadList(const Json& value, const ReadOne& read_one, std::vector<T>* out) {
  out->clear();
  return ReadSet(value, [&](const Json& element) {
    T one{};
    if (!read_one(element, &one)) return false;
    out->push_back(std::move(one));
    return true;
  });
}

// An optional value is a set of at most one; a set of one may have its word.
const Json& OnlyElement(const Json& value) {
  const Json* elements = Tagged(value, "set");
  const bool is_one = elements != nullptr && elements->is_array() && elements->size() == 1;
  return is_one ? (*elements)[0] : value;
}

template <typename T>
bool ReadAtom(const Json& value, T* out) {
  return ReadOvsdb(value, out);
}

}  // namespace

const Json* FindColumn(const Json& row, const char* column) {
  if (!row.is_object()) return nullptr;
  const auto found = row.find(column);
  return found == row.end() ? nullptr : &*found;
}

bool ReadOvsdb(const Json& value, std::string* out) {
  const Json& atom = OnlyElement(value);
  if (!atom.is_string()) return false;
  *out = atom.get_ref<const std::string&>();
  return true;
}

bool ReadOvsdb(const Json& value, int64_t* out) {
  const Json& atom = OnlyElement(value);
  if (!atom.is_number_integer()) return false;
  if (atom.is_number_unsigned() && atom.get<uint64_t>() > uint64_t{INT64_MAX}) return false;
  *out = atom.get<int64_t>();
  return true;
}

bool ReadOvsdb(const Json& value, bool* out) {
  const Json& atom = OnlyElement(value);
  if (!atom.is_boolean()) return false;
  *out = atom.get<bool>();
  return true;
}

bool ReadOvsdb(const Json& value, std::vector<std::string>* out) {
  return ReadList(value, ReadAtom<std::string>, out);
}

bool ReadOvsdb(const Json& value, std::vector<int64_t>* out) {
  return ReadList(value, ReadAtom<int64_t>, out);
}

bool ReadOvsdb(const Json& value, std::map<std::string, std::string>* out) {
  out->clear();
  const Json* pairs = Tagged(value, "map");
  if (pairs == nullptr || !pairs->is_array()) return false;
  for (const Json& pair : *pairs) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string()) {
      return false;
    }
    (*out)[pair[0].get_ref<const std::string&>()] = pair[1].get_ref<const std::string&>();
  }
  return true;
}

bool ReadOvsdbUuid(const Json& value, std::string* out) {
  const Json* text = Tagged(OnlyElement(value), "uuid");
  if (text == nullptr || !text->is_string()) return false;
  *out = text->get_ref<const std::string&>();
  return true;
}

bool ReadOvsdbUuids(const Json& value, std::vector<std::string>* out) {
  return ReadList(value, ReadOvsdbUuid, out);
}

Json OvsdbUuid(const std::string& uuid) { return Json::array({"uuid", uuid}); }

Json OvsdbNamedUuid(const std::string& name) { return Json::array({"named-uuid", name}); }

Json OvsdbSet(std::vector<Json> values) { return Json::array({"set", Json(std::move(values))}); }

Json OvsdbMap(const std::map<std::string, std::string>& pairs) {
  Json list = Json::array();
  for (const auto& [key, value] : pairs) list.push_back(Json::array({key, value}));
  return Json::array({"map", std::move(list)});
}

Json OvsdbEquals(const char* column, Json value) {
  return Json::array({column, "==", std::move(value)});
}

Json ParseJson(std::string_view text) {
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

std::string PrintJson(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace trumpet
