// The arithmetic of the kernels: vectors, numbers read and written, exponentials, the softmax, dropout's random bits.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__AVX512F__)
constexpr int64_t LANES = 16;  // numbers of a vector
#elif defined(__AVX__)
constexpr int64_t LANES = 8;
#else
constexpr int64_t LANES = 4;
#endif

// Attention weights below e^-46 = 1e-20 of the largest count as none: processors take a hundred times as long over the
// denormal numbers that they or their products would be.
constexpr float NOTHING = -46.0f;

enum class bfloat16 : uint16_t {};  // float32's upper half

#ifdef BFLOAT16
using number = bfloat16;
#else
using number = float;
#endif

inline float read(float x) { return x; }

inline float read(bfloat16 x) {
    const uint32_t bits = static_cast<uint32_t>(x) << 16;
    float y;
    std::memcpy(&y, &bits, 4);
    return y;
}

inline void write(float &y, float x) { y = x; }

inline void write(bfloat16 &y, float x) {  // to the nearest, ties to even
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    bits += 0x7fffu + ((bits >> 16) & 1u);
    y = static_cast<bfloat16>(bits >> 16);
}

// e^x to float32's precision, for x ≤ 88: a power of two times Cephes' polynomial on [-ln 2 / 2, ln 2 / 2].
inline float exponential(float x) {
    x = x < -87.0f ? -87.0f : x;
    const float shifted = x * 1.44269504f + 12582912.0f;  // 1.5 · 2²³: the sum's last bits are the rounded quotient
    const float n = shifted - 12582912.0f;
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float y = 1.9875691500e-4f;
    y = y * r + 1.3981999507e-3f;
    y = y * r + 8.3334519073e-3f;
    y = y * r + 4.1665795894e-2f;
    y = y * r + 1.6666665459e-1f;
    y = y * r + 5.0000001201e-1f;
    y = y * r * r + r + 1.0f;
    const int32_t exponent = static_cast<int32_t>(n) << 23;
    int32_t bits;
    std::memcpy(&bits, &y, 4);
    bits += exponent;
    std::memcpy(&y, &bits, 4);
    return y;
}

// 32 uniform bits for each index: a counter hashed with two keys.
inline uint32_t uniform_bits(uint32_t index, uint32_t key0, uint32_t key1) {
    uint32_t x = index + key0;
    x ^= x >> 16;
    x *= 0x21f0aaadu;
    x ^= x >> 15;
    x += key1;
    x *= 0x735a2d97u;
    x ^= x >> 15;
    x *= 0x9e3779b1u;
    x ^= x >> 16;
    return x;
}

inline int64_t whole(int64_t size, int64_t unit) { return (size + unit - 1) / unit * unit; }

struct alignas(4 * LANES) Line {
    float numbers[LANES];
};

struct Scratch {  // whole vectors, none of them across two lines of the cache
    std::vector<Line> lines;

    explicit Scratch(int64_t size) : lines(whole(size, LANES) / LANES) {}
    float *data() { return reinterpret_cast<float *>(lines.data()); }
};

// What a query does not see of the keys first ≤ s < last: all but from ≤ s < seen.
inline void hide(float *scores, int64_t first, int64_t last, int64_t from, int64_t seen) {
    std::fill(scores + first, scores + from, -INFINITY);
    std::fill(scores + seen, scores + last, -INFINITY);
}

// Scores → weights, for first ≤ s < last; returns log Σ exp(scale · score). Both are whole vectors where exponentials
// are not to run one value at a time.
inline float softmax(float *scores, int64_t first, int64_t last, float scale) {
    float largest = -INFINITY, sum = 0;
#pragma omp simd reduction(max : largest)
    for (int64_t s = first; s < last; ++s) {
        scores[s] *= scale;
        largest = scores[s] > largest ? scores[s] : largest;
    }
#pragma omp simd reduction(+ : sum)
    for (int64_t s = first; s < last; ++s) {
        const float exponent = scores[s] - largest;
        scores[s] = exponent < NOTHING ? 0.0f : exponential(exponent);
        sum += scores[s];
    }
    const float share = 1.0f / sum;
#pragma omp simd
    for (int64_t s = first; s < last; ++s) scores[s] *= share;
    return largest + std::log(sum);
}

struct Dropout {  // keeps what draws at least `threshold`, p · 2³²
    uint32_t key0, key1, threshold;
    float scale;

    Dropout(uint64_t seed, double p)
        : key0(static_cast<uint32_t>(seed)),
          key1(static_cast<uint32_t>(seed >> 32)),
          threshold(static_cast<uint32_t>(p * 4294967296.0 + 0.5)),
          scale(static_cast<float>(1.0 / (1.0 - p))) {}

    // values[s] by its factor, where first ≤ s < last; base + s is its index.
    void apply(float *values, int64_t first, int64_t last, uint32_t base) const {
        const Dropout own = *this;  // in registers
#pragma omp simd
        for (int64_t s = first; s < last; ++s) values[s] *= own.factor(base + static_cast<uint32_t>(s));
    }

    inline float factor(uint32_t index) const { return uniform_bits(index, key0, key1) < threshold ? 0.0f : scale; }
};
