// Opens the run that a link points at, and shows runs of one kind. The page is
// complete without it.
(function () {
  var runs = document.querySelectorAll("details.run");
  function reveal() {
    var run = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (run && run.tagName === "DETAILS") {
      run.hidden = run.closest("section").hidden = false;
      run.open = true;
      run.scrollIntoView();
    }
  }
  window.addEventListener("hashchange", reveal);
  reveal();
  var nav = document.getElementById("filter");
  if (!nav) return;
  nav.hidden = false;
  nav.addEventListener("click", function (event) {
    var button = event.target.closest("button");
    if (!button) return;
    if ("open" in button.dataset) {
      var open = button.textContent === "open all";
      runs.forEach(function (run) { if (!run.hidden) run.open = open; });
      button.textContent = open ? "close all" : "open all";
      return;
    }
    nav.querySelectorAll("[data-show]").forEach(function (other) {
      other.setAttribute("aria-pressed", String(other === button));
    });
    runs.forEach(function (run) {
      run.hidden = button.dataset.show !== "" && run.dataset.state !== button.dataset.show;
    });
    document.querySelectorAll("section.scenario").forEach(function (section) {
      section.hidden = !section.querySelector("details.run:not([hidden])");
    });
  });
})();
