// The kernels: causal softmax attention over sequences of different lengths that lie one after the other, without PAD,
// and dropout in one pass over memory. ../ops.py has the meaning, and mirrors the structs.
//
// Compiled once for float32 and once, with -DBFLOAT16, for bfloat16; arithmetic is float32. Attention takes one sequence
// and head after the other: its queries, keys and values, some kilobytes, stay in the nearest cache from the first
// product to the last; scores are never written to memory. The backward pass computes them anew (Dao et al. 2022, arXiv
// 2205.14135). What is dropped depends on a value's offset and the seed alone, so dropout's way back is the same call on
// the gradient, on any number of threads.
#include <type_traits>

#include "arithmetic.h"

namespace {

// Products are computed in blocks of six rows by two vectors: their sums fill AVX2's 16 registers, and keep any
// processor's multipliers busy.
constexpr int64_t BLOCK = 6, PAIR = 2 * LANES, AHEAD = 16;  // AHEAD: characters asked of memory before their turn

typedef float vector __attribute__((vector_size(4 * LANES)));
typedef float four __attribute__((vector_size(4 * 4)));

inline vector load(const float *from) {
    vector x;
    std::memcpy(&x, from, sizeof x);
    return x;
}

inline void store(float *to, vector x) { std::memcpy(to, &x, sizeof x); }

inline vector all(float x) { return x - vector{}; }

// block(c, vectors) for the columns 0 ≤ c < width, two vectors at once as long as there are as many.
template <typename Block>
inline void in_pairs(int64_t first, int64_t last, Block block) {
    int64_t c = first;
    for (; c + PAIR <= last; c += PAIR) block(c, std::integral_constant<int, 2>());
    if (c < last) block(c, std::integral_constant<int, 1>());
}

void clear(Scratch &rows, int64_t from, int64_t to) { std::fill(rows.data() + from, rows.data() + to, 0.0f); }

struct Rotation {  // the angles of position t for each pair of channels (c, c + half); none without tables of them
    const number *cosine, *sine;
    int64_t half;

    Rotation(const number *cosine, const number *sine, int64_t size)
        : cosine(cosine), sine(sine), half(cosine == nullptr ? 0 : size / 2) {}

    void apply(float *channels, int64_t t, float direction) const {
        const number *cosines = cosine + t * half, *sines = sine + t * half;
#pragma omp simd
        for (int64_t c = 0; c < half; ++c) {
            const float a = channels[c], b = channels[c + half];
            const float cos = read(cosines[c]), sin = direction * read(sines[c]);
            channels[c] = a * cos - b * sin;
            channels[c + half] = a * sin + b * cos;
        }
    }
};

// A head's channels of a sequence's characters, each in `width` floats of which those past `size` are 0.
void gather(const number *from, int64_t stride, int64_t characters, int64_t size, int64_t width,
            const Rotation *rotation, float *to) {
    for (int64_t t = 0; t < characters; ++t) {
        float *channels = to + t * width;
        __builtin_prefetch(from + (t + AHEAD) * stride);  // a line here and a line there: not foreseen otherwise
#pragma omp simd
        for (int64_t c = 0; c < size; ++c) channels[c] = read(from[t * stride + c]);
        for (int64_t c = size; c < width; ++c) channels[c] = 0;
        if (rotation != nullptr) rotation->apply(channels, t, 1.0f);
    }
}

// The way back of `gather`; channels are changed.
void scatter(float *channels, int64_t characters, int64_t size, int64_t width, const Rotation *rotation, number *to,
             int64_t stride) {
    for (int64_t t = 0; t < characters; ++t, channels += width) {
        if (rotation != nullptr) rotation->apply(channels, t, -1.0f);
#pragma omp simd
        for (int64_t c = 0; c < size; ++c) write(to[t * stride + c], channels[c]);
    }
}

// (characters, width) → (size, length), zeros past the last character; length is a multiple of four.
void transpose(const float *from, int64_t characters, int64_t size, int64_t width, int64_t length, float *to) {
    const int64_t fours = characters / 4 * 4;
    for (int64_t t = 0; t < fours; t += 4) {
        const float *row = from + t * width;
        for (int64_t c = 0; c < size; ++c) {
            const four column = {row[c], row[width + c], row[2 * width + c], row[3 * width + c]};
            std::memcpy(to + c * length + t, &column, sizeof column);
        }
    }
    for (int64_t c = 0; c < size; ++c) {
        for (int64_t t = fours; t < characters; ++t) to[c * length + t] = from[t * width + c];
        std::fill(to + c * length + characters, to + (c + 1) * length, 0.0f);
    }
}

// products[r][s] = bias[s] + Σ_c queries[r][c] · keys[c][s], for the whole vectors of keys first ≤ s < last.
void score(const float *queries, int64_t width, const float *keys, const float *bias, int64_t length, int64_t size,
           int64_t first, int64_t last, float *products) {
    in_pairs(first, last, [=](int64_t s, auto vectors) {
        vector sum[BLOCK][vectors];
        for (int r = 0; r < BLOCK; ++r)
            for (int v = 0; v < vectors; ++v) sum[r][v] = load(bias + s + v * LANES);
        for (int64_t c = 0; c < size; ++c) {
            vector key[vectors];
            for (int v = 0; v < vectors; ++v) key[v] = load(keys + c * length + s + v * LANES);
            for (int r = 0; r < BLOCK; ++r)
                for (int v = 0; v < vectors; ++v) sum[r][v] += all(queries[r * width + c]) * key[v];
        }
        for (int r = 0; r < BLOCK; ++r)
            for (int v = 0; v < vectors; ++v) store(products + r * length + s + v * LANES, sum[r][v]);
    });
}

// sums[r][c] = Σ_s weights[r][s] · values[s][c], for first ≤ s < last.
void weigh(const float *weights, int64_t length, const float *values, int64_t width, int64_t first, int64_t last,
           float *sums) {
    in_pairs(0, width, [=](int64_t c, auto vectors) {
        vector sum[BLOCK][vectors] = {};
        for (int64_t s = first; s < last; ++s) {
            vector value[vectors];
            for (int v = 0; v < vectors; ++v) value[v] = load(values + s * width + c + v * LANES);
            for (int r = 0; r < BLOCK; ++r)
                for (int v = 0; v < vectors; ++v) sum[r][v] += all(weights[r * length + s]) * value[v];
        }
        for (int r = 0; r < BLOCK; ++r)
            for (int v = 0; v < vectors; ++v) store(sums + r * width + c + v * LANES, sum[r][v]);
    });
}

// sums[s][c] += Σ_r weights[r][s] · rows[r][c], for first ≤ s < last.
void spread(const float *weights, int64_t length, const float *rows, int64_t width, int64_t first, int64_t last,
            float *sums) {
    in_pairs(0, width, [=](int64_t c, auto vectors) {
        vector row[BLOCK][vectors];
        for (int r = 0; r < BLOCK; ++r)
            for (int v = 0; v < vectors; ++v) row[r][v] = load(rows + r * width + c + v * LANES);
        for (int64_t s = first; s < last; ++s) {
            vector sum[vectors];
            for (int v = 0; v < vectors; ++v) sum[v] = load(sums + s * width + c + v * LANES);
            for (int r = 0; r < BLOCK; ++r)
                for (int v = 0; v < vectors; ++v) sum[v] += all(weights[r * length + s]) * row[r][v];
            for (int v = 0; v < vectors; ++v) store(sums + s * width + c + v * LANES, sum[v]);
        }
    });
}

// A call of `attention`. Queries, keys and values are columns of arrays whose rows, one a character, are their strides
// apart. Equal groups of query heads share keys, and equal groups values: as large ones, or parts of them.
struct Attention {
    const number *queries, *keys, *values;
    const number *biases;    // (M, key_heads), added to the scores of each key before they are scaled; or null
    number *outputs;         // (N, heads · size)
    float *sums;             // (N, heads), what the way back needs of the softmax
    const number *gradient;  // of the outputs; null on the way forward
    number *to_queries, *to_keys, *to_values, *to_biases;
    const int64_t *starts, *lengths, *key_starts, *key_lengths;  // of each sequence's queries, and of its keys
    const number *cosine, *sine;                                 // (T, size / 2) each, or null
    int64_t sequences, heads, key_heads, value_heads, size, query_stride, key_stride, value_stride, window;
    double scale, dropout_rate;
    uint64_t seed;

    int64_t width() const { return whole(size, LANES); }
    int64_t group() const { return heads / key_heads; }
    int64_t longest() const { return *std::max_element(lengths, lengths + sequences); }
    int64_t longest_key() const { return *std::max_element(key_lengths, key_lengths + sequences); }
    // Whether a query head is the first, or the last, of those that share values.
    bool starts_value(int64_t head) const { return head % (heads / value_heads) == 0; }
    bool ends_value(int64_t head) const { return starts_value(head + 1); }
};

// What a thread does at once: one sequence, one head of keys, and all query heads that share it.
struct WorkItem {
    int64_t first_query, queries, first_key, keys;  // in the arrays of all sequences, and how many
    int64_t key_head, room;                         // room: for the keys, whole vectors

    WorkItem(const Attention &a, int64_t i) {
        const int64_t sequence = i / a.key_heads;
        first_query = a.starts[sequence], queries = a.lengths[sequence];
        first_key = a.key_starts[sequence], keys = a.key_lengths[sequence];
        key_head = i % a.key_heads, room = whole(keys, LANES);
    }
    // Where its numbers begin in the arrays, those of a query head or of the key head.
    int64_t key_offset(const Attention &a) const { return first_key * a.key_stride + key_head * a.size; }
    int64_t bias_offset(const Attention &a) const { return first_key * a.key_heads + key_head; }
    int64_t value_offset(const Attention &a, int64_t head) const {
        return first_key * a.value_stride + head / (a.heads / a.value_heads) * a.size;
    }
    int64_t query_offset(const Attention &a, int64_t head) const {
        return first_query * a.query_stride + head * a.size;
    }
    int64_t output_offset(const Attention &a, int64_t head) const { return (first_query * a.heads + head) * a.size; }
};

// A block of queries, and the keys from the first one that any of them sees to the last.
struct QueryBlock {
    int64_t rows, first, end, last;  // rows: queries; first, last: whole vectors; end: the last key itself

    QueryBlock(const Attention &a, const WorkItem &item, int64_t t) {
        rows = std::min(BLOCK, item.queries - t);
        first = std::max<int64_t>(0, t + 1 - a.window) / LANES * LANES;
        end = std::min(t + rows, item.keys);
        last = whole(end, LANES);
    }
};

// The keys that one query sees, from ≤ s < seen, and what is dropped of them: draws are numbered by query, head, key.
struct VisibleKeys {
    int64_t from, seen;
    uint32_t base;

    VisibleKeys(const Attention &a, const WorkItem &item, int64_t t, int64_t head, int64_t longest_key) {
        from = std::max<int64_t>(0, t + 1 - a.window);
        seen = std::min(t + 1, item.keys);
        base = static_cast<uint32_t>(((item.first_query + t) * a.heads + head) * longest_key);
    }
};

// Scores → weights after dropout; slopes of those weights → slopes of the scores. sum: what `softmax` returned.
template <bool DROPS>
void softmax_back_of_row(float *scores, float *slopes, float *shares, const QueryBlock &block,
                         const VisibleKeys &visible, float scale, float sum, const Dropout &shared) {
    const Dropout dropout = shared;  // in registers
    float mean = 0;
    hide(scores, block.first, block.last, visible.from, visible.seen);
#pragma omp simd reduction(+ : mean)
    for (int64_t s = block.first; s < block.last; ++s) {
        const float exponent = scores[s] * scale - sum, share = exponent < NOTHING ? 0.0f : exponential(exponent);
        const float factor = DROPS ? dropout.factor(visible.base + static_cast<uint32_t>(s)) : 1.0f;
        shares[s] = share;
        scores[s] = share * factor;
        slopes[s] *= factor;
        mean += share * slopes[s];
    }
#pragma omp simd
    for (int64_t s = block.first; s < block.last; ++s) slopes[s] = shares[s] * (slopes[s] - mean) * scale;
}

// sums[s] += Σ_r slopes[r][s].
void add_columns(const float *slopes, int64_t length, const QueryBlock &block, float *sums) {
    for (int64_t r = 0; r < block.rows; ++r)
#pragma omp simd
        for (int64_t s = block.first; s < block.last; ++s) sums[s] += slopes[r * length + s];
}

void forward(const Attention &a) {
    const int64_t width = a.width(), longest_key = a.longest_key(), room = whole(longest_key, LANES);
    const Rotation angles(a.cosine, a.sine, a.size);
    const Dropout dropout(a.seed, a.dropout_rate);
#pragma omp parallel
    {
        Scratch query(whole(a.longest(), BLOCK) * width), key(room * width), transposed_key(room * width),
            value(room * width), bias(room), weights(BLOCK * room), out(BLOCK * width);
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < a.sequences * a.key_heads; ++i) {
            const WorkItem item(a, i);
            gather(a.keys + item.key_offset(a), a.key_stride, item.keys, a.size, width, &angles, key.data());
            transpose(key.data(), item.keys, a.size, width, item.room, transposed_key.data());
            if (a.biases != nullptr)
                gather(a.biases + item.bias_offset(a), a.key_heads, item.keys, 1, 1, nullptr, bias.data());
            for (int64_t head = item.key_head * a.group(); head < (item.key_head + 1) * a.group(); ++head) {
                if (a.starts_value(head))
                    gather(a.values + item.value_offset(a, head), a.value_stride, item.keys, a.size, width, nullptr,
                           value.data());
                gather(a.queries + item.query_offset(a, head), a.query_stride, item.queries, a.size, width, &angles,
                       query.data());
                clear(query, item.queries * width, whole(item.queries, BLOCK) * width);
                for (int64_t t = 0; t < item.queries; t += BLOCK) {
                    const QueryBlock block(a, item, t);
                    score(query.data() + t * width, width, transposed_key.data(), bias.data(), item.room, a.size,
                          block.first, block.last, weights.data());
                    for (int64_t r = 0; r < block.rows; ++r) {
                        const VisibleKeys visible(a, item, t + r, head, longest_key);
                        float *weight = weights.data() + r * item.room;
                        hide(weight, block.first, block.last, visible.from, visible.seen);
                        a.sums[(item.first_query + t + r) * a.heads + head] =
                            softmax(weight, block.first, block.last, a.scale);
                        if (a.dropout_rate > 0) dropout.apply(weight, block.first, block.last, visible.base);
                    }
                    weigh(weights.data(), item.room, value.data(), width, block.first, block.end, out.data());
                    scatter(out.data(), block.rows, a.size, width, nullptr,
                            a.outputs + item.output_offset(a, head) + t * a.heads * a.size, a.heads * a.size);
                }
            }
        }
    }
}

void backward(const Attention &a) {
    const int64_t width = a.width(), longest_key = a.longest_key(), room = whole(longest_key, LANES);
    const int64_t query_room = whole(a.longest(), BLOCK);
    const Rotation angles(a.cosine, a.sine, a.size);
    const Dropout dropout(a.seed, a.dropout_rate);
    const auto softmax_back = a.dropout_rate > 0 ? softmax_back_of_row<true> : softmax_back_of_row<false>;
#pragma omp parallel
    {
        Scratch query(query_room * width), gradient(query_room * width), of_query(query_room * width),
            key(room * width), transposed_key(room * width), value(room * width), transposed_value(room * width),
            of_key(room * width), of_value(room * width), bias(room), of_bias(room), zeros(room),
            weights(BLOCK * room), slopes(BLOCK * room), shares(room);
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < a.sequences * a.key_heads; ++i) {
            const WorkItem item(a, i);
            gather(a.keys + item.key_offset(a), a.key_stride, item.keys, a.size, width, &angles, key.data());
            transpose(key.data(), item.keys, a.size, width, item.room, transposed_key.data());
            if (a.biases != nullptr)
                gather(a.biases + item.bias_offset(a), a.key_heads, item.keys, 1, 1, nullptr, bias.data());
            clear(of_key, 0, item.keys * width);
            clear(of_bias, 0, item.room);
            for (int64_t head = item.key_head * a.group(); head < (item.key_head + 1) * a.group(); ++head) {
                if (a.starts_value(head)) {
                    gather(a.values + item.value_offset(a, head), a.value_stride, item.keys, a.size, width, nullptr,
                           value.data());
                    transpose(value.data(), item.keys, a.size, width, item.room, transposed_value.data());
                    clear(of_value, 0, item.keys * width);
                }
                gather(a.queries + item.query_offset(a, head), a.query_stride, item.queries, a.size, width, &angles,
                       query.data());
                gather(a.gradient + item.output_offset(a, head), a.heads * a.size, item.queries, a.size, width, nullptr,
                       gradient.data());
                clear(query, item.queries * width, whole(item.queries, BLOCK) * width);
                clear(gradient, item.queries * width, whole(item.queries, BLOCK) * width);
                for (int64_t t = 0; t < item.queries; t += BLOCK) {
                    const QueryBlock block(a, item, t);
                    const float *query_rows = query.data() + t * width, *gradient_rows = gradient.data() + t * width;
                    score(query_rows, width, transposed_key.data(), bias.data(), item.room, a.size, block.first,
                          block.last, weights.data());
                    score(gradient_rows, width, transposed_value.data(), zeros.data(), item.room, a.size, block.first,
                          block.last, slopes.data());
                    for (int64_t r = 0; r < block.rows; ++r)
                        softmax_back(weights.data() + r * item.room, slopes.data() + r * item.room, shares.data(),
                                     block, VisibleKeys(a, item, t + r, head, longest_key), a.scale,
                                     a.sums[(item.first_query + t + r) * a.heads + head], dropout);
                    if (a.biases != nullptr) add_columns(slopes.data(), item.room, block, of_bias.data());
                    weigh(slopes.data(), item.room, key.data(), width, block.first, block.end,
                          of_query.data() + t * width);
                    spread(slopes.data(), item.room, query_rows, width, block.first, block.end, of_key.data());
                    spread(weights.data(), item.room, gradient_rows, width, block.first, block.end, of_value.data());
                }
                scatter(of_query.data(), item.queries, a.size, width, &angles,
                        a.to_queries + item.query_offset(a, head), a.query_stride);
                if (a.ends_value(head))
                    scatter(of_value.data(), item.keys, a.size, width, nullptr,
                            a.to_values + item.value_offset(a, head), a.value_stride);
            }
            scatter(of_key.data(), item.keys, a.size, width, &angles, a.to_keys + item.key_offset(a), a.key_stride);
            if (a.biases != nullptr)
                scatter(of_bias.data(), item.keys, 1, 1, nullptr, a.to_biases + item.bias_offset(a), a.key_heads);
        }
    }
}

constexpr int64_t RUN = 4096;  // values that a thread of `dropout` takes at once

struct DropoutCall {
    const number *x;
    number *result;
    int64_t values;
    double dropout_rate;
    uint64_t seed;
};

}  // namespace

// outputs and sums; or, where there is a gradient of the outputs, those of queries, keys, values and biases.
extern "C" void attention(const Attention &call) {
    if (call.gradient == nullptr)
        forward(call);
    else
        backward(call);
}

extern "C" void dropout(const DropoutCall &call) {
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
