// Figures that can be touched: the nearest dot says its value, buttons switch series on and off.
(() => {
  const REACH = 24; // pixels
  for (const figure of document.querySelectorAll("figure.chart")) {
    const tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
    figure.querySelector(".plot").append(tip);
    const svg = figure.querySelector("svg");
    const shown = () => [...svg.querySelectorAll(".mark")].filter((mark) => mark.style.display !== "none");
    const say = ({ clientX, clientY }) => {
      let [nearest, least] = [null, REACH];
      for (const mark of shown()) {
        const { left, top, width, height } = mark.getBoundingClientRect();
        const distance = Math.hypot(left + width / 2 - clientX, top + height / 2 - clientY);
        if (distance < least) [nearest, least] = [mark, distance];
      }
      tip.hidden = !nearest;
      if (!nearest) return;
      tip.textContent = nearest.dataset.said;
      const around = figure.querySelector(".plot").getBoundingClientRect();
      const dot = nearest.getBoundingClientRect();
      tip.style.left = `${Math.min(Math.max(0, dot.left - around.left - tip.offsetWidth / 2), around.width - tip.offsetWidth)}px`;
      tip.style.top = `${dot.top - around.top - tip.offsetHeight - 8}px`;
    };
    svg.addEventListener("pointermove", say);
    svg.addEventListener("pointerdown", say);
    svg.addEventListener("pointerleave", ({ pointerType }) => {
      if (pointerType !== "touch") tip.hidden = true; // a finger leaves as soon as it is lifted
    });
    for (const button of figure.querySelectorAll("button[data-series]")) {
      button.disabled = false;
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", on);
        for (const each of svg.querySelectorAll("[data-series]")) {
          if (each.dataset.series === button.dataset.series) each.style.display = on ? "" : "none";
        }
      });
    }
  }
})();
