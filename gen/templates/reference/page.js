// Shows one version of a page at a time: the one that the address names, else that of the
// generation that the reader viewed last, else the newest.
(() => {
  "use strict";
  const sections = [...document.querySelectorAll("section.version")];
  const tabs = [...document.querySelectorAll(".versions a")];
  const key = "packsmith-generation";

  const sectionOf = (id) => {
    const place = id && document.getElementById(id);
    return place ? place.closest("section.version") : null;
  };
  const remembered = () => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;  // pages from disk may have no storage
    }
  };
  const show = (section) => {
    sections.forEach((one, number) => {
      one.hidden = one !== section;
      tabs[number].setAttribute("aria-current", String(one === section));
    });
  };
  const follow = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const section = sectionOf(id);
    show(section || sectionOf(remembered()) || sections[0]);
    if (!section) return;
    // The id of a field begins with that of its section and "-"; a generation's page begins at its
    // top, where its subject is named.
    const generation = id.includes("-") ? section.id : id;
    if (generation === id) window.scrollTo(0, 0);
    else document.getElementById(id).scrollIntoView();
    try {
      localStorage.setItem(key, generation);
    } catch {
      // As above.
    }
  };
  window.addEventListener("hashchange", follow);
  // Once now, before anything is painted, and once after the browser has scrolled by itself.
  window.addEventListener("load", () => setTimeout(follow));
  follow();
})();
