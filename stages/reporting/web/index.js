"use strict";
(() => {
  // ---- contents: always open beside the text, closed above it until asked for
  const wide = matchMedia("(min-width: 68rem)");
  const fold = () => {
    document.getElementById("contents--list").open = wide.matches;
    document.querySelector("summary").tabIndex = wide.matches ? -1 : 0;
  };
  wide.addEventListener("change", fold);
  fold();
  const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
  const heads = [...document.querySelectorAll("main h2")];
  const current = () => {
    const passed = heads.filter((head) => head.getBoundingClientRect().top < innerHeight / 3).pop();
    links.forEach((link) => link.removeAttribute("aria-current"));
    links.get(passed?.id)?.setAttribute("aria-current", "true");
  };
  addEventListener("scroll", () => requestAnimationFrame(current), { passive: true });
  current();

  // ---- what scrolls by itself can be reached by keyboard and is dotted at its right, but only where it does scroll
  const boxes = document.querySelectorAll(".scroll");
  const mark = (box) => box.classList.toggle("more", box.scrollWidth - box.clientWidth - box.scrollLeft > 1);
  // a table ends with a whole column: half a number reads as another one
  const snap = (box) => {
    box.style.maxWidth = "";
    const left = box.getBoundingClientRect().left;
    const ends = [...box.querySelectorAll("tr:first-child > *")].map((cell) => cell.getBoundingClientRect().right - left);
    const last = ends.filter((end) => end <= box.clientWidth).pop();
    if (last && last !== ends[ends.length - 1]) box.style.maxWidth = `${last + 3}px`;
  };
  const reachable = () => {
    for (const box of boxes) {
      box.scrollLeft || snap(box);
      const scrolls = box.scrollWidth > box.clientWidth + 1;
      for (const [name, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", "scrolls sideways"]]) {
        scrolls ? box.setAttribute(name, value) : box.removeAttribute(name);
      }
      mark(box);
    }
  };
  boxes.forEach((box) => box.addEventListener("scroll", () => mark(box), { passive: true }));
  addEventListener("resize", reachable);
  reachable();
})();
