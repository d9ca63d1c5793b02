// What tests include most.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "abseil.hh"
