(function () {
  const faults = [];
  const say = (what, el) => faults.push(what + ": <" + el.tagName.toLowerCase() + " class=" +
    JSON.stringify(el.getAttribute("class") || "") + "> " + JSON.stringify((el.textContent || "").trim().slice(0, 60)));
  document.querySelectorAll("details").forEach(d => { d.open = true; });

  // Nothing makes the page wider than the window.
  if (document.documentElement.scrollWidth > window.innerWidth)
    faults.push("the page is " + document.documentElement.scrollWidth + " px wide in a window of " + window.innerWidth);
  document.querySelectorAll("body *").forEach(el => {
    const box = el.getBoundingClientRect();
    if (box.width && box.right > window.innerWidth + 0.5 && !el.closest(".scroll") && !el.closest(".symbols"))
      say("leaves the window by " + (box.right - window.innerWidth).toFixed(0) + " px", el);
  });

  // No text is cut off: what overflows scrolls.
  document.querySelectorAll("h1,h2,p,li,dt,dd,th,td,span,strong,summary,figcaption,button,code,a").forEach(el => {
    const style = getComputedStyle(el);
    if (el.clientWidth && el.scrollWidth > el.clientWidth + 1 && style.display !== "inline")
      say("text wider than its box (" + el.scrollWidth + " > " + el.clientWidth + ")", el);
  });

  // In pictures no text covers another, and none leaves the picture.
  document.querySelectorAll("figure > svg").forEach((svg, n) => {
    const frame = svg.getBoundingClientRect();
    if (!frame.width) return; // the other of two sizes
    const texts = [...svg.querySelectorAll("text")].map(el => ({ el, box: el.getBoundingClientRect() }));
    texts.forEach(({ el, box }, i) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        say("leaves picture " + n, el);
      for (const other of texts.slice(i + 1)) {
        const w = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
        const h = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
        if (w > 1 && h > 3) say("picture " + n + ": covers " + JSON.stringify(other.el.textContent), el);
      }
      const size = parseFloat(el.getAttribute("font-size")) * frame.width / svg.viewBox.baseVal.width;
      if (size < 9) say("is written in " + size.toFixed(1) + " px", el);
    });
  });

  // Nothing was fetched.
  performance.getEntriesByType("resource").forEach(r => faults.push("fetched " + r.name));
  if (window.alerted) faults.push("a script from the report ran");
  return faults;
})()
