// Elements. All text is set as text: nothing of a dump is ever read as markup.

function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "class") made.className = value;
    else if (name === "text") made.textContent = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children) if (child !== null && child !== undefined) made.append(child);
  return made;
}

const byId = (id) => document.getElementById(id);

function linkButton(text, follow) {
  return element("button", {
    type: "button",
    class: "link",
    text,
    onclick: (event) => {
      event.stopPropagation();
      follow();
    },
  });
}

// Text with the first occurrence of what was searched for marked.
function marked(text, wanted) {
  const made = element("span");
  const at = wanted === "" ? -1 : text.toLowerCase().indexOf(wanted.toLowerCase());
  if (at < 0) made.textContent = text;
  else
    made.append(
      text.slice(0, at),
      element("mark", {text: text.slice(at, at + wanted.length)}),
      text.slice(at + wanted.length),
    );
  return made;
}

function pictureCanvas(picture, longest) {
  const canvas = element("canvas", {width: picture.columns, height: picture.rows});
  const scale = Math.min(8, longest / Math.max(picture.columns, picture.rows));
  // A whole factor keeps texels square.
  const factor = scale >= 1 ? Math.floor(scale) : scale;
  canvas.style.width = Math.max(1, Math.round(picture.columns * factor)) + "px";
  canvas.style.height = Math.max(1, Math.round(picture.rows * factor)) + "px";
  canvas
    .getContext("2d")
    .putImageData(
      new ImageData(new Uint8ClampedArray(picture.rgba), picture.columns, picture.rows),
      0,
      0,
    );
  return canvas;
}
