// What a step does between its matrix products, one pass over memory each.
//
// Every function exists for float32 and for bfloat16 (numbers ending in _f32, _bf16); arithmetic is float32.
// Arrays are contiguous. Sums over rows are taken in CHUNKS fixed pieces and added in their order, so results do
// not depend on the number of threads. stages/model/fused.py has the meaning and the shapes.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr int CHUNKS = 32;
// Attention weights below e^-46 = 1e-20 of the largest and tails of the normal distribution below that count as
// none: processors take a hundred times as long over the denormal numbers that they or their products would be.
constexpr float NOTHING = -46.0f;

enum class bfloat16 : uint16_t {};  // float32's upper half

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

// Φ(x), the normal distribution function, by Abramowitz and Stegun 7.1.26 (error of erf below 1.5e-7); density: φ(x).
inline float normal_cdf(float x, float &density) {
    const float a = std::fabs(x) * 0.70710678f;
    const float e = -a * a < NOTHING ? 0.0f : exponential(-a * a);
    const float t = 1.0f / (1.0f + 0.3275911f * a);
    const float poly =
        ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t + 0.254829592f) * t;
    const float tail = 0.5f * poly * e;
    density = 0.39894228f * e;
    return x < 0 ? tail : 1.0f - tail;
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

struct Dropout {  // keeps what draws at least `threshold`, p · 2³²
    uint32_t key0, key1, threshold;
    float scale;

    Dropout(uint64_t seed, double p)
        : key0(static_cast<uint32_t>(seed)), key1(static_cast<uint32_t>(seed >> 32)),
          threshold(static_cast<uint32_t>(p * 4294967296.0 + 0.5)), scale(static_cast<float>(1.0 / (1.0 - p))) {}

    inline float factor(uint32_t index) const { return uniform_bits(index, key0, key1) < threshold ? 0.0f : scale; }
};

// Scratch rows are a whole number of vectors long: exponentials and hashes never run one value at a time.
inline int64_t padded(int64_t length) { return (length + 15) / 16 * 16; }

// row = 0 … 0, values · factor, 0 … 0
template <typename T>
inline void write_row(const float *values, float factor, T *row, int64_t from, int64_t seen, int64_t columns) {
    std::memset(static_cast<void *>(row), 0, from * sizeof(T));
#pragma omp simd
    for (int64_t s = 0; s < seen; ++s) write(row[from + s], values[s] * factor);
    std::memset(static_cast<void *>(row + from + seen), 0, (columns - from - seen) * sizeof(T));
}

template <typename T>
void softmax_forward(const T *scores, T *weights, T *dropped, int64_t groups, int64_t rows, int64_t columns,
                     const int32_t *first, const int32_t *last, double scale, double p, uint64_t seed) {
    const Dropout shared(seed, p);
#pragma omp parallel
    {
        std::vector<float> buffer(2 * padded(columns));
        float *values = buffer.data(), *kept = values + padded(columns);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < groups * rows; ++i) {
            const int64_t from = first[i % rows], seen = last[i % rows] - from, length = padded(seen);
            const T *score = scores + i * columns + from;
            float largest = -INFINITY;
#pragma omp simd reduction(max : largest)
            for (int64_t s = 0; s < seen; ++s) {
                values[s] = read(score[s]) * scale;
                largest = values[s] > largest ? values[s] : largest;
            }
            for (int64_t s = seen; s < length; ++s) values[s] = -INFINITY;
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int64_t s = 0; s < length; ++s) {
                const float exponent = values[s] - largest;
                values[s] = exponent < NOTHING ? 0.0f : exponential(exponent);
                sum += values[s];
            }
            const float share = 1.0f / sum;
            write_row(values, share, weights + i * columns, from, seen, columns);
            if (p > 0) {
                const Dropout dropout = shared;  // in registers
                const uint32_t base = static_cast<uint32_t>(i * columns + from);
#pragma omp simd
                for (int64_t s = 0; s < length; ++s)
                    kept[s] = values[s] * dropout.factor(base + static_cast<uint32_t>(s));
                write_row(kept, share, dropped + i * columns, from, seen, columns);
            }
        }
    }
}

template <typename T>
void softmax_backward(const T *weights, const T *gradient, T *result, int64_t groups, int64_t rows, int64_t columns,
                      const int32_t *first, const int32_t *last, double scale, double p, uint64_t seed) {
    const Dropout shared(seed, p);
#pragma omp parallel
    {
        std::vector<float> buffer(2 * padded(columns));
        float *values = buffer.data(), *shares = values + padded(columns);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < groups * rows; ++i) {
            const int64_t from = first[i % rows], seen = last[i % rows] - from, length = padded(seen);
            const T *weight = weights + i * columns + from, *given = gradient + i * columns + from;
#pragma omp simd
            for (int64_t s = 0; s < seen; ++s) {
                values[s] = read(given[s]);
                shares[s] = read(weight[s]);
            }
            for (int64_t s = seen; s < length; ++s) values[s] = shares[s] = 0;
            if (p > 0) {
                const Dropout dropout = shared;  // in registers
                const uint32_t base = static_cast<uint32_t>(i * columns + from);
#pragma omp simd
                for (int64_t s = 0; s < length; ++s) values[s] *= dropout.factor(base + static_cast<uint32_t>(s));
            }
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int64_t s = 0; s < length; ++s) sum += values[s] * shares[s];
#pragma omp simd
            for (int64_t s = 0; s < length; ++s) values[s] = shares[s] * (values[s] - sum);
            write_row(values, scale, result + i * columns, from, seen, columns);
        }
    }
}

// y = residual + dropout(x + bias); residual, or bias, may be null.
template <typename T>
void dropout_forward(const T *x, const T *bias, const T *residual, T *y, int64_t rows, int64_t width, double p,
                     uint64_t seed) {
    const Dropout shared(seed, p);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; ++i) {
        const T *in = x + i * width;
        T *out = y + i * width;
        const Dropout dropout = shared;  // in registers
        const uint32_t base = static_cast<uint32_t>(i * width);
        if (residual == nullptr) {
#pragma omp simd
            for (int64_t c = 0; c < width; ++c)
                write(out[c], read(in[c]) * dropout.factor(base + static_cast<uint32_t>(c)));
        } else if (bias == nullptr) {
            const T *add = residual + i * width;
#pragma omp simd
            for (int64_t c = 0; c < width; ++c)
                write(out[c], read(add[c]) + read(in[c]) * dropout.factor(base + static_cast<uint32_t>(c)));
        } else {
            const T *add = residual + i * width;
#pragma omp simd
            for (int64_t c = 0; c < width; ++c)
                write(out[c], read(add[c]) +
                                  (read(in[c]) + read(bias[c])) * dropout.factor(base + static_cast<uint32_t>(c)));
        }
    }
}

void add_chunks(const std::vector<float> &sums, int64_t width, float *total) {
    for (int64_t c = 0; c < width; ++c) total[c] = 0;
    for (int chunk = 0; chunk < CHUNKS; ++chunk)
        for (int64_t c = 0; c < width; ++c) total[c] += sums[chunk * width + c];
}

// dx = gradient · mask; dbias (float32) = its sum over rows, if not null.
template <typename T>
void dropout_backward(const T *gradient, T *result, float *bias_gradient, int64_t rows, int64_t width, double p,
                      uint64_t seed) {
    const Dropout shared(seed, p);
    std::vector<float> sums(CHUNKS * width, 0.0f);
#pragma omp parallel for schedule(static)
    for (int chunk = 0; chunk < CHUNKS; ++chunk) {
        float *sum = sums.data() + chunk * width;
        for (int64_t i = rows * chunk / CHUNKS; i < rows * (chunk + 1) / CHUNKS; ++i) {
            const T *given = gradient + i * width;
            T *out = result + i * width;
            const Dropout dropout = shared;  // in registers
            const uint32_t base = static_cast<uint32_t>(i * width);
#pragma omp simd
            for (int64_t c = 0; c < width; ++c) {
                const float value = read(given[c]) * dropout.factor(base + static_cast<uint32_t>(c));
                write(out[c], value);
                sum[c] += value;
            }
        }
    }
    if (bias_gradient != nullptr) add_chunks(sums, width, bias_gradient);
}

// y = GELU(x + bias), and, if not null, the slope there.
template <typename T>
void gelu_forward(const T *x, const T *bias, T *y, T *slope, int64_t rows, int64_t width) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; ++i) {
        const T *in = x + i * width;
        T *out = y + i * width, *slopes = slope + i * width;
        if (slope == nullptr) {
#pragma omp simd
            for (int64_t c = 0; c < width; ++c) {
                float density;
                const float value = read(in[c]) + read(bias[c]);
                write(out[c], value * normal_cdf(value, density));
            }
        } else {
#pragma omp simd
            for (int64_t c = 0; c < width; ++c) {
                float density;
                const float value = read(in[c]) + read(bias[c]), cdf = normal_cdf(value, density);
                write(out[c], value * cdf);
                write(slopes[c], cdf + value * density);
            }
        }
    }
}

// dx = gradient · slope; dbias (float32) = its sum over rows.
template <typename T>
void gelu_backward(const T *slope, const T *gradient, T *result, float *bias_gradient, int64_t rows, int64_t width) {
    std::vector<float> sums(CHUNKS * width, 0.0f);
#pragma omp parallel for schedule(static)
    for (int chunk = 0; chunk < CHUNKS; ++chunk) {
        float *sum = sums.data() + chunk * width;
        for (int64_t i = rows * chunk / CHUNKS; i < rows * (chunk + 1) / CHUNKS; ++i) {
            const T *slopes = slope + i * width, *given = gradient + i * width;
            T *out = result + i * width;
#pragma omp simd
            for (int64_t c = 0; c < width; ++c) {
                const float value = read(given[c]) * read(slopes[c]);
                write(out[c], value);
                sum[c] += value;
            }
        }
    }
    add_chunks(sums, width, bias_gradient);
}

// statistics: mean and 1/σ of each row, float32 (rows, 2).
template <typename T>
void norm_forward(const T *x, const T *weight, const T *bias, T *y, float *statistics, int64_t rows, int64_t width,
                  double epsilon) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; ++i) {
        const T *in = x + i * width;
        float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t c = 0; c < width; ++c) sum += read(in[c]);
        const float mean = sum / width;
#pragma omp simd reduction(+ : squares)
        for (int64_t c = 0; c < width; ++c) {
            const float difference = read(in[c]) - mean;
            squares += difference * difference;
        }
        const float rate = 1.0f / std::sqrt(squares / width + epsilon);
        statistics[2 * i] = mean;
        statistics[2 * i + 1] = rate;
#pragma omp simd
        for (int64_t c = 0; c < width; ++c)
            write(y[i * width + c], (read(in[c]) - mean) * rate * read(weight[c]) + read(bias[c]));
    }
}

template <typename T>
void norm_backward(const T *x, const T *weight, const float *statistics, const T *gradient, T *result,
                   float *weight_gradient, float *bias_gradient, int64_t rows, int64_t width) {
    std::vector<float> weights(CHUNKS * width, 0.0f), biases(CHUNKS * width, 0.0f);
#pragma omp parallel for schedule(static)
    for (int chunk = 0; chunk < CHUNKS; ++chunk) {
        float *weight_sum = weights.data() + chunk * width, *bias_sum = biases.data() + chunk * width;
        for (int64_t i = rows * chunk / CHUNKS; i < rows * (chunk + 1) / CHUNKS; ++i) {
            const T *in = x + i * width, *given = gradient + i * width;
            const float mean = statistics[2 * i], rate = statistics[2 * i + 1];
            float sum = 0, product = 0;
#pragma omp simd reduction(+ : sum, product)
            for (int64_t c = 0; c < width; ++c) {
                const float normal = (read(in[c]) - mean) * rate, slope = read(given[c]);
                weight_sum[c] += slope * normal;
                bias_sum[c] += slope;
                sum += slope * read(weight[c]);
                product += slope * read(weight[c]) * normal;
            }
            sum /= width;
            product /= width;
#pragma omp simd
            for (int64_t c = 0; c < width; ++c) {
                const float normal = (read(in[c]) - mean) * rate;
                write(result[i * width + c], rate * (read(given[c]) * read(weight[c]) - sum - normal * product));
            }
        }
    }
    add_chunks(weights, width, weight_gradient);
    add_chunks(biases, width, bias_gradient);
}

template <typename T>
inline void copy(T *to, const T *from, int64_t size) {  // the usual head sizes without a call
    if (size == 32)
        std::memcpy(static_cast<void *>(to), from, 32 * sizeof(T));
    else if (size == 64)
        std::memcpy(static_cast<void *>(to), from, 64 * sizeof(T));
    else
        std::memcpy(static_cast<void *>(to), from, size * sizeof(T));
}

// x (B, T, kinds, nh, hs) → kinds times (B, nh, T, hs); kinds is 1 or 3, b and c may be null.
template <typename T>
void split_heads(const T *x, T *a, T *b, T *c, int64_t batch, int64_t time, int64_t heads, int64_t size,
                 int64_t kinds) {
    T *const to[3] = {a, b, c};
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < batch * heads; ++i)
        for (int64_t kind = 0; kind < kinds; ++kind)
            for (int64_t t = 0; t < time; ++t)
                copy(to[kind] + (i * time + t) * size,
                     x + (((i / heads * time + t) * kinds + kind) * heads + i % heads) * size, size);
}

template <typename T>
void merge_heads(const T *a, const T *b, const T *c, T *x, int64_t batch, int64_t time, int64_t heads, int64_t size,
                 int64_t kinds) {
    const T *const from[3] = {a, b, c};
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < batch * time; ++i)
        for (int64_t kind = 0; kind < kinds; ++kind)
            for (int64_t head = 0; head < heads; ++head)
                copy(x + ((i * kinds + kind) * heads + head) * size,
                     from[kind] + ((i / time * heads + head) * time + i % time) * size, size);
}

// Pairs (x[c], x[c + half]) of row i turned by the angles of position i mod positions.
template <typename T>
void rotate(const T *x, const T *cosine, const T *sine, T *y, int64_t rows, int64_t positions, int64_t half) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; ++i) {
        const T *in = x + i * 2 * half, *cosines = cosine + i % positions * half, *sines = sine + i % positions * half;
        T *out = y + i * 2 * half;
#pragma omp simd
        for (int64_t c = 0; c < half; ++c) {
            const float first = read(in[c]), second = read(in[c + half]), cos = read(cosines[c]), sin = read(sines[c]);
            write(out[c], first * cos - second * sin);
            write(out[c + half], first * sin + second * cos);
        }
    }
}

}  // namespace

#define FOR_TYPE(T, SUFFIX)                                                                                          \
    extern "C" void softmax_forward_##SUFFIX(const T *scores, T *weights, T *dropped, int64_t groups, int64_t rows,  \
                                             int64_t columns, const int32_t *first, const int32_t *last,             \
                                             double scale, double p, uint64_t seed) {                                 \
        softmax_forward(scores, weights, dropped, groups, rows, columns, first, last, scale, p, seed);               \
    }                                                                                                                \
    extern "C" void softmax_backward_##SUFFIX(const T *weights, const T *gradient, T *result, int64_t groups,        \
                                              int64_t rows, int64_t columns, const int32_t *first,                   \
                                              const int32_t *last, double scale, double p, uint64_t seed) {           \
        softmax_backward(weights, gradient, result, groups, rows, columns, first, last, scale, p, seed);             \
    }                                                                                                                \
    extern "C" void dropout_forward_##SUFFIX(const T *x, const T *bias, const T *residual, T *y, int64_t rows,       \
                                             int64_t width, double p, uint64_t seed) {                               \
        dropout_forward(x, bias, residual, y, rows, width, p, seed);                                                 \
    }                                                                                                                \
    extern "C" void dropout_backward_##SUFFIX(const T *gradient, T *result, float *bias_gradient, int64_t rows,      \
                                              int64_t width, double p, uint64_t seed) {                              \
        dropout_backward(gradient, result, bias_gradient, rows, width, p, seed);                                     \
    }                                                                                                                \
    extern "C" void gelu_forward_##SUFFIX(const T *x, const T *bias, T *y, T *slope, int64_t rows, int64_t width) {  \
        gelu_forward(x, bias, y, slope, rows, width);                                                                \
    }                                                                                                                \
    extern "C" void gelu_backward_##SUFFIX(const T *slope, const T *gradient, T *result, float *bias_gradient,       \
                                           int64_t rows, int64_t width) {                                            \
        gelu_backward(slope, gradient, result, bias_gradient, rows, width);                                          \
    }                                                                                                                \
    extern "C" void norm_forward_##SUFFIX(const T *x, const T *weight, const T *bias, T *y, float *statistics,       \
                                          int64_t rows, int64_t width, double epsilon) {                              \
        norm_forward(x, weight, bias, y, statistics, rows, width, epsilon);                                          \
    }                                                                                                                \
    extern "C" void norm_backward_##SUFFIX(const T *x, const T *weight, const float *statistics, const T *gradient,  \
                                           T *result, float *weight_gradient, float *bias_gradient, int64_t rows,    \
                                           int64_t width) {                                                          \
        norm_backward(x, weight, statistics, gradient, result, weight_gradient, bias_gradient, rows, width);         \
    }                                                                                                                \
    extern "C" void split_heads_##SUFFIX(const T *x, T *a, T *b, T *c, int64_t batch, int64_t time, int64_t heads,   \
                                         int64_t size, int64_t kinds) {                                              \
        split_heads(x, a, b, c, batch, time, heads, size, kinds);                                                    \
    }                                                                                                                \
    extern "C" void merge_heads_##SUFFIX(const T *a, const T *b, const T *c, T *x, int64_t batch, int64_t time,      \
                                         int64_t heads, int64_t size, int64_t kinds) {                               \
        merge_heads(a, b, c, x, batch, time, heads, size, kinds);                                                    \
    }                                                                                                                \
    extern "C" void rotate_##SUFFIX(const T *x, const T *cosine, const T *sine, T *y, int64_t rows,                  \
                                    int64_t positions, int64_t half) {                                               \
        rotate(x, cosine, sine, y, rows, positions, half);                                                           \
    }

FOR_TYPE(float, f32)
FOR_TYPE(bfloat16, bf16)
