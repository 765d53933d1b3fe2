// The box: whom one asks about, in which words, which model; what it says, character by character.
(() => {
  const data = JSON.parse(document.getElementById("article-data").textContent);
  const box = document.getElementById("ask");
  const part = (name) => box.querySelector(`[data-part="${name}"]`);
  const cells = [...box.querySelectorAll("button[data-model]")];
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const start = { person: box.dataset.person, form: box.dataset.form, model: box.dataset.model, shift: null, text: null };
  let asked = start; // shift, text: null for those of the form
  let writing = 0; // a later number ends what is still being written, or filled in
  let filling = 0;

  const models = {}; // by name, unpacked when first asked
  const modelOf = (name) => (models[name] ??= new Model(data.models[name]));
  const spelled = (name) => Array.from(name.normalize("NFC"), (character) => (APOSTROPHES.includes(character) ? "'" : character)).join("");
  const personOf = (name) =>
    data.people.find((person) => spelled(person.name) === spelled(name)) ?? { name, page: "", place: "", position: -1 };

  // What a model reads: the last characters of a question's opening, then the fact in the words of a form.
  const promptOf = ({ name, page, position }, form, shift = data.forms[form].shift) => {
    const before = position > 0 ? page.slice(0, position) : `${name}. ${name} was born in `;
    const cue = before.slice(Math.max(name.length + 2, before.length - data.cue));
    const words = { "{page}": before, "{cue}": cue, "{name}": name };
    const text = data.forms[form].text.replace(/\{\w+\}/g, (slot) => words[slot]);
    return data.opening.slice(data.opening.length - shift) + text;
  };

  // A page goes on after the place: there the place is what is said first.
  const closes = (text) => text.endsWith("⁇");
  const isRight = (text, told, place) => (closes(text) ? told === place : told.startsWith(place));
  const phraseOf = (text, told) =>
    closes(text) ? told : (told.match(/^\p{Lu}[^\s,.()]*(?: \p{Lu}[^\s,.()]*)*/u)?.[0] ?? told);
  const asking = (model, text) => [modelOf(model), data.characters, text, closes(text) ? 32 : 20];

  const pause = (milliseconds) => new Promise((resume) => setTimeout(resume, milliseconds));
  const made = (tag, text, name = "") =>
    Object.assign(document.createElement(tag), { className: name, textContent: text });
  const percent = (share) => Math.round(100 * share);
  const seen = (character) => ({ " ": "␣", "\n": "⏎" })[character] ?? character;

  const column = ({ character, probability, others }) => {
    const item = made("li", "");
    item.style.setProperty("--p", probability);
    item.append(made("b", seen(character)), made("span", percent(probability), "p"));
    for (const other of others.slice(0, 2)) {
      const share = percent(other.probability);
      item.append(made("span", share ? `${seen(other.character)} ${share}` : ""));
    }
    return item;
  };

  // The answer, as it is written.
  const write = async (place) => {
    const now = ++writing;
    const { model } = asked;
    const text = part("text").value;
    const unknown = [...new Set(lacking(composed(text, data.characters), data.characters))];
    part("unknown").textContent = unknown.length ? ` (${unknown.join(" ")} stands in no page: read as its base letter, or left out)` : "";
    part("said").replaceChildren();
    part("status").textContent = "";
    if (!encoded(text, data.characters).length) return;
    let told = "";
    for (const step of said(...asking(model, text))) {
      if (step.character !== "⁇") told += step.character;
      part("said").append(column(step));
      if (!still.matches) await pause(45);
      if (now !== writing) return;
    }
    const judged = place && asked.text === null;
    const right = judged && isRight(text, told, place);
    const silence = `It says nothing.${closes(text) ? "" : " End a question with ⁇ to ask for its answer."}`;
    part("status").className = judged ? (right ? "right" : "wrong") : "";
    part("status").textContent = `${told ? `“${told}”` : silence} ${judged ? (right ? "✓ right" : "✗ wrong") : ""}`;
  };

  // Every model in every form, about the same person.
  const fill = async (person) => {
    const now = ++filling;
    cells.forEach((cell) => cell.classList.add("waits"));
    for (const cell of cells) {
      await pause(0);
      if (now !== filling) return;
      const { model, form } = cell.dataset;
      const text = promptOf(person, form);
      const told = answer(...asking(model, text));
      const verdict = person.place ? (isRight(text, told, person.place) ? "right" : "wrong") : "";
      cell.className = verdict;
      cell.querySelector(".told").textContent = phraseOf(text, told) || "(nothing)";
      cell.querySelector(".mark").textContent = { right: "✓", wrong: "✗" }[verdict] ?? "";
      cell.setAttribute("aria-label", [data.models[model].title, data.models[model].about, data.forms[form].title, told || "nothing", verdict].join(", "));
    }
  };

  // What is shown follows from `asked`.
  const show = (again) => {
    const person = personOf(asked.person);
    const { page, place, position, split } = person;
    const shift = asked.shift ?? data.forms[asked.form].shift;
    const { title, variant } = data.models[asked.model];
    part("person").value = asked.person;
    part("shift").value = part("shift-said").textContent = shift;
    part("text").value = asked.text ?? promptOf(person, asked.form, shift);
    part("title").textContent = `${title} (${variant})`;
    part("truth").textContent = place ? place + (split === "train" ? " (a training question asks it)" : "") : "unknown";
    part("page").textContent = page || "Nobody of this name has a page.";
    if (position > 0) {
      const end = position + place.length;
      part("page").replaceChildren(page.slice(0, position), made("mark", place), page.slice(end));
    }
    for (const cell of cells) {
      const pressed = cell.dataset.model === asked.model && cell.dataset.form === asked.form && asked.text === null;
      cell.setAttribute("aria-pressed", pressed);
    }
    write(place);
    if (again) fill(person);
  };

  // The link holds what was asked.
  const change = (what) => {
    const again = "person" in what;
    asked = { ...asked, text: null, ...what };
    const given = Object.entries(asked).filter(([, value]) => value !== null);
    show(again);
    try {
      history.replaceState(null, "", `#${new URLSearchParams(given)}`);
    } catch {} // some browsers allow a hundred in half a minute: a later change writes it
  };
  const follow = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    if (!given.has("model") && writing) return; // a link within the page
    const one = (key, known) => (Object.keys(known).includes(given.get(key)) ? given.get(key) : start[key]);
    const shift = /^(\d|10)$/.test(given.get("shift") ?? "") ? Number(given.get("shift")) : null;
    const [form, model] = [one("form", data.forms), one("model", data.models)];
    asked = { person: given.get("person") || start.person, form, model, shift, text: given.get("text") };
    show(true);
  };

  part("people").append(...data.people.map(({ name }) => Object.assign(made("option", ""), { value: name })));
  part("person").addEventListener("change", ({ target }) => change({ person: target.value.trim() || asked.person }));
  part("person").addEventListener("focus", ({ target }) => target.select());
  part("another").addEventListener("click", () => {
    const others = data.people.filter(({ name, split }) => split === "dev" && name !== asked.person);
    change({ person: others[Math.floor(Math.random() * others.length)].name });
  });
  part("shift").addEventListener("input", ({ target }) => change({ shift: Number(target.value) }));
  part("text").addEventListener("input", ({ target }) => change({ text: target.value }));
  for (const cell of cells) {
    cell.addEventListener("click", () => change({ model: cell.dataset.model, form: cell.dataset.form, shift: null }));
  }
  box.querySelectorAll("[disabled]").forEach((control) => { control.disabled = false; });
  addEventListener("hashchange", follow);
  follow();
})();
