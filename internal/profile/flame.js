(function () {
  "use strict";
  const left = 10, width = 1180, letter = 7.2;
  const boxes = [...document.querySelectorAll("g.f")].map((g) => {
    const rect = g.querySelector("rect"), text = g.querySelector("text");
    return {g, rect, text, name: g.dataset.n, x: +rect.getAttribute("x"), w: +rect.getAttribute("width"), y: +rect.getAttribute("y")};
  });
  const told = document.getElementById("told");

  function place(b, x, w) {
    b.rect.setAttribute("x", x);
    b.rect.setAttribute("width", w);
    b.text.setAttribute("x", x + 3);
    const room = Math.floor((w - 6) / letter);
    b.text.textContent = room < 3 ? "" : b.name.length <= room ? b.name : b.name.slice(0, room - 2) + "..";
  }

  // zoom shows a function over the whole width: what it called, and above whose calls it is.
  function zoom(to) {
    const scale = width / to.w, slack = 0.01;
    for (const b of boxes) {
      const within = b.y <= to.y && b.x >= to.x - slack && b.x + b.w <= to.x + to.w + slack;
      const under = b.y > to.y && b.x <= to.x + slack && b.x + b.w >= to.x + to.w - slack;
      b.g.classList.toggle("away", !within && !under);
      b.g.classList.toggle("below", under);
      if (within) place(b, left + (b.x - to.x) * scale, b.w * scale);
      if (under) place(b, left, width);
    }
  }

  function search() {
    const wanted = prompt("Mark functions whose names match this regular expression:");
    if (wanted === null) return;
    let pattern = null;
    try {
      if (wanted) pattern = new RegExp(wanted, "i");
    } catch (e) {
      told.textContent = e.message;
      return;
    }
    const spans = [];
    for (const b of boxes) {
      const found = pattern !== null && pattern.test(b.name);
      b.g.classList.toggle("found", found);
      if (found) spans.push([b.x, b.x + b.w]);
    }
    spans.sort((a, b) => a[0] - b[0]);
    let end = 0, sum = 0;
    for (const [from, to] of spans) {
      sum += Math.max(0, to - Math.max(from, end));
      end = Math.max(end, to);
    }
    told.textContent = wanted ? "found: " + (100 * sum / width).toFixed(1) + "%" : "";
  }

  for (const b of boxes) b.g.addEventListener("click", () => zoom(b));
  document.getElementById("reset").addEventListener("click", () => { if (boxes.length) zoom(boxes[0]); });
  document.getElementById("search").addEventListener("click", search);
})();
