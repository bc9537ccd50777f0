"use strict";
const put = (id, text) => { document.getElementById(id).textContent = text; };
const clock = (s) => {
  if (s === null) return "not known yet";
  if (s < 5) return "a few seconds";
  if (s < 60) return `about ${Math.round(s)} s`;
  const minutes = Math.round(s / 60);
  return minutes < 60 ? `about ${minutes} min` : `about ${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};
const show = (facts) => {
  const { finished, dropped, all, expected } = facts.configurations;
  document.title = `${Math.floor(100 * finished / all)}% ${facts.title}`;
  put("title", facts.title);
  document.getElementById("bar").value = finished / all;
  put("configurations", `${finished.toLocaleString("en")} of ${all.toLocaleString("en")} finished` +
    (dropped ? `, ${dropped.toLocaleString("en")} dropped early` : "") +
    (expected != null && expected < all ? `; the budget is enough for about ${expected.toLocaleString("en")}` : ""));
  const age = Math.round((Date.now() - Date.parse(facts.updated)) / 1000);
  put("left", clock(facts.seconds_left === null ? null : facts.seconds_left - age));
  const best = facts.best;
  if (best) {
    const range = best.low === null ? "" : ` (95% CI ${best.low.toFixed(2)} to ${best.high.toFixed(2)})`;
    put("corrected", best.corrected === null ? "not known yet" : `${best.metric} ${best.corrected.toFixed(2)}${range}`);
    put("best", `${best.config}, with a cross-validation score of ${best.score.toFixed(3)}, which is optimistic`);
  }
  put("about", age > 60
    ? `Nothing has been finished for ${age} s: a fit takes long, or the search was ended.`
    : "The search is running. This page becomes the report when it ends.");
};
const ask = async () => {
  try {
    const facts = await (await fetch("progress.json", { cache: "no-store" })).json();
    if (["finished", "stopped", "failed"].includes(facts.state)) { location.reload(); return; }
    if (facts.state === "running") show(facts);
  } catch {
    put("about", "The page has lost the server. Start it again with: outfold open");
  }
  setTimeout(ask, 1500);
};
ask();
