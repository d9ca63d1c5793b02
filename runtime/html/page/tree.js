// The tree of batches: submissions, the batches that they call, draws and dispatches.

class BatchTree {
  // `go` has follow(record).
  constructor(host, store, places, go) {
    Object.assign(this, {store, places, go});
    this.nodes = this.build();
    this.closed = new Set();
    // Batches with many draws begin closed.
    for (const node of this.nodes)
      if (node.works > 200 && node.children.length > 200) this.closed.add(node);
    this.list = new VirtualList(host, (line, inView) =>
      inView ? this.render(this.lines[line]) : null,
    );
    this.layOut();
  }

  build() {
    const {store, places} = this;
    const roots = [];
    let path = []; // the batches that are open, the outermost first
    let submission = 0;
    for (let i = 0; i < store.count; ++i) {
      const {type} = store.kindOf(i);
      if (type !== "packet" && type !== "unknown") continue;
      if (store.submission[i] !== submission || path.length === 0) {
        submission = store.submission[i];
        const root = {
          type: "submission",
          fact: store.submissionOf(i),
          record: i,
          call: store.call[i],
          depth: 0,
          packets: 0,
          works: 0,
          children: [],
        };
        roots.push(root);
        path = [root];
      }
      while (path.length > 1 && path[path.length - 1].call > store.call[i]) path.pop();
      if (store.call[i] > path[path.length - 1].call) {
        const outer = path[path.length - 1];
        const batch = {
          type: "batch",
          record: i,
          call: store.call[i],
          depth: outer.depth + 1,
          packets: 0,
          works: 0,
          children: [],
        };
        outer.children.push(batch);
        path.push(batch);
      }
      const isWork = places.isWork(i);
      for (const node of path) {
        ++node.packets;
        if (isWork) ++node.works;
      }
      const inner = path[path.length - 1];
      if (isWork)
        inner.children.push({type: "work", record: i, depth: inner.depth + 1, children: []});
    }
    this.roots = roots;
    const all = [];
    const add = (node) => {
      all.push(node);
      node.children.forEach(add);
    };
    roots.forEach(add);
    return all;
  }

  layOut() {
    this.lines = [];
    const add = (node) => {
      this.lines.push(node);
      if (!this.closed.has(node)) node.children.forEach(add);
    };
    this.roots.forEach(add);
    this.list.setCount(this.lines.length);
  }

  render(node) {
    const {store} = this;
    const row = element("div", {class: "row"});
    row.style.paddingLeft = 8 + Math.min(node.depth, 8) * 12 + "px";
    const hasChildren = node.children.length !== 0;
    row.append(
      element("button", {
        type: "button",
        class: "open",
        tabindex: -1,
        text: hasChildren ? (this.closed.has(node) ? "▸" : "▾") : "",
        "aria-label": "Open or close",
        onclick: (event) => {
          event.stopPropagation();
          if (this.closed.has(node)) this.closed.delete(node);
          else this.closed.add(node);
          this.layOut();
        },
      }),
    );
    const kind = store.kindOf(node.record);
    const text =
      node.type === "submission"
        ? node.fact === null
          ? "packets"
          : `${node.fact.index} ${node.fact.engine || "engine ?"}, ${node.fact.kind}`
        : node.type === "batch"
          ? `batch ${hex(store.exactAddressOf(node.record))}`
          : `${kind.role} ${store.work[node.record]}: ${kind.name}`;
    row.append(
      element(
        "span",
        {class: "text"},
        linkButton(text, () => this.go.follow(node.record)),
      ),
    );
    if (node.packets !== undefined)
      row.append(
        element("span", {
          class: "count",
          text: String(node.packets),
          title: `${node.packets} packets, ${node.works} draws and dispatches`,
        }),
      );
    return row;
  }
}
