// Dropout in one pass over memory. ops.py has the meaning; kernels.py mirrors the struct.
//
// Compiled once for float32 and once, with -DBFLOAT16, for bfloat16; arithmetic is float32. What is dropped depends on
// a value's offset and the seed alone, so the way back is the same call on the gradient, on any number of threads.
#include "arithmetic.h"

namespace {

constexpr int64_t RUN = 4096;  // values that a thread takes at once

struct Call {
    const number *x;
    number *result;
    int64_t values;
    double dropout_rate;
    uint64_t seed;
};

}  // namespace

extern "C" void dropout(const Call &call) {
    const Dropout shared(call.seed, call.dropout_rate);
#pragma omp parallel for schedule(static)
    for (int64_t start = 0; start < call.values; start += RUN) {
        const int64_t count = std::min(RUN, call.values - start);
        const number *x = call.x + start;
        number *result = call.result + start;
        const Dropout own = shared;  // in registers
        const uint32_t base = static_cast<uint32_t>(start);
#pragma omp simd
        for (int64_t i = 0; i < count; ++i) write(result[i], read(x[i]) * own.factor(base + static_cast<uint32_t>(i)));
    }
}
