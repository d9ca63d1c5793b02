#!/bin/sh
# xml/packsmith.rng takes every description of this repository, and what the language has; it
# refuses what the language has not.
#
#   schema_test.sh SCHEMA FILE...
set -u
schema=$1
shift
failures=0
work=${TEST_TMPDIR:-$(mktemp -d)}

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

validates() {
  xmllint --noout --relaxng "$schema" "$1" >"$work/log" 2>&1
}

if ! command -v xmllint >/dev/null; then
  echo "xmllint is missing: install libxml2-utils" >&2
  exit 1
fi

# Editors validate a description against the schema that its second line names.
names_schema() {
  named=$(sed -n '2s/^<?xml-model href="\([^"]*\)" .* schematypens="http:\/\/relaxng\.org\/ns\/structure\/1\.0"?>$/\1/p' "$1")
  [ -n "$named" ] && cmp -s "$schema" "$(dirname "$1")/$named"
}

for file; do
  case "$file" in
    tests/*) ;;
    *) names_schema "$file" || fail "$file: the second line must be <?xml-model?> with the path of the schema" ;;
  esac
  validates "$file" || { fail "$file does not validate"; cat "$work/log"; }
done

root() {
  printf '<packsmith family="f" generation="g"><stream name="s"/>%s</packsmith>\n' "$1" >"$work/case.xml"
}
good() {
  root "$1"
  validates "$work/case.xml" || { fail "refused: $1"; cat "$work/log"; }
}
bad() {
  root "$1"
  if validates "$work/case.xml"; then fail "taken: $1"; fi
}
good_field() { good "<struct name=\"A\" dwords=\"1\"><field name=\"f\" dword=\"0\" $1</struct>"; }
bad_field() { bad "<struct name=\"A\" dwords=\"1\"><field name=\"f\" dword=\"0\" $1</struct>"; }
good_file() {
  printf '%s\n' "$1" >"$work/case.xml"
  validates "$work/case.xml" || { fail "refused: $1"; cat "$work/log"; }
}
bad_file() {
  printf '%s\n' "$1" >"$work/case.xml"
  if validates "$work/case.xml"; then fail "taken: $1"; fi
}

good_file '<packsmith generation="h" extends="g.xml"><remove packet="P"/><struct name="S" amend="true"><remove field="f"/></struct></packsmith>'
good_file '<packsmith><include file="more.xml"/></packsmith>'
bad_file '<packsmith family="f" generation="g"><remove packet="P"/></packsmith>'
bad_file '<packsmith generation="g"/>'
bad_file '<packsmith family="f" generation="g" namespace="9"/>'
bad_file '<packsmith family="f" generation="g" unit="bit"/>'
good_file '<packsmith family="f" generation="g" address-bits="57"/>'
bad_file '<packsmith family="f" generation="g" address-bits="wide"/>'
bad_file '<genxml/>'

good '<struct name="A" bytes="6"/>'
good '<struct name="A" dwords="variable" alias="B,C"/>'
good '<struct name="B" like="A"/>'
bad '<struct name="A"/>'
bad '<struct dwords="1"/>'
bad '<struct name="" dwords="1"/>'
bad '<struct name="A" dwords="1" bytes="4"/>'
bad '<struct name="A" dwords="some"/>'
bad '<struct name="A" dwords="1" length="L"/>'
bad '<struct name="A" dwords="1" like="B" amend="true"/>'
bad '<struct name="A" dwords="1" amend="yes"/>'
bad '<struct name="A" dwords="1"><flow kind="end"/></struct>'
bad '<struct name="A" dwords="1"><value name="x" value="1"/></struct>'
bad '<struct name="A" dwords="1">words</struct>'
bad '<sampler name="A"/>'

good_field 'bits="31:0" type="u16.16" default="1.5" min="0.5" max="2e3"/>'
good_field 'bits="0x1f" type="bool"><doc>x</doc><doc>y</doc></field>'
good_field 'bits="7:0" type="uint" minus="1" shift="4" align="16" unit="px" prefix="P" alias="g"/>'
good_field 'bits="7:0" type="uint" nonzero="packing"/>'
bad_field 'bits="7:0" type="uint" nonzero="decoding"/>'
good_field 'bits="7:0" type="uint" overlap="true" when="Mode=3"/>'
good_field 'bits="7:0" type="int" default="-3"><value name="a" value="-1"/><source>p. 3</source><value name="b" value="0x7f" avoid="true"/></field>'
good_field 'bits="31:6" type="address"><points to="A" count="n*2+1" until="zero" limit="4" space="g" space-when="x" access="readwrite"/><sets base="b" when="c"/></field>'
bad_field 'bits="31:0"/>'
bad_field 'type="bool"/>'
bad_field 'bits="31-0" type="uint"/>'
bad_field 'bits="3:2:1" type="uint"/>'
bad_field 'bits="7:0" type="uint" log2="1"/>'
bad_field 'bits="7:0" type="uint" log2="true" minus="1"/>'
bad_field 'bits="7:0" type="uint" groups="8" shift="1"/>'
bad_field 'bits="7:0" type="uint" minus="one"/>'
bad_field 'bits="7:0" type="uint" alias="My Field"/>'
bad_field 'bits="7:0" type="uint" colour="red"/>'
bad_field 'bits="31:6" type="address"><points/></field>'
good_field 'bits="31:6" type="address"><points to="A" when="x"/><points to="B" end="y" slot="s" format="f" step="i" stage="pixel" simd="8"/></field>'
bad_field 'bits="31:6" type="address"><points to="A" size="1" end="y"/></field>'
good_field 'bits="7:0" type="uint" names="E"><element of="d" slot="s" offset="o" when="w"/></field>'
good_field 'bits="7:0" type="uint"><step of="d" element="n" when="w"/></field>'
bad_field 'bits="7:0" type="uint"><step of="d"/></field>'
bad_field 'bits="7:0" type="uint"><step of="d" element="n"/><element of="d"/></field>'
good_field 'bits="31:0" type="uint"><writes memory="a" when="b"/></field>'
bad_field 'bits="31:0" type="uint"><writes memory="a" register="b"/></field>'
bad_field 'bits="31:0" type="uint"><writes register="b" when="c"/></field>'
bad_field 'bits="31:6" type="address"><points to="A" space-when="x"/></field>'
good_field 'bits="31:6" type="address"><points to="d" count="n+1" unlimited-when="!n" stride="s"/></field>'
bad_field 'bits="31:6" type="address"><points to="d" unlimited-when="!n" stride="s"/></field>'
bad_field 'bits="31:6" type="address"><points to="A" access="execute"/></field>'
good_field 'bits="31:6" type="address"><points to="A" when="x" stage="pixel" keeps="true"/></field>'
bad_field 'bits="31:6" type="address"><points to="A" when="x" keeps="always"/></field>'
good_field 'bits="3:0" type="uint" means="topology"/>'
good_field 'bits="3:0" type="uint" means="component-control" at="3"/>'
bad_field 'bits="3:0" type="uint" means="shape"/>'
good '<struct name="A" dwords="1"><image as="target" when="x" address="a" format="f" type="t" width="w+1" height="h" depth="d" pitch="p"/><image address="a"/></struct>'
bad '<struct name="A" dwords="1"><image format="f"/></struct>'
bad '<struct name="A" dwords="1"><image as="depth" address="a"/></struct>'
good '<data name="d" code="true"><instruction mask="0" value="0" bytes="8"/><reaches as="texture" where="6:0=1 and 7=0" index="15:8"/></data>'
bad '<data name="d"><reaches as="texture" where="6:0=1" index="15:8"/></data>'
good '<stream name="t"><serves mask="0xf" value="1" role="dispatch"/></stream>'
bad '<stream name="t"><serves mask="0xf" value="1" role="other"/></stream>'

good '<struct name="A" dwords="1"><group count="tail" dword="1" size="32"><doc>x</doc><field name="f" dword="0" bits="0" type="bool"/></group></struct>'
bad '<struct name="A" dwords="1"><group count="2" dword="0" size="16"/></struct>'
bad '<struct name="A" dwords="1"><group count="many" dword="0" size="16"><field name="f" dword="0" bits="0" type="bool"/></group></struct>'
good '<struct name="A" dwords="1"><group count="tail" c-count="1" dword="1" size="32"><field name="f" dword="0" bits="0" type="bool"/></group></struct>'
good '<struct name="A" dwords="4"><group count="4" c-whole="true" dword="0" size="32"><field name="f" dword="0" bits="31:0" type="uint"/></group></struct>'
good_field 'bits="7:0" type="uint" c-bits="16" c-default="none"/>'
good_field 'bits="31:6" type="offset" c-type="uint"/>'
bad_field 'bits="31:6" type="offset" c-type="float"/>'
bad_field 'bits="7:0" type="uint" c-default="5"/>'
good '<struct name="A" dwords="1"><reserved dword="0" bits="3:0" must="one"><doc>x</doc></reserved></struct>'
bad '<struct name="A" dwords="1"><reserved dword="0" bits="3:0" must="two"/></struct>'

good '<packet name="P" dwords="2" length="L" bias="2" engines="a b" stream="s" role="draw"><variant dwords="3" when="L"/><part name="x" when="y" repeat="z"/><flow kind="call" to="a" when="b"/><flow kind="end"/><relation kind="commits" packet="P"/></packet>'
bad '<packet name="P" dwords="2" role="sing"/>'
bad '<packet name="P" dwords="2"><flow kind="jump"/></packet>'
bad '<packet name="P" dwords="2"><flow kind="end" to="a"/></packet>'
bad '<packet name="P" dwords="2"><variant dwords="3"/></packet>'
bad '<packet name="P" dwords="2"><relation kind="likes" packet="Q"/></packet>'
good '<enum name="E" prefix="E"><doc>x</doc><value name="a" value="1"><doc>y</doc></value></enum>'
bad '<enum name="E"/>'
bad '<enum name="E"><value name="a"/></enum>'
versioned() { printf '<packsmith family="f" generation="g" version="%s"/>\n' "$1" >"$work/case.xml"; }
versioned 12.5
validates "$work/case.xml" || { fail "refused: version 12.5"; cat "$work/log"; }
versioned 12.55
if validates "$work/case.xml"; then fail "taken: version 12.55"; fi
good '<register name="R" dwords="1" offset="0x10"/>'
bad '<register name="R" dwords="1" offset="ten"/>'
bad '<space name="x"/>'
good '<platform name="skl" title="Skylake" pci="0x1902 0x1906"/>'
bad '<platform name="skl" pci="1902"/>'
good '<register name="R" dwords="1" offset="0x10" dumped-as="HEAD RING_HEAD"><field name="f" dword="0" bits="20:2" type="offset" means="ring-head" at="0"/></register>'
good '<packet name="P" dwords="13" c-dwords="2" length="L" bias="2"/>'
good '<register name="R" dwords="1" offset="0x10" dumped-as="INSTDONE" engines="a b"><field name="f" dword="0" bits="2" type="bool" means="idle"/></register>'
good '<register name="R" dwords="1" offset="0x10" c-offset="0x20"/>'
bad '<struct name="R" dwords="1" dumped-as="HEAD"/>'
bad_field 'bits="20:2" type="offset" means="luck"/>'
good '<data name="d" components="R10 G10 B10 A2 unorm X24"><doc>x</doc></data>'
good '<data name="d" code="true"><instruction mask="1" value="0" bytes="8" end="3"/><doc>x</doc></data>'
bad '<data name="d" components="R8 byte"/>'
bad '<data name="d" code="true" components="R8 uint"/>'
bad '<data name="d"><instruction mask="1" value="0" bytes="8"/></data>'
good '<packet name="P" dwords="2"><draws data="d" indices="i" indexed="x" first="f" count="c" first-instance="a" instances="b" bias="e" when="w"/></packet>'
good '<packet name="P" dwords="2"><draws data="d" indices="i" cuts="P.e" cut="P.c"/></packet>'
bad '<packet name="P" dwords="2"><draws data="d" indices="i" cut="P.c"/></packet>'
bad '<packet name="P" dwords="2"><draws indices="i"/></packet>'
bad '<packet name="P" dwords="2"><draws data="d" indexed="x"/></packet>'
good '<stream name="t"><doc>x</doc><unknown mask="0xe0000000" value="0x60000000" length="7:0" bias="2"/><unknown mask="0" value="0" bias="1"/></stream>'
bad '<stream name="t"><unknown mask="0xe0000000" value="0x60000000" length="7:0"/></stream>'
bad '<stream name="t"><unknown mask="0xe0000000" value="0x60000000" length="lots" bias="2"/></stream>'

[ "$failures" -eq 0 ] || echo "$failures failures"
[ "$failures" -eq 0 ]
