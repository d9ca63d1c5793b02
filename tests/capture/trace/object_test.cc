// Copies of objects, and what changed in them.
#include "runtime/capture/trace/object.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <utility>
#include <vector>

namespace packsmith::capture {
namespace {

constexpr uint64_t kPage = 4096;

using Extents = std::vector<std::pair<uint64_t, uint64_t>>;

Extents ChangedIn(const TracedObject& object, uint64_t offset, uint64_t size) {
  Extents extents;
  for (const SharedMemory::Extent& extent : object.Changed(offset, size)) {
    extents.emplace_back(extent.offset / kPage, extent.size / kPage);
  }
  return extents;
}

// An object of `pages` pages, and the memory that stands for it.
class TracedObjectTest : public testing::Test {
 protected:
  TracedObjectTest() { object_->written = true; }
  bool Refresh() {
    return object_->Refresh(reader_, [&](uint64_t size) -> void* {
      ++mapped_;
      void* const at = mmap(nullptr, size, PROT_READ, MAP_SHARED, memory_->fd(), 0);
      return at == MAP_FAILED ? nullptr : at;
    });
  }
  bool IsCopied() const {
    return std::memcmp(object_->memory()->bytes().data(), memory_->bytes().data(), kSize) == 0;
  }

  static constexpr uint64_t kSize = 200 * kPage;
  const std::shared_ptr<SharedMemory> memory_ = SharedMemory::Create(kSize, "test");
  const std::shared_ptr<TracedObject> object_ = TracedObject::Create(1, kSize);
  MappingReader reader_;
  int mapped_ = 0;
};

TEST_F(TracedObjectTest, OnlyPagesThatChangedAreInTheList) {
  memory_->bytes()[3 * kPage] = 1;
  memory_->bytes()[5 * kPage - 1] = 2;
  memory_->bytes()[199 * kPage] = 3;
  ASSERT_TRUE(Refresh());
  EXPECT_TRUE(IsCopied());
  EXPECT_EQ(ChangedIn(*object_, 0, kSize), (Extents{{3, 2}, {199, 1}}));
  object_->NoteRecorded(0, kSize);
  EXPECT_EQ(ChangedIn(*object_, 0, kSize), Extents());
  memory_->bytes()[4 * kPage] = 9;
  memory_->bytes()[3 * kPage] = 0;
  ASSERT_TRUE(Refresh());
  EXPECT_TRUE(IsCopied());
  EXPECT_EQ(ChangedIn(*object_, 0, kSize), (Extents{{3, 2}}));
  EXPECT_EQ(mapped_, 1);
}

TEST_F(TracedObjectTest, WhatIsRecordedInPartIsForgottenInPart) {
  for (uint64_t page = 0; page < 8; ++page) memory_->bytes()[page * kPage] = 1;
  ASSERT_TRUE(Refresh());
  EXPECT_EQ(ChangedIn(*object_, 2 * kPage, 3 * kPage), (Extents{{2, 3}}));
  object_->NoteRecorded(2 * kPage, 2 * kPage + 1);
  EXPECT_EQ(ChangedIn(*object_, 0, kSize), (Extents{{0, 2}, {4, 4}}));
}

TEST_F(TracedObjectTest, PagesOfZerosStayHolesInTheCopy) {
  memory_->bytes()[7] = 1;
  memory_->bytes()[7] = 0;
  memory_->bytes()[100 * kPage] = 1;
  ASSERT_TRUE(Refresh());
  const auto extents = object_->memory()->Extents();
  ASSERT_EQ(extents.size(), 1u);
  EXPECT_EQ(extents[0].offset, 100 * kPage);
  EXPECT_EQ(extents[0].size, kPage);
}

TEST_F(TracedObjectTest, WhatNobodyWroteIsNotMapped) {
  object_->written = false;
  memory_->bytes()[7] = 1;
  EXPECT_TRUE(Refresh());
  EXPECT_EQ(mapped_, 0);
  EXPECT_FALSE(IsCopied());
}

TEST_F(TracedObjectTest, APageThatIsGoneIsAnErrorAndNotASignal) {
  const int fd = memfd_create("short", 0);
  ASSERT_EQ(ftruncate(fd, 100 * kPage), 0);
  const uint8_t byte = 8;
  ASSERT_EQ(pwrite(fd, &byte, 1, 64 * kPage), 1);
  EXPECT_FALSE(object_->Refresh(
      reader_, [&](uint64_t size) { return mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0); }));
  close(fd);
  EXPECT_EQ(object_->memory()->bytes()[64 * kPage], 8);
}

TEST_F(TracedObjectTest, MemoryOfAProcessIsReadAsFarAsThereIsAny) {
  void* const at =
      mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  auto* const bytes = static_cast<uint8_t*>(at);
  for (uint64_t page = 0; page < 4; ++page) bytes[page * kPage] = static_cast<uint8_t>(page + 1);
  munmap(bytes + kPage, kPage);
  const auto object = TracedObject::CreateUser(2, std::make_shared<ProcessMemory>(getpid()),
                                               reinterpret_cast<uint64_t>(bytes), 4 * kPage);
  EXPECT_FALSE(object->Refresh(reader_, nullptr));
  EXPECT_EQ(ChangedIn(*object, 0, 4 * kPage), (Extents{{0, 1}, {2, 2}}));
  EXPECT_EQ(object->memory()->bytes()[3 * kPage], 4);
  munmap(bytes, kPage);
  munmap(bytes + 2 * kPage, 2 * kPage);
}

}  // namespace
}  // namespace packsmith::capture
