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
