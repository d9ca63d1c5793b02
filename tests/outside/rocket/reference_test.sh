#!/bin/bash
# The page of this workspace's packet shows what the second generation has changed.
set -euo pipefail
page="$1/acme/packet/CLEAR.html"
for text in 'Depth</b>: new: dword 5, bits 31:0, float' 'id="rocket1"' 'id="rocket2"'; do
  grep -q "$text" "$page" || { echo "$page does not contain: $text"; exit 1; }
done
