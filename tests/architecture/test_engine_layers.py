"""The modules of the message store form layers, and no modules use each other in a circle.

The layers stand in `lib.rs` of the crate, the lowest first. Imports are read as text: `use`
declarations and paths that begin with `crate`, `super` or `self`. Unit tests are left out.
"""

import re
import tomllib
from pathlib import Path
from typing import Final

import pytest

ENGINE: Final = Path(__file__).resolve().parents[2] / "workers/engine"
SOURCES: Final = ENGINE / "commitlog/src"
LAYER: Final = re.compile(r"^// Layer (\w+): ", re.MULTILINE)
MODULE: Final = re.compile(r"^(?:pub )?mod (\w+);", re.MULTILINE)
UNIT_TESTS: Final = re.compile(r"^#\[cfg\(test\)\]\n.*\Z", re.MULTILINE | re.DOTALL)
COMMENT: Final = re.compile(r"//[^\n]*")
USE: Final = re.compile(r"\buse ([^;]+);")
PATH: Final = re.compile(r"\b(?:crate|super|self)(?:::\w+)+")


def flatten(tree):
    """Give the paths of a `use` tree."""
    opening = tree.find("{")
    if opening < 0:
        return [tree.split(" as ")[0].strip()]
    prefix, inner = tree[:opening].strip(), tree[opening + 1 : tree.rindex("}")]
    parts, depth, part = [], 0, ""
    for character in inner + ",":
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += character
    return [prefix + path for one in parts if one for path in flatten(one)]


def layers_of(lib):
    """Give the modules of each layer, the lowest layer first."""
    _, *parts = LAYER.split(lib)
    return {
        name: set(MODULE.findall(part)) for name, part in zip(parts[::2], parts[1::2], strict=True)
    }


def exports_of(lib):
    """Give the module behind each name that the crate exports."""
    paths = [
        path
        for tree in re.findall(r"^pub use ([^;]+);", lib, re.MULTILINE)
        for path in flatten(tree)
    ]
    return {path.split("::")[-1]: path.split("::")[0] for path in paths}


def module_path(file, root):
    parts = file.relative_to(root).with_suffix("").parts
    return list(parts)


def used_by(text, place, modules, exports):
    """Give the modules directly below the crate that a file at `place` uses."""
    text = COMMENT.sub("", UNIT_TESTS.sub("", text))
    paths = [path for tree in USE.findall(text) for path in flatten(tree)] + PATH.findall(text)
    found = set()
    for path in paths:
        first, *rest = path.split("::")
        if first == "super":
            base = place[:-1]
            while rest and rest[0] == "super":
                base, rest = base[:-1], rest[1:]
            rest = base + rest
        elif first != "crate":
            continue
        if rest:
            found.add(rest[0] if rest[0] in modules else exports.get(rest[0]))
    return found - {None, place[0]}


def imports_of(root):
    """Give the modules that each module directly below a crate uses."""
    lib = (root / "lib.rs").read_text()
    modules, exports = set(MODULE.findall(lib)), exports_of(lib)
    imports = {module: set() for module in modules}
    for file in root.rglob("*.rs"):
        place = module_path(file, root)
        if place != ["lib"] and "tests" not in place:
            imports[place[0]] |= used_by(file.read_text(), place, modules, exports)
    return imports


def upward(layers, imports):
    """Give the imports of a module in a higher layer."""
    height = {module: at for at, modules in enumerate(layers.values()) for module in modules}
    return sorted(
        f"{module} uses {used}"
        for module, all_used in imports.items()
        for used in all_used
        if height[used] > height[module]
    )


def circles(imports):
    """Give the modules that use themselves through others."""

    def reached(module):
        seen, left = set(), list(imports[module])
        while left:
            if (one := left.pop()) not in seen:
                seen.add(one)
                left += imports[one]
        return seen

    return sorted(module for module in imports if module in reached(module))


def test_the_state_of_share_queues_knows_neither_store_nor_protocol():
    """Q1, Q65: its crate uses no other crate of ours, and those that use it go through its face."""
    manifest = tomllib.loads((ENGINE / "share" / "Cargo.toml").read_text())

    assert [name for name in manifest["dependencies"] if name.startswith("regent-")] == []
    public = re.findall(
        r"^pub mod", (ENGINE / "share" / "src" / "lib.rs").read_text(), re.MULTILINE
    )
    assert public == []


def test_each_module_is_in_one_layer():
    lib = (SOURCES / "lib.rs").read_text()
    placed = [module for modules in layers_of(lib).values() for module in modules]

    assert sorted(placed) == sorted(set(MODULE.findall(lib)))
    assert len(layers_of(lib)) == 7


def test_modules_use_their_layer_and_lower_ones():
    imports = imports_of(SOURCES)

    assert upward(layers_of((SOURCES / "lib.rs").read_text()), imports) == []
    assert circles(imports) == []
    # What the check reads is not empty.
    assert {"files", "log", "record", "recovery", "table"} <= imports["store"]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("use crate::low::Value;", ([], [])),
        ("use crate::{low, top::Open};", (["middle uses top"], ["middle", "top"])),
        ("use super::top::Open;", (["middle uses top"], ["middle", "top"])),
        ("fn f() -> crate::Open { todo!() }", (["middle uses top"], ["middle", "top"])),
        ("// use crate::top::Open;\n#[cfg(test)]\nmod tests { use crate::top; }", ([], [])),
    ],
)
def test_an_import_of_a_higher_layer_is_found(tmp_path, text, faults):
    (tmp_path / "lib.rs").write_text(
        "// Layer one: values.\nmod low;\n\n// Layer two: work.\nmod middle;\n\n"
        "// Layer three: doors.\npub mod top;\n\npub use top::{Open, other::More};\n"
    )
    (tmp_path / "low.rs").write_text("")
    (tmp_path / "middle.rs").write_text(text)
    (tmp_path / "top.rs").write_text("use crate::middle::Work;")

    imports = imports_of(tmp_path)

    layers = layers_of((tmp_path / "lib.rs").read_text())
    assert (upward(layers, imports), circles(imports)) == faults
