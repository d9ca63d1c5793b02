// AGX: packing and unpacking a texture descriptor, beside a copy of its 24 bytes and beside shifts
// and ors by hand; decoding a control stream, for each draw.
//
// Values are an array of 64 different ones that the compiler cannot see; what is written walks
// through 60 KB. Compare columns of one run, not machines.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "packsmith/agx_g13.h"
#include "packsmith/pack.h"
#include "runtime/agx/control_stream.h"
#include "runtime/agx/ppp.h"
#include "runtime/agx/usc.h"
#include "runtime/agx/varying_records.h"
#include "runtime/agx/varyings.h"
#include "runtime/command/chunks.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/jsonl_sink.h"
#include "runtime/decode/sinks/names_sink.h"
#include "runtime/decode/sinks/stats_sink.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/dump/dump.h"
#include "runtime/generations/generations.h"

namespace packsmith::bench {
namespace {

using agx_g13::Texture;

constexpr size_t kBytes = 60 * 1024 / Texture::size * Texture::size;

// Where descriptors go, one after the other, from the start again when it is full.
class Table {
 public:
  uint8_t* Next() {
    if (at_ == kBytes) at_ = 0;
    uint8_t* const place = bytes_.data() + at_;
    at_ += Texture::size;
    return place;
  }

 private:
  std::vector<uint8_t> bytes_ = std::vector<uint8_t>(kBytes);
  size_t at_ = 0;
};

std::vector<Texture> RandomTextures() {
  std::mt19937 random(1);
  std::vector<Texture> textures;
  while (textures.size() < 64) {
    uint8_t bytes[Texture::size];
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    // Any bits unpack to values that pack again.
    const Texture texture = Texture::unpack(bytes);
    if (!texture.check()) textures.push_back(texture);
  }
  return textures;
}

// The same fields as a person would write them. Views of the same bits are ORed, as pack() does.
void Hand(const Texture& t, uint8_t* to) {
  uint64_t words[3];
  words[0] = uint64_t(t.dimension) | uint64_t(t.layout_) << 4 | uint64_t(t.channels) << 6 |
             uint64_t(t.type) << 13 | uint64_t(t.swizzle_r) << 16 | uint64_t(t.swizzle_g) << 19 |
             uint64_t(t.swizzle_b) << 22 | uint64_t(t.swizzle_a) << 25 |
             uint64_t(t.width - 1) << 28 | uint64_t(t.height - 1) << 42 |
             uint64_t(t.first_level) << 56 | uint64_t(t.last_level) << 60;
  words[1] = uint64_t(t.samples) | t.address.gpu >> 4 << 2 | uint64_t(t.unk_mipmapped) << 38 |
             uint64_t(t.compressed_1) << 39 | uint64_t(t.null) << 41 |
             uint64_t(t.compression) << 42 | uint64_t(t.srgb) << 44 |
             uint64_t(t.srgb_2_channel) << 45 | uint64_t(t.stride >> 4) << 46 |
             uint64_t(t.depth - 1) << 46 | uint64_t(t.page_aligned_layers) << 62 |
             uint64_t(t.extended) << 63;
  words[2] = t.acceleration_buffer.gpu >> 4 | (t.depth_linear - 1) | t.buffer_size_sw |
             t.layer_stride_linear >> 7 << 11 | uint64_t(t.buffer_offset_sw) << 32;
  std::memcpy(to, words, sizeof(words));
}

// And back: each field shifted and masked into its member.
void HandUnpack(const uint8_t* from, Texture* t) {
  uint64_t words[3];
  std::memcpy(words, from, sizeof(words));
  const auto bits = [&](unsigned bit, unsigned width) {
    return static_cast<uint32_t>(words[bit / 64] >> bit % 64 & ((uint64_t{1} << width) - 1));
  };
  t->dimension = agx_g13::Texture_dimension(bits(0, 4));
  t->layout_ = agx_g13::Layout(bits(4, 2));
  t->channels = agx_g13::Channels(bits(6, 7));
  t->type = agx_g13::Texture_Type(bits(13, 3));
  t->swizzle_r = agx_g13::Channel(bits(16, 3));
  t->swizzle_g = agx_g13::Channel(bits(19, 3));
  t->swizzle_b = agx_g13::Channel(bits(22, 3));
  t->swizzle_a = agx_g13::Channel(bits(25, 3));
  t->width = bits(28, 14) + 1;
  t->height = bits(42, 14) + 1;
  t->first_level = bits(56, 4);
  t->last_level = bits(60, 4);
  t->samples = agx_g13::Sample_Count(bits(64, 1));
  t->address = (words[1] >> 2 & ((uint64_t{1} << 36) - 1)) << 4;
  t->unk_mipmapped = bits(102, 1) != 0;
  t->compressed_1 = bits(103, 1) != 0;
  t->null = bits(105, 1) != 0;
  t->compression = bits(106, 2);
  t->srgb = bits(108, 1) != 0;
  t->srgb_2_channel = bits(109, 1) != 0;
  t->stride = bits(110, 18) << 4;
  t->depth = bits(110, 14) + 1;
  t->page_aligned_layers = bits(126, 1) != 0;
  t->extended = bits(127, 1) != 0;
  t->acceleration_buffer = (words[2] & ((uint64_t{1} << 44) - 1)) << 4;
  t->depth_linear = bits(128, 11) + 1;
  t->layer_stride_linear = (words[2] >> 11 & ((uint64_t{1} << 27) - 1)) << 7;
  t->buffer_size_sw = bits(128, 32);
  t->buffer_offset_sw = bits(160, 32);
}

// Calls body(value, its number) for one value after the other, and so on.
template <class T, class Body>
void Run(benchmark::State& state, std::vector<T> values, const Body& body) {
  benchmark::DoNotOptimize(values.data());
  benchmark::ClobberMemory();
  size_t i = 0;
  for (auto _ : state) {
    body(values[i % 64], i % 64);
    ++i;
    benchmark::ClobberMemory();
  }
}

template <class Pack>
void RunPack(benchmark::State& state, const Pack& pack) {
  Table table;
  Run(state, RandomTextures(), [&](const Texture& t, size_t) { pack(t, table.Next()); });
}

void BM_PackChecked(benchmark::State& state) {
  RunPack(state, [](const Texture& t, uint8_t* to) {
    if (t.pack<checks::on>(to)) std::abort();
  });
}
void BM_PackUnchecked(benchmark::State& state) {
  RunPack(state, [](const Texture& t, uint8_t* to) { (void)t.pack<checks::off>(to); });
}
void BM_PackByHand(benchmark::State& state) { RunPack(state, Hand); }

// What drivers do: most of a descriptor is constant.
void BM_PackMostlyConstant(benchmark::State& state) {
  RunPack(state, [](const Texture& from, uint8_t* to) {
    const Texture texture{
        .dimension = agx_g13::Texture_dimension::_2D,
        .layout_ = agx_g13::Layout::Twiddled,
        .channels = agx_g13::Channels::R8G8B8A8,
        .swizzle_g = agx_g13::Channel::G,
        .swizzle_b = agx_g13::Channel::B,
        .swizzle_a = agx_g13::Channel::A,
        .width = from.width,
        .height = from.height,
        .last_level = from.last_level,
        .address = from.address,
    };
    if (texture.pack<checks::on>(to)) std::abort();
  });
}

// A descriptor of which only the address is not known while compiling.
void BM_PackConstantButForTheAddress(benchmark::State& state) {
  RunPack(state, [](const Texture& from, uint8_t* to) {
    const Texture texture{
        .dimension = agx_g13::Texture_dimension::_2D,
        .layout_ = agx_g13::Layout::Twiddled,
        .channels = agx_g13::Channels::R8G8B8A8,
        .swizzle_g = agx_g13::Channel::G,
        .swizzle_b = agx_g13::Channel::B,
        .swizzle_a = agx_g13::Channel::A,
        .width = 1920,
        .height = 1080,
        .address = from.address,
    };
    if (texture.pack<checks::on>(to)) std::abort();
  });
}

using Packed = std::array<uint8_t, Texture::size>;

std::vector<Packed> PackedTextures() {
  std::vector<Packed> packed;
  for (const Texture& texture : RandomTextures()) {
    packed.emplace_back();
    if (texture.pack(packed.back().data())) std::abort();
  }
  return packed;
}

void BM_Copy(benchmark::State& state) {
  Table table;
  Run(state, PackedTextures(),
      [&](const Packed& from, size_t) { std::memcpy(table.Next(), from.data(), Texture::size); });
}

void BM_Unpack(benchmark::State& state) {
  std::vector<Texture> textures(64);
  benchmark::DoNotOptimize(textures.data());
  Run(state, PackedTextures(), [&](const Packed& from, size_t i) {
    // In place: assigned, it would be written twice.
    new (&textures[i]) Texture(Texture::unpack(from.data()));
  });
}

void BM_UnpackByHand(benchmark::State& state) {
  std::vector<Texture> textures(64);
  for (const Packed& packed : PackedTextures()) {
    Texture same;
    HandUnpack(packed.data(), &same);
    Packed again;
    if (same.pack(again.data()) || again != packed) std::abort();
  }
  benchmark::DoNotOptimize(textures.data());
  Run(state, PackedTextures(),
      [&](const Packed& from, size_t i) { HandUnpack(from.data(), &textures[i]); });
}

// A caller that needs a few of the fields pays for these.
void BM_UnpackFourFields(benchmark::State& state) {
  Run(state, PackedTextures(), [](const Packed& from, size_t) {
    const Texture texture = Texture::unpack(from.data());
    uint64_t sum = texture.width + texture.height + texture.last_level + texture.address.gpu;
    benchmark::DoNotOptimize(sum);
  });
}

// A copy of what unpack() writes: no way to write it is faster.
void BM_CopyUnpacked(benchmark::State& state) {
  std::vector<Texture> textures(64);
  benchmark::DoNotOptimize(textures.data());
  Run(state, RandomTextures(), [&](const Texture& from, size_t i) {
    std::memcpy(static_cast<void*>(&textures[i]), &from, sizeof(Texture));
  });
}

BENCHMARK(BM_Copy);
BENCHMARK(BM_PackChecked);
BENCHMARK(BM_PackUnchecked);
BENCHMARK(BM_PackByHand);
BENCHMARK(BM_PackMostlyConstant);
BENCHMARK(BM_PackConstantButForTheAddress);
BENCHMARK(BM_Unpack);
BENCHMARK(BM_UnpackByHand);
BENCHMARK(BM_UnpackFourFields);
BENCHMARK(BM_CopyUnpacked);

// -- Decoding ------------------------------------------------------------------------------------

using G13 = agx_g13::generation;

// A stream of draws, each with state, a PPP record and two programs of its own, as drivers make
// them: from draw to draw addresses change, and the number of indices. Or everything else that can
// changes, too.
class Draws {
 public:
  enum class State { kTheSame, kRandom };
  static constexpr uint32_t kDraws = 256;

  explicit Draws(State state) : state_(state) {
    gpu::BufferUses uses;
    agx::VdmStream<G13> vdm(chunks_, uses);
    for (uint32_t i = 0; i < kDraws; ++i) Add(vdm, uses, i);
    if (!vdm.End().ok()) std::abort();
    for (const agx::StreamPart& part : vdm.parts()) {
      Map(part.chunk.gpu, {reinterpret_cast<const uint8_t*>(part.chunk.words.data()), part.total});
    }
    Map(kRecords, records_);
    Map(kPrograms, programs_);
    dump_.submissions.push_back({.batch_address = vdm.parts()[0].chunk.gpu, .stream = "vdm"});
  }
  const Dump& dump() const { return dump_; }

 private:
  static constexpr uint64_t kRecords = 0x1500000000, kPrograms = 0x100000;
  static constexpr size_t kRecordBytes = 128, kProgramBytes = 64;

  void Map(uint64_t gpu, absl::Span<const uint8_t> bytes) {
    if (!dump_.memory.Map(0, gpu, bytes, bytes.size()).ok()) std::abort();
  }
  agx::GpuMemory Program() {
    const agx::GpuMemory memory{kPrograms + next_program_,
                                absl::MakeSpan(programs_).subspan(next_program_, kProgramBytes)};
    next_program_ += kProgramBytes;
    return memory;
  }
  address Shader(gpu::BufferUses& uses) {
    agx::UscProgram<G13> program(Program(), agx::ProgramBase(), uses);
    program.Uniforms(0, kRecords, 16);
    program.Emit(agx_g13::USC_Shared{});
    program.Shader({}, kPrograms);
    program.Emit(agx_g13::USC_Registers{.register_count = 32 + 8 * Random(8)});
    return program.End().value();
  }
  // Less than `values`; zero where states are the same.
  uint32_t Random(uint32_t values) {
    return state_ == State::kRandom ? static_cast<uint32_t>(random_() % values) : 0;
  }
  agx_g13::Fragment_face Face() {
    return {.stencil_reference = Random(256),
            .line_width = Random(256),
            .polygon_mode = static_cast<agx_g13::Polygon_Mode>(Random(3)),
            .disable_depth_write = Random(2) != 0,
            .depth_function = static_cast<agx_g13::ZS_Func>(Random(8))};
  }
  void Add(agx::VdmStream<G13>& vdm, gpu::BufferUses& uses, uint32_t i) {
    constexpr agx::Output kOutput[] = {{.location = 0}, {.location = 1, .components = 2}};
    constexpr agx::Input kInput[] = {{.location = 0}, {.location = 1, .components = 2}};
    const agx::Linkage linkage = agx::Link({.varyings = kOutput}, {.inputs = kInput}).value();
    const agx::GpuMemory bindings = Program();
    if (!agx::PackBindings<G13>(linkage, bindings.bytes).ok()) std::abort();
    agx_g13::PPP_Header header{.fragment_control = true,
                               .fragment_front_face = true,
                               .w_clamp = true,
                               .cull = true,
                               .fragment_shader = true};
    header.fragment_control_state.scissor_enable = Random(2) != 0;
    header.fragment_control_state.depth_bias_enable = Random(2) != 0;
    header.fragment_control_state.stencil_test_enable = Random(2) != 0;
    header.fragment_front_face_state = Face();
    header.w_clamp_state.w_clamp = static_cast<float>(Random(1 << 20)) / 4096;
    header.cull_state.cull_front = Random(2) != 0;
    header.cull_state.cull_back = Random(2) != 0;
    header.cull_state.depth_clip = Random(2) != 0;
    header.cull_state.front_face_ccw = Random(2) != 0;
    agx::SetVaryings<G13>(linkage, header);
    header.fragment_shader_word_0.cf_binding_count =
        static_cast<uint32_t>(linkage.bindings().size());
    header.fragment_shader_word_1.pipeline = Shader(uses);
    header.fragment_shader_word_2.cf_bindings = bindings.gpu;
    const agx::GpuMemory record{kRecords + i * kRecordBytes,
                                absl::MakeSpan(records_).subspan(i * kRecordBytes, kRecordBytes)};
    agx_g13::VDM_State state{.vertex_shader_word_0_present = true,
                             .vertex_shader_word_1_present = true,
                             .vertex_outputs_present = true};
    state.vertex_shader_word_1.pipeline = Shader(uses);
    state.vertex_outputs = agx::VertexOutputWord<G13>(linkage.shape());
    agx_g13::Index_List draw{.primitive = agx_g13::Primitive::Triangles,
                             .index_count_present = true,
                             .instance_count_present = true};
    draw.index_count.count = 3 + i + Random(1 << 20);
    draw.instance_count.count = 1 + Random(1 << 10);
    if (!vdm.Emit(agx::WritePpp<G13>(record, uses, header).value(), state, draw)) std::abort();
  }

  State state_;
  std::mt19937 random_{1};
  gpu::HostChunks chunks_{{.gpu = 0x1100000000}};
  std::vector<uint8_t> records_ = std::vector<uint8_t>(kDraws * kRecordBytes);
  std::vector<uint8_t> programs_ = std::vector<uint8_t>(kDraws * 3 * kProgramBytes);
  size_t next_program_ = 0;
  Dump dump_;
};

// Text that nobody reads.
class Nowhere : public decode::Output {
 public:
  void Append(absl::string_view text) override { bytes_ += text.size(); }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

template <class Make>
void RunDecode(benchmark::State& state, const Make& make, const decode::Options& options = {},
               Draws::State states = Draws::State::kTheSame) {
  static const Draws& kSame = *new Draws(Draws::State::kTheSame);
  static const Draws& kRandom = *new Draws(Draws::State::kRandom);
  const Draws& draws = states == Draws::State::kTheSame ? kSame : kRandom;
  const tables::Tables tables = *FindGeneration("g13");
  size_t bytes = 0;
  for (auto _ : state) {
    Nowhere output;
    const std::unique_ptr<decode::Sink> sink = make(output);
    decode::Decoder decoder(tables, *sink, options);
    decoder.Decode(draws.dump());
    const decode::Summary summary = decoder.Finish();
    for (const uint64_t faults : summary.faults) {
      if (faults != 0) std::abort();
    }
    if (summary.draws != Draws::kDraws) std::abort();
    bytes = output.bytes();
  }
  // An iteration is all draws; the column says what one takes.
  state.counters["a draw"] = benchmark::Counter(
      Draws::kDraws, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["B a draw"] = static_cast<double>(bytes) / Draws::kDraws;
}

void BM_DecodeText(benchmark::State& state) {
  RunDecode(state, [](decode::Output& out) { return decode::MakeTextSink(out); });
}
// A copy of as many bytes as that text has, a chunk at a time, as the text is handed over: what
// writing it would take if it were known.
void BM_CopyText(benchmark::State& state) {
  constexpr size_t kChunk = 64 * 1024;
  const std::vector<char> from(kChunk, ' ');
  std::vector<char> to(kChunk);
  const auto bytes = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    for (size_t at = 0; at < bytes; at += kChunk) {
      std::memcpy(to.data(), from.data(), std::min(kChunk, bytes - at));
      benchmark::ClobberMemory();
    }
  }
  state.counters["a draw"] = benchmark::Counter(
      Draws::kDraws, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
void BM_DecodeJsonl(benchmark::State& state) {
  RunDecode(state, [](decode::Output& out) { return decode::MakeJsonlSink(out); });
}
void BM_DecodeTextWithoutZeros(benchmark::State& state) {
  RunDecode(state, [](decode::Output& out) {
    return decode::MakeTextSink(out, {.hide_zero_fields = true});
  });
}
// Of draws of which hardly anything is as it was in the one before.
void BM_DecodeTextOfRandomState(benchmark::State& state) {
  RunDecode(
      state, [](decode::Output& out) { return decode::MakeTextSink(out); }, {},
      Draws::State::kRandom);
}
void BM_DecodeTextOfRandomStateWithoutZeros(benchmark::State& state) {
  RunDecode(
      state,
      [](decode::Output& out) { return decode::MakeTextSink(out, {.hide_zero_fields = true}); }, {},
      Draws::State::kRandom);
}
void BM_DecodeStatsOfRandomState(benchmark::State& state) {
  RunDecode(
      state, [](decode::Output& out) { return decode::MakeStatsSink(out); }, {},
      Draws::State::kRandom);
}
// Each record worked out anew.
void BM_DecodeTextWithoutShapes(benchmark::State& state) {
  RunDecode(state, [](decode::Output& out) { return decode::MakeTextSink(out); },
            {.shapes = false});
}
void BM_DecodeStatsWithoutShapes(benchmark::State& state) {
  RunDecode(state, [](decode::Output& out) { return decode::MakeStatsSink(out); },
            {.shapes = false});
}
// The control stream alone.
void BM_DecodeTextOfTheStream(benchmark::State& state) {
  RunDecode(
      state,
      [](decode::Output& out) { return decode::MakeTextSink(out, {.hide_zero_fields = true}); },
      {.follow = decode::Follow::kBatches});
}
// All records and their checks, and no text.
void BM_DecodeStats(benchmark::State& state) {
  RunDecode(state, [](decode::Output& out) { return decode::MakeStatsSink(out); });
}
void BM_DecodeNames(benchmark::State& state) {
  RunDecode(state, [](decode::Output& out) { return decode::MakeNamesSink(out); }, {.brief = true});
}
BENCHMARK(BM_DecodeText);
BENCHMARK(BM_CopyText)->Arg(11128 * Draws::kDraws)->Arg(4370 * Draws::kDraws);
BENCHMARK(BM_DecodeJsonl);
BENCHMARK(BM_DecodeTextWithoutZeros);
BENCHMARK(BM_DecodeTextOfRandomState);
BENCHMARK(BM_DecodeTextOfRandomStateWithoutZeros);
BENCHMARK(BM_DecodeStatsOfRandomState);
BENCHMARK(BM_DecodeTextWithoutShapes);
BENCHMARK(BM_DecodeStatsWithoutShapes);
BENCHMARK(BM_DecodeTextOfTheStream);
BENCHMARK(BM_DecodeStats);
BENCHMARK(BM_DecodeNames);

}  // namespace
}  // namespace packsmith::bench
