// What a step does between its matrix products, one pass over memory each.
//
// Compiled once for float32 and once, with -DBFLOAT16, for bfloat16; arithmetic is float32. Arrays are contiguous. Sums
// over rows are taken in CHUNKS fixed pieces and added in their order, so results do not depend on the number of
// threads. stages/model/fused.py has the meaning and the shapes.
#include <vector>

#include "arithmetic.h"

namespace {

constexpr int CHUNKS = 32;

// Scratch rows are a whole number of vectors long: exponentials and hashes never run one value at a time.
inline int64_t padded(int64_t length) { return (length + 15) / 16 * 16; }

// row = 0 … 0, values · factor, 0 … 0
inline void write_row(const float *values, float factor, number *row, int64_t from, int64_t seen, int64_t columns) {
    std::memset(static_cast<void *>(row), 0, from * sizeof(number));
#pragma omp simd
    for (int64_t s = 0; s < seen; ++s) write(row[from + s], values[s] * factor);
    std::memset(static_cast<void *>(row + from + seen), 0, (columns - from - seen) * sizeof(number));
}

void add_chunks(const std::vector<float> &sums, int64_t width, float *total) {
    for (int64_t c = 0; c < width; ++c) total[c] = 0;
    for (int chunk = 0; chunk < CHUNKS; ++chunk)
        for (int64_t c = 0; c < width; ++c) total[c] += sums[chunk * width + c];
}

inline void copy(number *to, const number *from, int64_t size) {  // the usual head sizes without a call
    if (size == 32)
        std::memcpy(static_cast<void *>(to), from, 32 * sizeof(number));
    else if (size == 64)
        std::memcpy(static_cast<void *>(to), from, 64 * sizeof(number));
    else
        std::memcpy(static_cast<void *>(to), from, size * sizeof(number));
}

}  // namespace

extern "C" {

void softmax_forward(const number *scores, number *weights, number *dropped, int64_t groups, int64_t rows,
                     int64_t columns, const int32_t *first, const int32_t *last, double scale, double p,
                     uint64_t seed) {
    const Dropout shared(seed, p);
#pragma omp parallel
    {
        std::vector<float> buffer(2 * padded(columns));
        float *values = buffer.data(), *kept = values + padded(columns);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < groups * rows; ++i) {
            const int64_t from = first[i % rows], seen = last[i % rows] - from, length = padded(seen);
            const number *score = scores + i * columns + from;
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

void softmax_backward(const number *weights, const number *gradient, number *result, int64_t groups, int64_t rows,
                      int64_t columns, const int32_t *first, const int32_t *last, double scale, double p,
                      uint64_t seed) {
    const Dropout shared(seed, p);
#pragma omp parallel
    {
        std::vector<float> buffer(2 * padded(columns));
        float *values = buffer.data(), *shares = values + padded(columns);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < groups * rows; ++i) {
            const int64_t from = first[i % rows], seen = last[i % rows] - from, length = padded(seen);
            const number *weight = weights + i * columns + from, *given = gradient + i * columns + from;
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
void dropout_forward(const number *x, const number *bias, const number *residual, number *y, int64_t rows,
                     int64_t width, double p, uint64_t seed) {
    const Dropout shared(seed, p);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; ++i) {
        const number *in = x + i * width;
        number *out = y + i * width;
        const Dropout dropout = shared;  // in registers
        const uint32_t base = static_cast<uint32_t>(i * width);
        if (residual == nullptr) {
#pragma omp simd
            for (int64_t c = 0; c < width; ++c)
                write(out[c], read(in[c]) * dropout.factor(base + static_cast<uint32_t>(c)));
        } else if (bias == nullptr) {
            const number *add = residual + i * width;
#pragma omp simd
            for (int64_t c = 0; c < width; ++c)
                write(out[c], read(add[c]) + read(in[c]) * dropout.factor(base + static_cast<uint32_t>(c)));
        } else {
            const number *add = residual + i * width;
#pragma omp simd
            for (int64_t c = 0; c < width; ++c)
                write(out[c],
                      read(add[c]) + (read(in[c]) + read(bias[c])) * dropout.factor(base + static_cast<uint32_t>(c)));
        }
    }
}

// dx = gradient · mask; dbias (float32) = its sum over rows, if not null.
void dropout_backward(const number *gradient, number *result, float *bias_gradient, int64_t rows, int64_t width,
                      double p, uint64_t seed) {
    const Dropout shared(seed, p);
    std::vector<float> sums(CHUNKS * width, 0.0f);
#pragma omp parallel for schedule(static)
    for (int chunk = 0; chunk < CHUNKS; ++chunk) {
        float *sum = sums.data() + chunk * width;
        for (int64_t i = rows * chunk / CHUNKS; i < rows * (chunk + 1) / CHUNKS; ++i) {
            const number *given = gradient + i * width;
            number *out = result + i * width;
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
void gelu_forward(const number *x, const number *bias, number *y, number *slope, int64_t rows, int64_t width) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; ++i) {
        const number *in = x + i * width;
        number *out = y + i * width, *slopes = slope + i * width;
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
void gelu_backward(const number *slope, const number *gradient, number *result, float *bias_gradient, int64_t rows,
                   int64_t width) {
    std::vector<float> sums(CHUNKS * width, 0.0f);
#pragma omp parallel for schedule(static)
    for (int chunk = 0; chunk < CHUNKS; ++chunk) {
        float *sum = sums.data() + chunk * width;
        for (int64_t i = rows * chunk / CHUNKS; i < rows * (chunk + 1) / CHUNKS; ++i) {
            const number *slopes = slope + i * width, *given = gradient + i * width;
            number *out = result + i * width;
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
void norm_forward(const number *x, const number *weight, const number *bias, number *y, float *statistics, int64_t rows,
                  int64_t width, double epsilon) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; ++i) {
        const number *in = x + i * width;
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

void norm_backward(const number *x, const number *weight, const float *statistics, const number *gradient,
                   number *result, float *weight_gradient, float *bias_gradient, int64_t rows, int64_t width) {
    std::vector<float> weights(CHUNKS * width, 0.0f), biases(CHUNKS * width, 0.0f);
#pragma omp parallel for schedule(static)
    for (int chunk = 0; chunk < CHUNKS; ++chunk) {
        float *weight_sum = weights.data() + chunk * width, *bias_sum = biases.data() + chunk * width;
        for (int64_t i = rows * chunk / CHUNKS; i < rows * (chunk + 1) / CHUNKS; ++i) {
            const number *in = x + i * width, *given = gradient + i * width;
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

// Sequences of x (N, kinds · nh · hs), each `length` characters from `start` → kinds times (B, nh, T, hs), 0 past a
// sequence's length; kinds is 1 or 3, b and c may be null.
void split_heads(const number *x, number *a, number *b, number *c, const int64_t *starts, const int64_t *lengths,
                 int64_t batch, int64_t time, int64_t heads, int64_t size, int64_t kinds) {
    number *const to[3] = {a, b, c};
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < batch * heads; ++i) {
        const int64_t start = starts[i / heads], length = lengths[i / heads];
        for (int64_t kind = 0; kind < kinds; ++kind) {
            for (int64_t t = 0; t < length; ++t)
                copy(to[kind] + (i * time + t) * size,
                     x + (((start + t) * kinds + kind) * heads + i % heads) * size, size);
            std::memset(static_cast<void *>(to[kind] + (i * time + length) * size), 0,
                        (time - length) * size * sizeof(number));
        }
    }
}

void merge_heads(const number *a, const number *b, const number *c, number *x, const int64_t *starts,
                 const int64_t *lengths, int64_t batch, int64_t time, int64_t heads, int64_t size, int64_t kinds) {
    const number *const from[3] = {a, b, c};
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < batch * time; ++i) {
        const int64_t sequence = i / time, t = i % time;
        if (t >= lengths[sequence]) continue;
        for (int64_t kind = 0; kind < kinds; ++kind)
            for (int64_t head = 0; head < heads; ++head)
                copy(x + (((starts[sequence] + t) * kinds + kind) * heads + head) * size,
                     from[kind] + ((sequence * heads + head) * time + t) * size, size);
    }
}

}  // extern "C"
