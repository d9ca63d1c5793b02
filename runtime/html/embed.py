#!/usr/bin/python3
"""Makes page_parts.cc: the page's files in one, with a content security policy that names their digests.

    embed.py OUT page.html style.css SCRIPT.js...

The scripts become one, in the order given. In page.html, @STYLE@, @SCRIPT@ and @POLICY@ are replaced;
the page is cut at @CONTENT@.
"""

import base64
import hashlib
import pathlib
import sys

def digest(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def assembled(page: str, style: str, scripts: list[str]) -> tuple[str, str]:
    """The page before and after its content."""
    script = '"use strict";\n' + "\n".join(scripts)
    for text, end in ((style, "</style"), (script, "</script"), (script, "<!--")):
        if end in text:
            raise SystemExit(f"embed.py: {end} would end the element")
    policy = ("default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; "
              f"script-src {digest(script)}; style-src {digest(style)}")
    for mark, text in (("@POLICY@", policy), ("@STYLE@", style), ("@SCRIPT@", script)):
        if page.count(mark) != 1:
            raise SystemExit(f"embed.py: page.html must have {mark} once")
        page = page.replace(mark, text)
    beginning, _, end = page.partition("@CONTENT@\n")
    return beginning, end


def function(name: str, text: str) -> str:
    """A function that returns the text, which is kept in arrays: literals have a limit."""
    data = text.encode()
    rows = [", ".join(str(byte) for byte in data[i:i + 24]) for i in range(0, len(data), 24)]
    return (f"absl::string_view {name}() {{\n"
            "  static constexpr unsigned char kBytes[] = {\n      " + ",\n      ".join(rows) +
            "};\n  return {reinterpret_cast<const char*>(kBytes), sizeof(kBytes)};\n}\n")


def main() -> None:
    out, *files = sys.argv[1:]
    page, style, *scripts = (pathlib.Path(file).read_text(encoding="utf-8") for file in files)
    beginning, end = assembled(page, style, scripts)
    pathlib.Path(out).write_text(
        "// Made by embed.py.\n"
        '#include "runtime/html/page_parts.h"\n\n'
        "namespace packsmith::html {\n\n" + function("PageBeginning", beginning) + "\n" +
        function("PageEnd", end) + "\n}  // namespace packsmith::html\n", encoding="utf-8")


if __name__ == "__main__":
    main()
