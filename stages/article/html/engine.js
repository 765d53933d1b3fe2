// What the model is computed with: numbers from text, and the four operations of a transformer on one vector.

// Base64 of little-endian numbers → a typed array.
const numbersOf = (text, Type) => {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new Type(bytes.buffer);
};

// A stored tensor → Float32Array, row after row. A matrix is stored as int8 with a scale a row, all else as float32.
const unpacked = ({ values, scales }) => {
  if (!scales) return numbersOf(values, Float32Array);
  const small = numbersOf(values, Int8Array);
  const scale = numbersOf(scales, Float32Array);
  const columns = small.length / scale.length;
  return Float32Array.from(small, (value, i) => value * scale[Math.floor(i / columns)]);
};

// W x + b. W: (D, C) row after row; x: (C,); b: (D,) or none → (D,)
// Four sums side by side: each step of a single one waits for the step before.
const linear = (W, x, b) => {
  const C = x.length;
  const y = new Float32Array(W.length / C);
  for (let d = 0, i = 0; d < y.length; d++) {
    let first = b ? b[d] : 0;
    let second = 0;
    let third = 0;
    let fourth = 0;
    let c = 0;
    for (; c + 3 < C; c += 4, i += 4) {
      first += W[i] * x[c];
      second += W[i + 1] * x[c + 1];
      third += W[i + 2] * x[c + 2];
      fourth += W[i + 3] * x[c + 3];
    }
    for (; c < C; c++, i++) first += W[i] * x[c];
    y[d] = first + second + third + fourth;
  }
  return y;
};

// (x − mean) / deviation · weight + bias, each (C,)
const layerNorm = (x, weight, bias) => {
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
  const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
  const scale = 1 / Math.sqrt(variance + 1e-5);
  return x.map((value, c) => (value - mean) * scale * weight[c] + bias[c]);
};

// The error function to 1.5e-7 (Abramowitz & Stegun 1964, 7.1.26).
const erf = (x) => {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return Math.sign(x) * (1 - series * Math.exp(-x * x));
};

// x times the normal distribution function at x (Hendrycks & Gimpel 2016, arXiv 1606.08415).
const gelu = (x) => x.map((value) => 0.5 * value * (1 + erf(value * Math.SQRT1_2)));

// exp(x) over its sum
const softmax = (x) => {
  const most = Math.max(...x);
  const powers = x.map((value) => Math.exp(value - most));
  const sum = powers.reduce((all, value) => all + value, 0);
  return powers.map((value) => value / sum);
};

const added = (x, y) => x.map((value, c) => value + y[c]);

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

// What a model says to a text, character by character.

const MASK = 1; // ⁇ opens and closes what is to be said

const APOSTROPHES = "'’‘ʼ"; // count as one

const lacking = (text, characters) => Array.from(text).filter((character) => !characters.includes(character));

// The text in whole letters (NFC), where the model knows more of those.
const composed = (text, characters) => {
  const whole = text.normalize("NFC");
  return lacking(whole, characters).length < lacking(text, characters).length ? whole : text;
};

// A character in a spelling that the model knows: another apostrophe, its base letters, or nothing.
const knownForm = (character, characters) => {
  if (characters.includes(character)) return [character];
  const forms = Array.from(APOSTROPHES.includes(character) ? APOSTROPHES : character.normalize("NFKD"));
  const known = forms.filter((form) => characters.includes(form));
  return APOSTROPHES.includes(character) ? known.slice(0, 1) : known;
};

// Text → numbers, as the study encodes it.
const encoded = (text, characters) =>
  Array.from(composed(text, characters))
    .flatMap((character) => knownForm(character, characters))
    .map((character) => characters.indexOf(character));

// Yields {character, probability, others} for each character that is said, the likeliest each time; others: the next
// likeliest, with their probabilities. Ends after ⁇, after `most` characters, or where the context is full.
function* said(model, characters, text, most = 32) {
  const cache = model.emptyCache();
  const prompt = encoded(text, characters).slice(-model.shape.context);
  let logits;
  for (const number of prompt) logits = model.read(number, cache);
  for (let length = 0; length < most; length++) {
    const probabilities = softmax(logits);
    const order = Array.from(probabilities.keys()).sort((a, b) => probabilities[b] - probabilities[a]);
    const [best, ...others] = order.slice(0, 4).map((number) => ({
      character: characters[number],
      probability: probabilities[number],
    }));
    yield { ...best, others };
    if (order[0] === MASK || cache[0].keys.length === model.shape.context) return;
    logits = model.read(order[0], cache);
  }
}

// The text that is said, without the ⁇ that closes it.
const answer = (...asked) => Array.from(said(...asked), (each) => each.character).join("").replace("⁇", "");
