// Causal softmax attention over sequences of different lengths that lie one after the other, without PAD.
//
// One sequence and head after the other: its queries, keys and values, some kilobytes, stay in the nearest cache from
// the first product to the last, as float32 whatever the numbers' type; scores are never written to memory. The backward
// pass computes them anew (Dao et al. 2022, arXiv 2205.14135). varlen_attention.py has the meaning and the shapes.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "arithmetic.h"

namespace {

constexpr int64_t LANES = 16;            // numbers of a vector
constexpr int64_t BLOCK = 6, AHEAD = 16;  // queries done together; characters asked of memory before their turn

typedef float vector __attribute__((vector_size(4 * LANES)));
typedef float four __attribute__((vector_size(4 * 4)));

inline vector load(const float *from) {
    vector x;
    std::memcpy(&x, from, sizeof x);
    return x;
}

inline void store(float *to, vector x) { std::memcpy(to, &x, sizeof x); }

inline vector all(float x) { return x - vector{}; }

inline int64_t whole(int64_t size, int64_t unit) { return (size + unit - 1) / unit * unit; }

struct alignas(4 * LANES) Line {
    float numbers[LANES];
};

struct Scratch {  // whole vectors, none of them across two lines of the cache
    std::vector<Line> lines;

    explicit Scratch(int64_t size) : lines(whole(size, LANES) / LANES) {}
    float *data() { return reinterpret_cast<float *>(lines.data()); }
};

void clear(Scratch &rows, int64_t from, int64_t to) { std::fill(rows.data() + from, rows.data() + to, 0.0f); }

struct Turn {  // the angles of position t for each pair of channels (c, c + half); none if half is 0
    const number *cosine, *sine;
    int64_t half;

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
void gather(const number *from, int64_t stride, int64_t characters, int64_t size, int64_t width, const Turn *turn,
            float *to) {
    for (int64_t t = 0; t < characters; ++t) {
        float *channels = to + t * width;
        __builtin_prefetch(from + (t + AHEAD) * stride);  // a line here and a line there: not foreseen otherwise
#pragma omp simd
        for (int64_t c = 0; c < size; ++c) channels[c] = read(from[t * stride + c]);
        for (int64_t c = size; c < width; ++c) channels[c] = 0;
        if (turn != nullptr) turn->apply(channels, t, 1.0f);
    }
}

// The way back of `gather`; channels are changed.
void scatter(float *channels, int64_t characters, int64_t size, int64_t width, const Turn *turn, number *to,
             int64_t stride) {
    for (int64_t t = 0; t < characters; ++t, channels += width) {
        if (turn != nullptr) turn->apply(channels, t, -1.0f);
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

// products[r][s] = bias[s] + Σ_c queries[r][c] · keys[c][s], for as many vectors of keys s.
template <int VECTORS>
inline void score_some(const float *queries, int64_t width, const float *keys, const float *bias, int64_t length,
                       int64_t size, int64_t s, float *products) {
    vector sum[BLOCK][VECTORS];
    for (int r = 0; r < BLOCK; ++r)
        for (int v = 0; v < VECTORS; ++v) sum[r][v] = load(bias + s + v * LANES);
    for (int64_t c = 0; c < size; ++c) {
        vector key[VECTORS];
        for (int v = 0; v < VECTORS; ++v) key[v] = load(keys + c * length + s + v * LANES);
        for (int r = 0; r < BLOCK; ++r) {
            const vector query = all(queries[r * width + c]);
            for (int v = 0; v < VECTORS; ++v) sum[r][v] += query * key[v];
        }
    }
    for (int r = 0; r < BLOCK; ++r)
        for (int v = 0; v < VECTORS; ++v) store(products + r * length + s + v * LANES, sum[r][v]);
}

// The same for all keys first ≤ s < last: whole vectors, taken in pairs, which keep the processor busier.
void score(const float *queries, int64_t width, const float *keys, const float *bias, int64_t length, int64_t size,
           int64_t first, int64_t last, float *products) {
    int64_t s = first;
    for (; s + 2 * LANES <= last; s += 2 * LANES)
        score_some<2>(queries, width, keys, bias, length, size, s, products);
    if (s < last) score_some<1>(queries, width, keys, bias, length, size, s, products);
}

// sums[r][c] = Σ_s weights[r][s] · values[s][c], for first ≤ s < last.
template <int VECTORS>
void weigh(const float *weights, int64_t length, const float *values, int64_t first, int64_t last, float *sums) {
    constexpr int64_t width = VECTORS * LANES;
    vector sum[BLOCK][VECTORS] = {};
    for (int64_t s = first; s < last; ++s) {
        vector value[VECTORS];
        for (int v = 0; v < VECTORS; ++v) value[v] = load(values + s * width + v * LANES);
        for (int r = 0; r < BLOCK; ++r) {
            const vector weight = all(weights[r * length + s]);
            for (int v = 0; v < VECTORS; ++v) sum[r][v] += weight * value[v];
        }
    }
    for (int r = 0; r < BLOCK; ++r)
        for (int v = 0; v < VECTORS; ++v) store(sums + r * width + v * LANES, sum[r][v]);
}

// sums[s][c] += Σ_r weights[r][s] · rows[r][c], for first ≤ s < last.
template <int VECTORS>
void spread(const float *weights, int64_t length, const float *rows, int64_t first, int64_t last, float *sums) {
    constexpr int64_t width = VECTORS * LANES;
    vector row[BLOCK][VECTORS];
    for (int r = 0; r < BLOCK; ++r)
        for (int v = 0; v < VECTORS; ++v) row[r][v] = load(rows + r * width + v * LANES);
    for (int64_t s = first; s < last; ++s) {
        vector sum[VECTORS];
        for (int v = 0; v < VECTORS; ++v) sum[v] = load(sums + s * width + v * LANES);
        for (int r = 0; r < BLOCK; ++r) {
            const vector weight = all(weights[r * length + s]);
            for (int v = 0; v < VECTORS; ++v) sum[v] += weight * row[r][v];
        }
        for (int v = 0; v < VECTORS; ++v) store(sums + s * width + v * LANES, sum[v]);
    }
}

// Everything about a call but its numbers.
struct Attention {
    const int64_t *starts, *lengths, *key_starts, *key_lengths;  // of each sequence's queries, and of its keys
    int64_t sequences, heads, key_heads, value_heads, size, query_stride, key_stride, value_stride, window;
    Turn angles;
    double scale, p;
    uint64_t seed;

    int64_t longest() const { return *std::max_element(lengths, lengths + sequences); }
    int64_t longest_key() const { return *std::max_element(key_lengths, key_lengths + sequences); }
    const Turn *turn() const { return angles.half ? &angles : nullptr; }
    // Whether a query head is the first, or the last, of those that share values.
    bool starts_value(int64_t head) const { return head % (heads / value_heads) == 0; }
    bool ends_value(int64_t head) const { return starts_value(head + 1); }
};

// One sequence and one head of keys.
struct Item {
    int64_t start, asking, key_start, asked, key_head, room;  // room: for the keys, whole vectors

    Item(const Attention &a, int64_t i) {
        const int64_t sequence = i / a.key_heads;
        start = a.starts[sequence], asking = a.lengths[sequence];
        key_start = a.key_starts[sequence], asked = a.key_lengths[sequence];
        key_head = i % a.key_heads, room = whole(asked, LANES);
    }
    int64_t keys(const Attention &a) const { return key_start * a.key_stride + key_head * a.size; }
    int64_t biases(const Attention &a) const { return key_start * a.key_heads + key_head; }
    int64_t values(const Attention &a, int64_t head) const {
        return key_start * a.value_stride + head / (a.heads / a.value_heads) * a.size;
    }
    int64_t queries(const Attention &a, int64_t head) const { return start * a.query_stride + head * a.size; }
    int64_t outputs(const Attention &a, int64_t head) const { return (start * a.heads + head) * a.size; }
};

// A block of queries, and the keys from the first one that any of them sees to the last.
struct Span {
    int64_t here, first, end, last;  // here: queries; first, last: whole vectors; end: the last key itself

    Span(const Attention &a, const Item &item, int64_t t) {
        here = std::min(BLOCK, item.asking - t);
        first = std::max<int64_t>(0, t + 1 - a.window) / LANES * LANES;
        end = std::min(t + here, item.asked);
        last = whole(end, LANES);
    }
};

// What one query sees, and what is dropped of it: draws are numbered by query, head and key.
struct Sight {
    int64_t from, seen;
    uint32_t base;

    Sight(const Attention &a, const Item &item, int64_t t, int64_t head, int64_t longest_key) {
        from = std::max<int64_t>(0, t + 1 - a.window);
        seen = std::min(t + 1, item.asked);
        base = static_cast<uint32_t>(((item.start + t) * a.heads + head) * longest_key);
    }
};

// Scores → weights of one query, zeros where it sees nothing; returns log Σ exp(scale · score).
float softmax(float *scores, const Span &span, const Sight &sight, float scale) {
    const int64_t from = sight.from, seen = sight.seen;
    float largest = -INFINITY, sum = 0;
#pragma omp simd reduction(max : largest)
    for (int64_t s = span.first; s < span.last; ++s) {
        scores[s] = s >= from && s < seen ? scores[s] * scale : -INFINITY;
        largest = scores[s] > largest ? scores[s] : largest;
    }
#pragma omp simd reduction(+ : sum)
    for (int64_t s = span.first; s < span.last; ++s) {
        const float exponent = scores[s] - largest;
        scores[s] = exponent < NOTHING ? 0.0f : exponential(exponent);
        sum += scores[s];
    }
    const float share = 1.0f / sum;
#pragma omp simd
    for (int64_t s = span.first; s < span.last; ++s) scores[s] *= share;
    return largest + std::log(sum);
}

// Scores → weights after dropout; slopes of those weights → slopes of the scores. sum: what `softmax` returned.
void softmax_back(float *scores, float *slopes, float *shares, const Span &span, const Sight &sight, float scale,
                  float sum, const Dropout &shared) {
    const int64_t from = sight.from, seen = sight.seen;
    const Dropout dropout = shared;  // in registers
    float mean = 0;
#pragma omp simd reduction(+ : mean)
    for (int64_t s = span.first; s < span.last; ++s) {
        const float exponent = scores[s] * scale - sum;
        const float share = s >= from && s < seen && exponent >= NOTHING ? exponential(exponent) : 0.0f;
        const float factor = dropout.factor(sight.base + static_cast<uint32_t>(s));
        shares[s] = share;
        scores[s] = share * factor;
        slopes[s] *= factor;
        mean += share * slopes[s];
    }
#pragma omp simd
    for (int64_t s = span.first; s < span.last; ++s) slopes[s] = shares[s] * (slopes[s] - mean) * scale;
}

// sums[s] += Σ_r slopes[r][s].
void add_columns(const float *slopes, int64_t length, const Span &span, float *sums) {
    for (int64_t r = 0; r < span.here; ++r)
#pragma omp simd
        for (int64_t s = span.first; s < span.last; ++s) sums[s] += slopes[r * length + s];
}

template <int VECTORS>
void forward(const Attention &a, const number *q, const number *k, const number *v, const number *b, number *y,
             float *sums) {
    constexpr int64_t width = VECTORS * LANES;
    const int64_t longest_key = a.longest_key(), room = whole(longest_key, LANES), group = a.heads / a.key_heads;
    const Dropout shared(a.seed, a.p);
#pragma omp parallel
    {
        Scratch query(whole(a.longest(), BLOCK) * width), key(room * width), turned(room * width),
            value(room * width), bias(room), weights(BLOCK * room), out(BLOCK * width);
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < a.sequences * a.key_heads; ++i) {
            const Item item(a, i);
            gather(k + item.keys(a), a.key_stride, item.asked, a.size, width, a.turn(), key.data());
            transpose(key.data(), item.asked, a.size, width, item.room, turned.data());
            if (b != nullptr) gather(b + item.biases(a), a.key_heads, item.asked, 1, 1, nullptr, bias.data());
            for (int64_t head = item.key_head * group; head < (item.key_head + 1) * group; ++head) {
                if (a.starts_value(head))
                    gather(v + item.values(a, head), a.value_stride, item.asked, a.size, width, nullptr, value.data());
                gather(q + item.queries(a, head), a.query_stride, item.asking, a.size, width, a.turn(), query.data());
                clear(query, item.asking * width, whole(item.asking, BLOCK) * width);
                for (int64_t t = 0; t < item.asking; t += BLOCK) {
                    const Span span(a, item, t);
                    score(query.data() + t * width, width, turned.data(), bias.data(), item.room, a.size, span.first,
                          span.last, weights.data());
                    for (int64_t r = 0; r < span.here; ++r) {
                        const Sight sight(a, item, t + r, head, longest_key);
                        float *weight = weights.data() + r * item.room;
                        sums[(item.start + t + r) * a.heads + head] = softmax(weight, span, sight, a.scale);
                        const Dropout dropout = shared;  // in registers
                        if (a.p > 0)
#pragma omp simd
                            for (int64_t s = span.first; s < span.last; ++s)
                                weight[s] *= dropout.factor(sight.base + static_cast<uint32_t>(s));
                    }
                    weigh<VECTORS>(weights.data(), item.room, value.data(), span.first, span.end, out.data());
                    scatter(out.data(), span.here, a.size, width, nullptr,
                            y + item.outputs(a, head) + t * a.heads * a.size, a.heads * a.size);
                }
            }
        }
    }
}

template <int VECTORS>
void backward(const Attention &a, const number *q, const number *k, const number *v, const number *b,
              const float *sums, const number *gradient, number *to_q, number *to_k, number *to_v, number *to_b) {
    constexpr int64_t width = VECTORS * LANES;
    const int64_t longest_key = a.longest_key(), room = whole(longest_key, LANES), group = a.heads / a.key_heads;
    const int64_t query_room = whole(a.longest(), BLOCK);
    const Dropout shared(a.seed, a.p);
#pragma omp parallel
    {
        Scratch query(query_room * width), given(query_room * width), of_query(query_room * width),
            key(room * width), turned(room * width), value(room * width), turned_value(room * width),
            of_key(room * width), of_value(room * width), bias(room), of_bias(room), zeros(room),
            weights(BLOCK * room), slopes(BLOCK * room), shares(room);
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < a.sequences * a.key_heads; ++i) {
            const Item item(a, i);
            gather(k + item.keys(a), a.key_stride, item.asked, a.size, width, a.turn(), key.data());
            transpose(key.data(), item.asked, a.size, width, item.room, turned.data());
            if (b != nullptr) gather(b + item.biases(a), a.key_heads, item.asked, 1, 1, nullptr, bias.data());
            clear(of_key, 0, item.asked * width);
            clear(of_bias, 0, item.room);
            for (int64_t head = item.key_head * group; head < (item.key_head + 1) * group; ++head) {
                if (a.starts_value(head)) {
                    gather(v + item.values(a, head), a.value_stride, item.asked, a.size, width, nullptr, value.data());
                    transpose(value.data(), item.asked, a.size, width, item.room, turned_value.data());
                    clear(of_value, 0, item.asked * width);
                }
                gather(q + item.queries(a, head), a.query_stride, item.asking, a.size, width, a.turn(), query.data());
                gather(gradient + item.outputs(a, head), a.heads * a.size, item.asking, a.size, width, nullptr,
                       given.data());
                clear(query, item.asking * width, whole(item.asking, BLOCK) * width);
                clear(given, item.asking * width, whole(item.asking, BLOCK) * width);
                for (int64_t t = 0; t < item.asking; t += BLOCK) {
                    const Span span(a, item, t);
                    const float *asking = query.data() + t * width, *got = given.data() + t * width;
                    score(asking, width, turned.data(), bias.data(), item.room, a.size, span.first, span.last,
                          weights.data());
                    score(got, width, turned_value.data(), zeros.data(), item.room, a.size, span.first, span.last,
                          slopes.data());
                    for (int64_t r = 0; r < span.here; ++r)
                        softmax_back(weights.data() + r * item.room, slopes.data() + r * item.room, shares.data(), span,
                                     Sight(a, item, t + r, head, longest_key), a.scale,
                                     sums[(item.start + t + r) * a.heads + head], shared);
                    if (b != nullptr) add_columns(slopes.data(), item.room, span, of_bias.data());
                    weigh<VECTORS>(slopes.data(), item.room, key.data(), span.first, span.end,
                                   of_query.data() + t * width);
                    spread<VECTORS>(slopes.data(), item.room, asking, span.first, span.end, of_key.data());
                    spread<VECTORS>(weights.data(), item.room, got, span.first, span.end, of_value.data());
                }
                scatter(of_query.data(), item.asking, a.size, width, a.turn(), to_q + item.queries(a, head),
                        a.query_stride);
                if (a.ends_value(head))
                    scatter(of_value.data(), item.asked, a.size, width, nullptr, to_v + item.values(a, head),
                            a.value_stride);
            }
            scatter(of_key.data(), item.asked, a.size, width, a.turn(), to_k + item.keys(a), a.key_stride);
            if (b != nullptr) scatter(of_bias.data(), item.asked, 1, 1, nullptr, to_b + item.biases(a), a.key_heads);
        }
    }
}

}  // namespace

// Forward: y (N, heads · size) and sums (N, heads), what the way back needs of the softmax. Backward, where there is a
// gradient of y: to_q, to_k, to_v and to_b. Queries, keys and values are columns of arrays whose rows, one a character,
// are their strides apart. b (M, key_heads), or null for nothing, is added to the scores of each key before they are scaled.
// Equal groups of query heads share keys, and equal groups values: as large ones, or parts of them.
extern "C" void attention(const number *q, const number *k, const number *v, const number *b, number *y, float *sums,
                          const number *gradient, number *to_q, number *to_k, number *to_v, number *to_b,
                          const int64_t *starts, const int64_t *lengths, const int64_t *key_starts,
                          const int64_t *key_lengths, int64_t sequences, int64_t heads, int64_t key_heads,
                          int64_t value_heads, int64_t size, int64_t query_stride, int64_t key_stride,
                          int64_t value_stride, int64_t window, const number *cosine, const number *sine, double scale,
                          double p, uint64_t seed) {
    const Attention a{starts, lengths,      key_starts, key_lengths,  sequences, heads, key_heads, value_heads,
                      size,   query_stride, key_stride, value_stride, window, {cosine, sine, cosine ? size / 2 : 0},
                      scale,  p,            seed};
    const auto run = [&](auto vectors) {
        if (gradient == nullptr)
            forward<vectors>(a, q, k, v, b, y, sums);
        else
            backward<vectors>(a, q, k, v, b, sums, gradient, to_q, to_k, to_v, to_b);
    };
    if (size <= LANES)
        run(std::integral_constant<int, 1>());
    else if (size <= 2 * LANES)
        run(std::integral_constant<int, 2>());
    else if (size <= 4 * LANES)
        run(std::integral_constant<int, 4>());
    else
        run(std::integral_constant<int, 8>());
}
