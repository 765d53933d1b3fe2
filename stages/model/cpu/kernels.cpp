// What a step does between its matrix products, one pass over memory each.
//
// Compiled once for float32 and once, with -DBFLOAT16, for bfloat16; arithmetic is float32. Arrays are contiguous. Sums
// over rows are taken in CHUNKS fixed pieces and added in their order, so results do not depend on the number of
// threads. ops.py has the meaning and the shapes; calls.py mirrors the structs, of which a kernel reads
// the fields that it names.
#include "arithmetic.h"

namespace {

constexpr int CHUNKS = 32;

struct AddDropout {
    const number *x, *bias, *residual, *gradient;
    number *result;
    float *bias_gradient;
    int64_t rows, width;
    double dropout_rate;
    uint64_t seed;
};

struct Gelu {
    const number *x, *bias, *gradient;
    number *result, *slope;
    float *bias_gradient;
    int64_t rows, width;
};

struct Norm {
    const number *x, *weight, *bias, *gradient;
    number *result;
    float *statistics, *weight_gradient, *bias_gradient;  // statistics: mean and 1/σ of each row, (rows, 2)
    int64_t rows, width;
    double epsilon;
};

// body(row, sums) for each row, where sums are `count` times `width` floats that start at 0; then their totals.
template <typename Body>
void sum_rows(int64_t rows, int64_t width, int count, float *const *totals, Body body) {
    std::vector<float> sums(CHUNKS * count * width, 0.0f);
#pragma omp parallel for schedule(static)
    for (int chunk = 0; chunk < CHUNKS; ++chunk)
        for (int64_t i = rows * chunk / CHUNKS; i < rows * (chunk + 1) / CHUNKS; ++i)
            body(i, sums.data() + chunk * count * width);
    for (int each = 0; each < count; ++each) {
        if (totals[each] == nullptr) continue;
        for (int64_t c = 0; c < width; ++c) totals[each][c] = 0;
        for (int chunk = 0; chunk < CHUNKS; ++chunk)
            for (int64_t c = 0; c < width; ++c) totals[each][c] += sums[(chunk * count + each) * width + c];
    }
}

}  // namespace

extern "C" {

// result = residual + dropout(x + bias); residual, or bias, may be null.
void dropout_forward(const AddDropout &call) {
    const Dropout shared(call.seed, call.dropout_rate);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < call.rows; ++i) {
        const int64_t width = call.width;
        const number *x = call.x + i * width, *bias = call.bias, *residual = call.residual + i * width;
        number *result = call.result + i * width;
        const Dropout dropout = shared;  // in registers
        const uint32_t base = static_cast<uint32_t>(i * width);
        if (call.residual == nullptr) {
#pragma omp simd
            for (int64_t c = 0; c < width; ++c)
                write(result[c], read(x[c]) * dropout.factor(base + static_cast<uint32_t>(c)));
        } else if (bias == nullptr) {
#pragma omp simd
            for (int64_t c = 0; c < width; ++c)
                write(result[c], read(residual[c]) + read(x[c]) * dropout.factor(base + static_cast<uint32_t>(c)));
        } else {
#pragma omp simd
            for (int64_t c = 0; c < width; ++c) {
                const float factor = dropout.factor(base + static_cast<uint32_t>(c));
                write(result[c], read(residual[c]) + (read(x[c]) + read(bias[c])) * factor);
            }
        }
    }
}

// result = gradient · mask; bias_gradient = its sum over rows, if not null.
void dropout_backward(const AddDropout &call) {
    const Dropout shared(call.seed, call.dropout_rate);
    const int64_t width = call.width;
    sum_rows(call.rows, width, 1, &call.bias_gradient, [&](int64_t i, float *sum) {
        const number *gradient = call.gradient + i * width;
        number *result = call.result + i * width;
        const Dropout dropout = shared;  // in registers
        const uint32_t base = static_cast<uint32_t>(i * width);
#pragma omp simd
        for (int64_t c = 0; c < width; ++c) {
            const float value = read(gradient[c]) * dropout.factor(base + static_cast<uint32_t>(c));
            write(result[c], value);
            sum[c] += value;
        }
    });
}

// result = GELU(x + bias), and, if not null, the slope there.
void gelu_forward(const Gelu &call) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < call.rows; ++i) {
        const int64_t width = call.width;
        const number *x = call.x + i * width, *bias = call.bias;
        number *result = call.result + i * width, *slope = call.slope + i * width;
        if (call.slope == nullptr) {
#pragma omp simd
            for (int64_t c = 0; c < width; ++c) {
                float density;
                const float value = read(x[c]) + read(bias[c]);
                write(result[c], value * normal_cdf(value, density));
            }
        } else {
#pragma omp simd
            for (int64_t c = 0; c < width; ++c) {
                float density;
                const float value = read(x[c]) + read(bias[c]), cdf = normal_cdf(value, density);
                write(result[c], value * cdf);
                write(slope[c], cdf + value * density);
            }
        }
    }
}

// result = gradient · slope; bias_gradient = its sum over rows.
void gelu_backward(const Gelu &call) {
    const int64_t width = call.width;
    sum_rows(call.rows, width, 1, &call.bias_gradient, [&](int64_t i, float *sum) {
        const number *slope = call.slope + i * width, *gradient = call.gradient + i * width;
        number *result = call.result + i * width;
#pragma omp simd
        for (int64_t c = 0; c < width; ++c) {
            const float value = read(gradient[c]) * read(slope[c]);
            write(result[c], value);
            sum[c] += value;
        }
    });
}

// result = LayerNorm(x), and its statistics.
void norm_forward(const Norm &call) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < call.rows; ++i) {
        const int64_t width = call.width;
        const number *x = call.x + i * width, *weight = call.weight, *bias = call.bias;
        number *result = call.result + i * width;
        float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t c = 0; c < width; ++c) sum += read(x[c]);
        const float mean = sum / width;
#pragma omp simd reduction(+ : squares)
        for (int64_t c = 0; c < width; ++c) {
            const float difference = read(x[c]) - mean;
            squares += difference * difference;
        }
        const float rate = 1.0f / std::sqrt(squares / width + call.epsilon);
        call.statistics[2 * i] = mean;
        call.statistics[2 * i + 1] = rate;
#pragma omp simd
        for (int64_t c = 0; c < width; ++c)
            write(result[c], (read(x[c]) - mean) * rate * read(weight[c]) + read(bias[c]));
    }
}

// result = the slopes of x; the gradients of weight and bias.
void norm_backward(const Norm &call) {
    const int64_t width = call.width;
    float *const totals[2] = {call.weight_gradient, call.bias_gradient};
    sum_rows(call.rows, width, 2, totals, [&](int64_t i, float *sums) {
        const number *x = call.x + i * width, *gradient = call.gradient + i * width, *weight = call.weight;
        number *result = call.result + i * width;
        float *weight_sum = sums, *bias_sum = sums + width;
        const float mean = call.statistics[2 * i], rate = call.statistics[2 * i + 1];
        float sum = 0, product = 0;
#pragma omp simd reduction(+ : sum, product)
        for (int64_t c = 0; c < width; ++c) {
            const float normal = (read(x[c]) - mean) * rate, slope = read(gradient[c]);
            weight_sum[c] += slope * normal;
            bias_sum[c] += slope;
            sum += slope * read(weight[c]);
            product += slope * read(weight[c]) * normal;
        }
        sum /= width;
        product /= width;
#pragma omp simd
        for (int64_t c = 0; c < width; ++c) {
            const float normal = (read(x[c]) - mean) * rate;
            write(result[c], rate * (read(gradient[c]) * read(weight[c]) - sum - normal * product));
        }
    });
}

}  // extern "C"
