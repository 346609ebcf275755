"""Prints the public names of the page's module as Markdown, from its declarations in TypeScript: the files that are named, functions and
classes first."""

import pathlib
import re
import sys

DECLARATION = re.compile(r"((?:/\*\*.*?\*/\n)?)(export (?:class|function|interface|type) (\w+).*?)(?=\n/\*\*|\nexport |\Z)", re.S)


def words(comment):
    """A comment's text, its errors as a paragraph of their own."""
    lines = [line.strip().removeprefix("/**").removesuffix("*/").strip() for line in comment.splitlines()]
    lines = [line.removeprefix("*").strip() for line in lines]
    return "\n".join(lines).replace("# Errors\n", "Errors: ").strip()


def main(files):
    print("# JavaScript, name by name\n")
    print("Generated from the declarations of the module `closeread_wasm`, which is also the npm package: functions and classes, then the types of")
    print("what they take and give. The types are made from the Rust types. What the module is for: [The page](page.md).")
    for file in files:
        for comment, code, name in DECLARATION.findall(pathlib.Path(file).read_text(encoding="utf-8")):
            print(f"\n## `{name}`\n")
            if comment:
                print(f"{words(comment)}\n")
            print(f"```ts\n{code.strip()}\n```")


main(sys.argv[1:])
