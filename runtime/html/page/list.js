// A list of any length, of which only the lines in view are elements.

const ROW = 22; // pixels, as in style.css
// Browsers limit the height of an element. A longer list is scrolled in larger steps by its bar, and
// line by line with wheel and keys.
const TALLEST = 8_000_000;

class VirtualList {
  // render(line) makes the element of a line; `lines` of it may be more than one.
  constructor(host, render) {
    this.render = render;
    this.count = 0;
    this.top = 0; // pixels from the start of the list
    this.spacer = element("div", {class: "spacer"});
    this.rows = element("div", {class: "rows"});
    this.scroller = element("div", {class: "scroller"}, this.rows, this.spacer);
    host.append(this.scroller);
    this.pending = false;
    this.expected = 0; // where we have scrolled to ourselves
    this.scroller.addEventListener("scroll", () => this.onScroll());
    this.scroller.addEventListener("wheel", (event) => this.onWheel(event), {passive: false});
    new ResizeObserver(() => this.redraw()).observe(this.scroller);
  }

  get view() {
    return this.scroller.clientHeight;
  }
  get height() {
    return this.count * ROW;
  }
  get scaled() {
    return this.height > TALLEST;
  }

  setCount(count) {
    this.count = count;
    this.spacer.style.height = Math.min(this.height, TALLEST) + "px";
    this.scrollTo(this.top);
  }

  scrollTo(top) {
    const most = Math.max(0, this.height - this.view);
    this.top = Math.min(Math.max(0, top), most);
    const at = this.scaled ? (this.top / most) * (TALLEST - this.view) : this.top;
    if (Math.abs(this.scroller.scrollTop - at) >= 1) this.scroller.scrollTop = at;
    this.expected = this.scroller.scrollTop;
    this.redraw();
  }

  // Scrolls as little as needed; into the middle if the line is far away.
  show(line, lines = 1) {
    const begin = line * ROW;
    const end = begin + lines * ROW;
    if (begin >= this.top && end <= this.top + this.view) return this.redraw();
    const near = begin > this.top - 3 * ROW && end < this.top + this.view + 3 * ROW;
    if (!near) this.scrollTo(begin - this.view / 3);
    else this.scrollTo(begin < this.top ? begin : end - this.view);
  }

  onScroll() {
    const at = this.scroller.scrollTop;
    if (!this.scaled) this.top = at;
    else if (Math.abs(at - this.expected) > 1)
      this.top = (at / (TALLEST - this.view)) * (this.height - this.view);
    this.expected = at;
    this.redraw();
  }

  onWheel(event) {
    if (!this.scaled || event.ctrlKey) return;
    event.preventDefault();
    this.scrollTo(this.top + event.deltaY * (event.deltaMode === 1 ? ROW : 1));
  }

  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  draw() {
    // A picture takes several lines and begins above the view.
    const first = Math.max(0, Math.floor(this.top / ROW) - PICTURE_LINES);
    const last = Math.min(this.count, Math.ceil((this.top + this.view) / ROW));
    const drawn = [];
    for (let line = first; line < last; ++line) {
      const row = this.render(line, line * ROW + ROW > this.top);
      if (row === null) continue;
      row.style.top = line * ROW - this.top + "px";
      drawn.push(row);
    }
    this.rows.replaceChildren(...drawn);
  }
}
