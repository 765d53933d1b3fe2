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
