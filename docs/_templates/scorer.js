/* How the search orders the pages it finds. Sphinx gives all pages that hold the words nearly the same score; here,
   a page whose title has the words comes first, and pages that answer a question come before lists of names. */
const asked = (new URLSearchParams(location.search).get("q") || "").toLowerCase().match(/[\w.+-]+/g) || [];
const places = { "howto/": 6, "tutorials/": 4, "reference/": -2, "studies/": -4, "project/": -12 };

/** How well a title fits: 20 for all the words that were asked for, and up to 4 more if it has few others. */
const fit = (title) => {
  const words = title.toLowerCase().match(/[\w.+-]+/g) || [];
  const found = asked.filter((word) => words.some((other) => other.startsWith(word) || word.startsWith(other + "s")));
  return (20 * found.length) / Math.max(1, asked.length) + (4 * found.length) / Math.max(1, words.length);
};

var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    const place = Object.keys(places).find((start) => docname.startsWith(start));
    return score + fit(title) + (place ? places[place] : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
