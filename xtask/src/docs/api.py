"""Prints the Python module's public names as Markdown, from the sources in the folder that is named: nothing is imported."""

import ast
import pathlib
import re
import sys


def definitions(folder):
    """The classes and functions at the top of the package's private files, by name, and what private names stand for."""
    found, stand_for = {}, {}
    for file in sorted(folder.glob("_*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                found[node.name] = node
            elif isinstance(node, ast.Assign) and node.targets[0].id.startswith("_"):
                stand_for[node.targets[0].id] = ast.unparse(node.value)
    return found, stand_for


def public(folder):
    """The names of `__all__`, functions first."""
    for node in ast.parse((folder / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            names = [name for name in ast.literal_eval(node.value) if not name.startswith("__")]
            return sorted(names, key=lambda name: (name[0].isupper(), name))
    raise SystemExit(f"{folder}/__init__.py has no __all__")


def fields(node, known):
    """The annotated fields of a class, those of its bases first."""
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in known:
            yield from fields(known[base.id], known)
    for part in node.body:
        if isinstance(part, ast.AnnAssign):
            yield f"{ast.unparse(part.target)}: {ast.unparse(part.annotation)}"


def signature(node):
    """A function's head, an argument a line."""
    arguments = node.args
    listed = [ast.unparse(argument) for argument in arguments.args]
    for place, default in enumerate(reversed(arguments.defaults), 1):
        listed[-place] += f" = {ast.unparse(default)}"
    if arguments.kwonlyargs:
        listed.append("*")
    for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        given = f" = {ast.unparse(default)}" if default else ""
        listed.append(f"{ast.unparse(arg)}{given}")
    inside = "".join(f"    {argument},\n" for argument in listed)
    return f"{node.name}(\n{inside}) -> {ast.unparse(node.returns)}"


def main(folder):
    known, stand_for = definitions(folder)
    print("# Python, name by name\n")
    print("Generated from the sources of the module. What each is for: [Python](python.md).")
    for name in public(folder):
        node = known[name]
        code = signature(node) if isinstance(node, ast.FunctionDef) else "\n".join(fields(node, known))
        print(f"\n## `{name}`\n\n{ast.get_docstring(node)}\n")
        code = re.sub(r"\b_[A-Za-z]+\b", lambda private: stand_for.get(private[0], private[0]), code)
        if code:
            print(f"```python\n{code}\n```")


main(pathlib.Path(sys.argv[1]))
