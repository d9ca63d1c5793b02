#include "runtime/capture/devices/virtual_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"

namespace packsmith::capture {
namespace {

// Bits of st_mode.
constexpr uint32_t kDirectoryMode = 0040000, kFileMode = 0100000, kLinkMode = 0120000,
                   kDeviceMode = 0020000, kPermissions = 07777;

uint32_t ModeOf(FileKind kind, uint32_t permissions) {
  switch (kind) {
    case FileKind::kDirectory:
      return kDirectoryMode | permissions;
    case FileKind::kLink:
      return kLinkMode | permissions;
    case FileKind::kDevice:
      return kDeviceMode | permissions;
    case FileKind::kFile:
    case FileKind::kNone:
      break;
  }
  return kFileMode | permissions;
}

bool IsHidden(absl::string_view name, absl::Span<const std::string> hidden) {
  return std::any_of(hidden.begin(), hidden.end(), [&](absl::string_view one) {
    return absl::ConsumeSuffix(&one, "*") ? absl::StartsWith(name, one) : name == one;
  });
}

// The names of a path of the tree; an error for one that cannot be added.
absl::StatusOr<std::vector<absl::string_view>> NamesOf(absl::string_view path) {
  if (!absl::StartsWith(path, "/") || path.size() >= kMaxPath) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", path.substr(0, 64),
        "\": a path of a virtual file must begin with / and have fewer than ", kMaxPath, " bytes"));
  }
  std::vector<absl::string_view> names = absl::StrSplit(path, '/', absl::SkipEmpty());
  for (const absl::string_view name : names) {
    if (name == "." || name == ".." || name.size() > kMaxName ||
        name.find('\0') != absl::string_view::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", path.substr(0, 64),
                       "\": a name in a path of a virtual file must not be . or .., must not have "
                       "a zero byte, and must have at most ",
                       kMaxName, " bytes"));
    }
  }
  return names;
}

}  // namespace

int ErrnoOf(PathStatus status) {
  switch (status) {
    case PathStatus::kVirtual:
    case PathStatus::kReal:
    case PathStatus::kAskOwner:
      return 0;
    case PathStatus::kMissing:
      return ENOENT;
    case PathStatus::kNotDirectory:
      return ENOTDIR;
    case PathStatus::kLoop:
      return ELOOP;
    case PathStatus::kTooLong:
      return ENAMETOOLONG;
    case PathStatus::kIsDirectory:
      return EISDIR;
    case PathStatus::kNotLink:
      return EINVAL;
    case PathStatus::kDenied:
      return EACCES;
  }
  return ENOENT;
}

bool DirectoryListing::ShowsReal(absl::string_view name) const {
  if (directory == DirectoryKind::kOwned || IsHidden(name, hidden)) return false;
  const auto at = std::lower_bound(
      entries.begin(), entries.end(), name,
      [](const DirectoryEntry& entry, absl::string_view wanted) { return entry.name < wanted; });
  return at == entries.end() || at->name != name;
}

struct VirtualFiles::Node {
  std::string name;
  Node* parent = nullptr;  // null: the root
  FileFacts facts;
  std::string text;  // of a file its content, of a link its target
  std::function<std::string()> make;
  std::function<int(absl::string_view)> write;
  std::vector<std::string> hidden;
  std::map<std::string, std::unique_ptr<Node>, std::less<>> entries;

  Node* Find(absl::string_view entry) const {
    const auto found = entries.find(entry);
    return found == entries.end() ? nullptr : found->second.get();
  }
  std::string Path() const {
    if (parent == nullptr) return "/";
    std::vector<const Node*> way;
    for (const Node* node = this; node->parent != nullptr; node = node->parent) way.push_back(node);
    std::string path;
    for (auto node = way.rbegin(); node != way.rend(); ++node) {
      absl::StrAppend(&path, "/", (*node)->name);
    }
    return path;
  }
};

// Where a path leads.
struct VirtualFiles::Walk {
  PathStatus status = PathStatus::kMissing;
  Node* node = nullptr;        // kVirtual
  std::string real_path = {};  // kReal
};

VirtualFiles::VirtualFiles() : root_(std::make_unique<Node>()), next_inode_(1) {
  root_->facts = {.kind = FileKind::kDirectory,
                  .mode = ModeOf(FileKind::kDirectory, 0755),
                  .inode = next_inode_++};
}
VirtualFiles::~VirtualFiles() = default;

absl::StatusOr<VirtualFiles::Node*> VirtualFiles::Make(absl::string_view path, FileKind kind) {
  absl::StatusOr<std::vector<absl::string_view>> names = NamesOf(path);
  if (!names.ok()) return names.status();
  Node* node = root_.get();
  for (size_t i = 0; i < names->size(); ++i) {
    const absl::string_view name = (*names)[i];
    if (node->facts.kind != FileKind::kDirectory) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", path, "\": ", node->Path(), " is not a directory"));
    }
    const bool is_last = i + 1 == names->size();
    Node* next = node->Find(name);
    if (next == nullptr) {
      auto made = std::make_unique<Node>();
      next = made.get();
      made->name = std::string(name);
      made->parent = node;
      made->facts.kind = is_last ? kind : FileKind::kDirectory;
      made->facts.directory = node->facts.directory;
      made->facts.mode = ModeOf(made->facts.kind, 0755);
      made->facts.inode = next_inode_++;
      node->entries.emplace(made->name, std::move(made));
    } else if (is_last && (kind != FileKind::kDirectory || next->facts.kind != kind)) {
      return absl::AlreadyExistsError(absl::StrCat("\"", path, "\" exists already"));
    }
    node = next;
  }
  if (names->empty() && kind != FileKind::kDirectory) {
    return absl::AlreadyExistsError("the root directory exists already");
  }
  ++version_;
  return node;
}

absl::Status VirtualFiles::AddDirectory(absl::string_view path, DirectoryOptions options) {
  for (const std::string& name : options.hidden) {
    if (name.empty() || name.size() > kMaxName || options.hidden.size() > kMaxName) {
      return absl::InvalidArgumentError(absl::StrCat("\"", path, "\": a directory has at most ",
                                                     kMaxName, " hidden names, each of 1 to ",
                                                     kMaxName, " bytes"));
    }
  }
  MutexLock lock(mutex_);
  absl::StatusOr<Node*> node = Make(path, FileKind::kDirectory);
  if (!node.ok()) return node.status();
  (*node)->facts.directory = options.kind;
  (*node)->hidden = std::move(options.hidden);
  return absl::OkStatus();
}

absl::Status VirtualFiles::AddFile(absl::string_view path, FileOptions options) {
  MutexLock lock(mutex_);
  absl::StatusOr<Node*> made = Make(path, FileKind::kFile);
  if (!made.ok()) return made.status();
  Node& node = **made;
  node.facts.mode = ModeOf(FileKind::kFile, options.mode & kPermissions);
  node.facts.size = options.size;
  node.facts.writable = options.write != nullptr;
  node.facts.dynamic = options.make != nullptr;
  node.text = std::move(options.content);
  node.make = std::move(options.make);
  node.write = std::move(options.write);
  return absl::OkStatus();
}

absl::Status VirtualFiles::AddLink(absl::string_view path, absl::string_view target) {
  if (target.empty() || target.size() >= kMaxPath || target.find('\0') != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", path, "\": the target of a link must have 1 to ", kMaxPath - 1, " bytes"));
  }
  MutexLock lock(mutex_);
  absl::StatusOr<Node*> node = Make(path, FileKind::kLink);
  if (!node.ok()) return node.status();
  (*node)->facts.mode = ModeOf(FileKind::kLink, 0777);
  (*node)->facts.size = target.size();
  (*node)->text = std::string(target);
  return absl::OkStatus();
}

absl::Status VirtualFiles::AddDevice(absl::string_view path, uint32_t major, uint32_t minor,
                                     uint32_t mode) {
  MutexLock lock(mutex_);
  absl::StatusOr<Node*> node = Make(path, FileKind::kDevice);
  if (!node.ok()) return node.status();
  (*node)->facts.mode = ModeOf(FileKind::kDevice, mode & kPermissions);
  (*node)->facts.major = major;
  (*node)->facts.minor = minor;
  return absl::OkStatus();
}

VirtualFiles::Node* VirtualFiles::FindExact(absl::string_view path) const {
  const absl::StatusOr<std::vector<absl::string_view>> names = NamesOf(path);
  if (!names.ok()) return nullptr;
  Node* node = root_.get();
  for (const absl::string_view name : *names) {
    node = node->Find(name);
    if (node == nullptr) return nullptr;
  }
  return node;
}

absl::Status VirtualFiles::Remove(absl::string_view path) {
  std::unique_ptr<Node> removed;  // destroyed without the lock: its functions are callers' code
  MutexLock lock(mutex_);
  Node* const node = FindExact(path);
  if (node == nullptr || node->parent == nullptr) {
    return absl::NotFoundError(absl::StrCat("\"", path, "\" is not a virtual file"));
  }
  const auto at = node->parent->entries.find(node->name);
  removed = std::move(at->second);
  node->parent->entries.erase(at);
  ++version_;
  return absl::OkStatus();
}

absl::StatusOr<VirtualFiles::Node*> VirtualFiles::FindFile(absl::string_view path) const {
  Node* const node = FindExact(path);
  if (node == nullptr || node->facts.kind != FileKind::kFile) {
    return absl::NotFoundError(absl::StrCat("\"", path, "\" is not a virtual file"));
  }
  return node;
}

absl::Status VirtualFiles::SetContent(absl::string_view path, std::string content) {
  MutexLock lock(mutex_);
  const absl::StatusOr<Node*> node = FindFile(path);
  if (!node.ok()) return node.status();
  (*node)->text = std::move(content);
  ++version_;
  return absl::OkStatus();
}

absl::StatusOr<bool> VirtualFiles::ExchangeContent(absl::string_view path,
                                                   absl::string_view expected,
                                                   std::string content) {
  MutexLock lock(mutex_);
  const absl::StatusOr<Node*> node = FindFile(path);
  if (!node.ok()) return node.status();
  if ((*node)->text != expected) return false;
  (*node)->text = std::move(content);
  ++version_;
  return true;
}

// One component at a time. While the walk is in the real file system, `outside` has the names that
// lead from `node` to it.
VirtualFiles::Walk VirtualFiles::Resolve(absl::string_view path, bool follow) const {
  if (path.size() >= kMaxPath) return {.status = PathStatus::kTooLong};
  if (path.empty()) return {.status = PathStatus::kMissing};
  if (path[0] != '/' || path.find('\0') != absl::string_view::npos) {
    return {.status = PathStatus::kReal, .real_path = std::string(path)};
  }
  std::string text(path);  // what is still to be walked is its end, from `at`
  size_t at = 0;
  std::string as_walked;  // in the real file system: its path, with what was written there
  Node* node = root_.get();
  unsigned outside = 0, links = 0;
  while (true) {
    while (at < text.size() && text[at] == '/') ++at;
    if (at == text.size()) break;
    const size_t end = std::min(text.find('/', at), text.size());
    const std::string name = text.substr(at, end - at);
    at = end;
    const bool is_last = text.find_first_not_of('/', at) == std::string::npos;
    if (name.size() > kMaxName) return {.status = PathStatus::kTooLong};
    if (outside > 0) {
      absl::StrAppend(&as_walked, "/", name);
      if (name == "..") {
        --outside;
      } else if (name != ".") {
        ++outside;
      }
      continue;
    }
    if (node->facts.kind != FileKind::kDirectory) return {.status = PathStatus::kNotDirectory};
    if (name == ".") continue;
    if (name == "..") {
      if (node->parent != nullptr) node = node->parent;
      continue;
    }
    Node* const next = node->Find(name);
    if (next == nullptr) {
      if (node->facts.directory == DirectoryKind::kOwned || IsHidden(name, node->hidden)) {
        return {.status = PathStatus::kMissing};
      }
      as_walked =
          node->parent == nullptr ? absl::StrCat("/", name) : absl::StrCat(node->Path(), "/", name);
      outside = 1;
      continue;
    }
    // A slash after the last name asks for what the link points to.
    const bool to_follow = !is_last || follow || at < text.size();
    if (next->facts.kind == FileKind::kLink && to_follow) {
      if (++links > kMaxLinks) return {.status = PathStatus::kLoop};
      std::string rest = absl::StrCat(next->text, text.substr(at));
      text = std::move(rest);
      at = 0;
      if (text[0] == '/') node = root_.get();
      continue;
    }
    node = next;
  }
  if (outside > 0) {
    if (links == 0) return {.status = PathStatus::kReal, .real_path = std::string(path)};
    if (as_walked.size() >= kMaxPath) return {.status = PathStatus::kTooLong};
    return {.status = PathStatus::kReal, .real_path = std::move(as_walked)};
  }
  if (text.back() == '/' && node->facts.kind != FileKind::kDirectory) {
    return {.status = PathStatus::kNotDirectory};
  }
  return {.status = PathStatus::kVirtual, .node = node};
}

FileAnswer VirtualFiles::Lookup(absl::string_view path, bool follow) const {
  MutexLock lock(mutex_);
  const Walk walk = Resolve(path, follow);
  FileAnswer answer;
  answer.status = walk.status;
  std::string found;
  if (walk.status == PathStatus::kVirtual) {
    answer.facts = walk.node->facts;
    found = walk.node->Path();
  } else if (walk.status == PathStatus::kReal) {
    found = walk.real_path;
  }
  if (found.size() >= kMaxPath) {
    answer.status = PathStatus::kTooLong;
    return answer;
  }
  answer.path_size = static_cast<uint16_t>(found.size());
  std::memcpy(answer.path.data(), found.data(), found.size());
  return answer;
}

FileText VirtualFiles::ReadLink(absl::string_view path) const {
  MutexLock lock(mutex_);
  const Walk walk = Resolve(path, false);
  if (walk.status != PathStatus::kVirtual) return {walk.status, walk.real_path};
  if (walk.node->facts.kind != FileKind::kLink) return {PathStatus::kNotLink, ""};
  return {PathStatus::kVirtual, walk.node->text};
}

DirectoryListing VirtualFiles::List(absl::string_view path) const {
  MutexLock lock(mutex_);
  const Walk walk = Resolve(path, true);
  DirectoryListing listing;
  listing.status = walk.status;
  if (walk.status != PathStatus::kVirtual) {
    listing.path = walk.real_path;
    return listing;
  }
  if (walk.node->facts.kind != FileKind::kDirectory) {
    listing.status = PathStatus::kNotDirectory;
    return listing;
  }
  listing.path = walk.node->Path();
  listing.directory = walk.node->facts.directory;
  listing.hidden = walk.node->hidden;
  for (const auto& [name, node] : walk.node->entries) {
    listing.entries.push_back({name, node->facts.kind, node->facts.inode});
  }
  return listing;
}

FileText VirtualFiles::Read(absl::string_view path) const {
  std::function<std::string()> make;
  {
    MutexLock lock(mutex_);
    const Walk walk = Resolve(path, true);
    if (walk.status != PathStatus::kVirtual) return {walk.status, walk.real_path};
    const Node& node = *walk.node;
    if (node.facts.kind == FileKind::kDirectory) return {PathStatus::kIsDirectory, ""};
    if (node.facts.kind != FileKind::kFile) return {PathStatus::kDenied, ""};
    if (!node.facts.dynamic) return {PathStatus::kVirtual, node.text};
    if (node.make == nullptr) return {PathStatus::kAskOwner, ""};
    make = node.make;
  }
  return {PathStatus::kVirtual, make()};
}

PathStatus VirtualFiles::Write(absl::string_view path, absl::string_view data, int* error) {
  *error = 0;
  std::function<int(absl::string_view)> write;
  {
    MutexLock lock(mutex_);
    const Walk walk = Resolve(path, true);
    PathStatus status = walk.status;
    if (status == PathStatus::kVirtual) {
      const FileFacts& facts = walk.node->facts;
      if (facts.kind == FileKind::kDirectory) {
        status = PathStatus::kIsDirectory;
      } else if (facts.kind != FileKind::kFile || !facts.writable) {
        status = PathStatus::kDenied;
      } else if (walk.node->write == nullptr) {
        status = PathStatus::kAskOwner;
      } else {
        write = walk.node->write;
      }
    }
    if (write == nullptr) {
      *error = ErrnoOf(status);
      return status;
    }
  }
  *error = write(data);
  return PathStatus::kVirtual;
}

uint64_t VirtualFiles::version() const {
  MutexLock lock(mutex_);
  return version_;
}

// -- Bytes ---------------------------------------------------------------------------------------
//
// A header (magic, version of the tree), then a record for each node, a directory before its
// entries: depth, kind, flags, permissions, device, inode, size, name, text, hidden names.
// Numbers are little endian.

namespace {

constexpr absl::string_view kMagic = "psvf1";
constexpr uint8_t kIsOwned = 1, kIsWritable = 2, kIsDynamic = 4;

void AppendNumber(uint64_t value, unsigned bytes, std::string* out) {
  for (unsigned i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}
void AppendText(absl::string_view text, unsigned bytes_of_size, std::string* out) {
  AppendNumber(text.size(), bytes_of_size, out);
  out->append(text.data(), text.size());
}

// Reads as AppendNumber() and AppendText() write. After a read beyond the end, `ok` is false and
// everything is 0.
struct Reader {
  absl::string_view bytes;
  bool ok = true;

  uint64_t Number(unsigned size) {
    if (bytes.size() < size) {
      ok = false;
      bytes = {};
      return 0;
    }
    uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) {
      value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    }
    bytes.remove_prefix(size);
    return value;
  }
  std::string Text(unsigned bytes_of_size) {
    const uint64_t size = Number(bytes_of_size);
    if (size > bytes.size()) {
      ok = false;
      bytes = {};
      return "";
    }
    std::string text(bytes.substr(0, size));
    bytes.remove_prefix(size);
    return text;
  }
};

absl::Status BadBytes(absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("not a serialised tree of virtual files: ", problem));
}

}  // namespace

std::string VirtualFiles::Serialise() const {
  MutexLock lock(mutex_);
  std::string out(kMagic);
  AppendNumber(version_, 8, &out);
  std::vector<std::pair<const Node*, uint16_t>> pending = {{root_.get(), 0}};
  while (!pending.empty()) {
    const auto [node, depth] = pending.back();
    pending.pop_back();
    const FileFacts& facts = node->facts;
    AppendNumber(depth, 2, &out);
    AppendNumber(static_cast<uint8_t>(facts.kind), 1, &out);
    AppendNumber((facts.directory == DirectoryKind::kOwned ? kIsOwned : 0) |
                     (facts.writable ? kIsWritable : 0) | (facts.dynamic ? kIsDynamic : 0),
                 1, &out);
    AppendNumber(facts.mode & kPermissions, 2, &out);
    AppendNumber(facts.major, 4, &out);
    AppendNumber(facts.minor, 4, &out);
    AppendNumber(facts.inode, 8, &out);
    AppendNumber(facts.size, 8, &out);
    AppendText(node->name, 1, &out);
    AppendText(node->text, 4, &out);
    AppendNumber(node->hidden.size(), 1, &out);
    for (const std::string& name : node->hidden) AppendText(name, 1, &out);
    for (auto entry = node->entries.rbegin(); entry != node->entries.rend(); ++entry) {
      pending.emplace_back(entry->second.get(), static_cast<uint16_t>(depth + 1));
    }
  }
  return out;
}

absl::StatusOr<std::unique_ptr<VirtualFiles>> VirtualFiles::Parse(absl::string_view bytes) {
  if (!absl::ConsumePrefix(&bytes, kMagic)) return BadBytes("it begins with other bytes");
  Reader reader{bytes};
  auto files = std::make_unique<VirtualFiles>();
  MutexLock lock(files->mutex_);
  files->version_ = reader.Number(8);
  // The directories on the way to the node before, and the length of their paths.
  std::vector<std::pair<Node*, size_t>> way;
  do {
    const uint64_t depth = reader.Number(2);
    const uint64_t kind = reader.Number(1);
    const uint64_t flags = reader.Number(1);
    auto node = std::make_unique<Node>();
    FileFacts& facts = node->facts;
    facts.kind = static_cast<FileKind>(kind);
    facts.directory = (flags & kIsOwned) != 0 ? DirectoryKind::kOwned : DirectoryKind::kMerged;
    facts.writable = (flags & kIsWritable) != 0;
    facts.dynamic = (flags & kIsDynamic) != 0;
    facts.mode = ModeOf(facts.kind, static_cast<uint32_t>(reader.Number(2)) & kPermissions);
    facts.major = static_cast<uint32_t>(reader.Number(4));
    facts.minor = static_cast<uint32_t>(reader.Number(4));
    facts.inode = reader.Number(8);
    facts.size = reader.Number(8);
    node->name = reader.Text(1);
    node->text = reader.Text(4);
    for (uint64_t names = reader.Number(1); names > 0 && reader.ok; --names) {
      node->hidden.push_back(reader.Text(1));
    }
    if (!reader.ok) return BadBytes("it ends within a file");
    if (kind < static_cast<uint8_t>(FileKind::kDirectory) ||
        kind > static_cast<uint8_t>(FileKind::kDevice)) {
      return BadBytes(absl::StrCat("file of unknown kind ", kind));
    }
    if (facts.kind == FileKind::kLink && (node->text.empty() || node->text.size() >= kMaxPath)) {
      return BadBytes("link without a target, or with one that is too long");
    }
    files->next_inode_ = std::max(files->next_inode_, facts.inode + 1);
    if (way.empty()) {
      if (depth != 0 || facts.kind != FileKind::kDirectory || !node->name.empty()) {
        return BadBytes("its first file is not the root directory");
      }
      files->root_ = std::move(node);
      way.emplace_back(files->root_.get(), 0);
      continue;
    }
    if (depth == 0 || depth > way.size()) return BadBytes("file that is in no directory");
    way.resize(depth);
    const size_t path_size = way.back().second + 1 + node->name.size();
    if (node->name.empty() || !NamesOf(absl::StrCat("/", node->name)).ok() ||
        node->name.find('/') != std::string::npos || path_size >= kMaxPath) {
      return BadBytes("file without a valid name");
    }
    Node* const parent = way.back().first;
    node->parent = parent;
    Node* const added = node.get();
    if (!parent->entries.try_emplace(added->name, std::move(node)).second) {
      return BadBytes(absl::StrCat("two files are called \"", added->Path(), "\""));
    }
    if (added->facts.kind == FileKind::kDirectory) way.emplace_back(added, path_size);
  } while (!reader.bytes.empty());
  return files;
}

}  // namespace packsmith::capture
