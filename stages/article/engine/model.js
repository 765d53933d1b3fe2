// The model: a decoder-only transformer over characters, one character at a time.
//
//   number ── embedding (+ learned position) ── layers × block ── LayerNorm ── head ── logits
//
// `rope` turns queries and keys by their position (Su et al. 2021, arXiv 2104.09864), `vanilla` adds learned positions
// (Vaswani et al. 2017, arXiv 1706.03762). The same weights in torch: stages/model/.

class Model {
  // stored: {shape: {layers, heads, width, context}, theta (rope) or null, tensors by name}
  constructor(stored) {
    this.shape = stored.shape;
    this.theta = stored.theta;
    this.weights = Object.fromEntries(Object.entries(stored.tensors).map(([name, each]) => [name, unpacked(each)]));
  }

  // What has been read: of each block the keys and values (C,) of all positions.
  emptyCache() {
    return Array.from({ length: this.shape.layers }, () => ({ keys: [], values: [] }));
  }

  // Read one more character, a number → logits (V,) of the next.
  read(number, cache) {
    const { weights, shape } = this;
    const C = shape.width;
    const t = cache[0].keys.length;
    let x = weights["embedding.weight"].slice(number * C, (number + 1) * C); // (C,)
    if (weights.positions) x = added(x, weights.positions.subarray(t * C, (t + 1) * C));
    cache.forEach((remembered, layer) => { x = this.block(`blocks.${layer}.`, x, remembered); });
    return linear(weights["head.weight"], layerNorm(x, weights["norm.weight"], weights["norm.bias"]));
  }

  // x + attention(norm(x)), then x + MLP(norm(x))
  block(at, x, remembered) {
    const part = (name) => this.weights[at + name];
    const layer = (name, input) => linear(part(`${name}.weight`), input, part(`${name}.bias`));
    const norm = (name, input) => layerNorm(input, part(`${name}.weight`), part(`${name}.bias`));
    const mixed = this.attention(layer("mixer.query_key_value", norm("norm_mixer", x)), remembered);
    x = added(x, layer("mixer.projection", mixed));
    return added(x, layer("contract", gelu(layer("expand", norm("norm_mlp", x)))));
  }

  // softmax(q · kᵀ / √hs) v in each head, over all positions up to this one. joined: (3C,) → (C,)
  attention(joined, remembered) {
    const C = this.shape.width;
    const hs = C / this.shape.heads;
    const t = remembered.keys.length;
    const q = this.turned(joined.slice(0, C), t);
    remembered.keys.push(this.turned(joined.slice(C, 2 * C), t));
    remembered.values.push(joined.slice(2 * C));
    const mixed = new Float32Array(C);
    for (let head = 0; head < C; head += hs) {
      const scores = remembered.keys.map((k) => {
        let product = 0;
        for (let c = head; c < head + hs; c++) product += q[c] * k[c];
        return product / Math.sqrt(hs);
      });
      softmax(scores).forEach((weight, s) => {
        const v = remembered.values[s];
        for (let c = head; c < head + hs; c++) mixed[c] += weight * v[c];
      });
    }
    return mixed;
  }

  // Queries or keys (C,), the pair (i, i + hs/2) of each head turned by t · theta^(−2i/hs)
  turned(x, t) {
    if (this.theta === null) return x;
    const hs = x.length / this.shape.heads;
    return x.map((value, c) => {
      const i = c % hs;
      const half = hs / 2;
      const angle = t * this.theta ** ((-2 * (i % half)) / hs);
      const other = i < half ? -x[c + half] : x[c - half];
      return value * Math.cos(angle) + other * Math.sin(angle);
    });
  }
}
