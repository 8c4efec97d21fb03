"""A mutant: one small change of one file."""

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Mutant:
    """A change at bytes `begin` to `end` of a file."""

    area: str
    path: str
    """From the repository's root."""
    line: int
    begin: int
    end: int
    before: str
    after: str

    def apply(self, text: bytes) -> bytes:
        assert text[self.begin : self.end].decode() == self.before
        return text[: self.begin] + self.after.encode() + text[self.end :]

    @property
    def key(self) -> str:
        """Names it as long as its line stays the same, wherever that moves. A short change is named with its line."""
        around = f"{_short(self.line_text)}: " if len(self.before) < 40 else ""
        return f"{self.path}: {around}{_short(self.before)} -> {_short(self.after)}"

    @property
    def fingerprint(self) -> str:
        """Short name of the key, for lists of mutants that tests have been written for."""
        return hashlib.sha256(self.key.encode()).hexdigest()[:10]

    @property
    def line_text(self) -> str:
        return (REPOSITORY / self.path).read_text(encoding="utf-8").splitlines()[self.line - 1]


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= 160 else f"{one_line[:120]} ... {one_line[-35:]}"


COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
}  # fmt: skip


def of_python(area: str, path: str) -> list[Mutant]:
    """Comparisons, logic, arithmetic, numbers, conditions, results and statements of a module, one at a time."""
    text = (REPOSITORY / path).read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node in _code(ast.parse(text)):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        before = text[begin:end].decode()
        found += [Mutant(area, path, node.lineno, begin, end, before, after) for after in _changed(node) if after != before]
    return found


def _code(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Statements and expressions, without texts (the places inside are not told reliably) and annotations."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr):
                continue
            if isinstance(child, ast.expr | ast.stmt):
                yield child
            yield from _code(child)


def _changed(node: ast.expr | ast.stmt) -> Iterator[str]:
    match node:
        case ast.Compare(left, [op], right) if type(op) in COMPARISONS:
            yield f"({ast.unparse(ast.Compare(left, [COMPARISONS[type(op)]()], right))})"
        case ast.BoolOp(op, values):
            yield f"({ast.unparse(ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values))})"
            for at in range(len(values)):
                rest = values[:at] + values[at + 1 :]
                yield f"({ast.unparse(rest[0] if len(rest) == 1 else ast.BoolOp(op, rest))})"
        case ast.BinOp(left, op, right) if type(op) in ARITHMETIC and not _texts(left, right):
            yield f"({ast.unparse(ast.BinOp(left, ARITHMETIC[type(op)](), right))})"
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield f"({ast.unparse(operand)})"
        case ast.Constant(bool() as value):
            yield str(not value)
        case ast.Constant(int() as value):
            yield str(value + 1)
        case ast.Constant(float() as value):
            yield repr(value * 1.5 if value else 1.0)
        case ast.IfExp(_, body, orelse):
            yield f"({ast.unparse(body)})"
            yield f"({ast.unparse(orelse)})"
        case ast.Return(ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield "return None"
        case ast.AugAssign() | ast.Expr(ast.Call()) | ast.Continue() | ast.Raise():
            yield "pass"


def _texts(*nodes: ast.expr) -> bool:
    return any(isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)) for node in nodes)


def of_numbers(area: str, path: str) -> list[Mutant]:
    """Every number of a YAML file, halved and doubled; 0 becomes 1."""
    text = (REPOSITORY / path).read_text(encoding="utf-8")
    found = []
    for node in _scalars(yaml.compose(text)):
        if not node.tag.endswith((":int", ":float")):
            continue
        begin, end = (len(text[: mark.index].encode()) for mark in (node.start_mark, node.end_mark))
        for factor in (0.5, 2.0):
            if (after := _scaled(node.value, factor)) != node.value:
                found.append(Mutant(area, path, node.start_mark.line + 1, begin, end, node.value, after))
    return found


def _scaled(number: str, factor: float) -> str:
    value = float(number)
    if re.fullmatch(r"[-+]?\d+", number):
        return str(round(value * factor) if value * factor == int(value * factor) else int(value) + 1) if value else "1"
    return repr(round(value * factor, 9)) if value else "0.5"


def _scalars(node: yaml.Node | None) -> Iterator[yaml.ScalarNode]:
    match node:
        case yaml.ScalarNode():
            yield node
        case yaml.SequenceNode():
            for child in node.value:
                yield from _scalars(child)
        case yaml.MappingNode():
            for _, child in node.value:
                yield from _scalars(child)


def of_rules(area: str, path: str, lists: frozenset[str]) -> list[Mutant]:
    """Each entry of the lists of these names left out, and each whole `definition`: a rule that is turned off."""
    text = (REPOSITORY / path).read_text(encoding="utf-8")
    found: list[Mutant] = []

    def cut(node: yaml.Node, after: str) -> None:
        begin, end = (len(text[: mark.index].encode()) for mark in (node.start_mark, node.end_mark))
        found.append(Mutant(area, path, node.start_mark.line + 1, begin, end, text[node.start_mark.index : node.end_mark.index], after))

    def look(node: yaml.Node) -> None:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value in lists and isinstance(value, yaml.SequenceNode):
                    for entry in value.value:
                        cut(entry, _never(entry))
                look(value)
        elif isinstance(node, yaml.SequenceNode):
            for child in node.value:
                look(child)

    root = yaml.compose(text)
    assert root is not None, f"{path} is empty"
    look(root)
    return found


def _never(entry: yaml.MappingNode) -> str:
    """A condition that always holds, or a rule whose outcome says nothing: as if it were not there."""
    body = yaml.safe_load(yaml.serialize(entry))
    if "p_if_cause" in body:
        body["p_if_cause"] = body["p_otherwise"] = 0.5
    else:
        body |= {"role": "supporting"}
        body.pop("clear", None)
        body.pop("any", None)
    return yaml.safe_dump(body, default_flow_style=True, width=10_000, sort_keys=False).strip()


NEVER = '{signal: boots, role: gate, window_s: 60, statistic: count, raise: {below: -1}, text: "Never.", why: "Never."}'
"""A gate that is always measured and never open: no number of events is negative."""


def of_definitions(area: str, path: str) -> list[Mutant]:
    """Each definition with one more gate, which is never open: the symptom is turned off."""
    text = (REPOSITORY / path).read_text(encoding="utf-8")
    found = []
    for match in re.finditer(r"(?m)^( +)conditions:\n", text):
        begin, end = len(text[: match.start()].encode()), len(text[: match.end()].encode())
        after = f"{match[0]}{match[1]}  - {NEVER}\n"
        found.append(Mutant(area, path, text[: match.start()].count("\n") + 1, begin, end, match[0], after))
    return found


def of_text(area: str, path: str, before: str, after: str) -> Mutant:
    """One text of a file, which it has once, in place of another."""
    text = (REPOSITORY / path).read_text(encoding="utf-8")
    assert text.count(before) == 1, f"{path} has {before!r} {text.count(before)} times"
    begin = len(text[: text.index(before)].encode())
    return Mutant(area, path, text[: text.index(before)].count("\n") + 1, begin, begin + len(before.encode()), before, after)


GO = [
    (r"==", "!="), (r"!=", "=="), (r"(?<![<-])<(?![=<-])", "<="), (r"(?<![->])>(?![=>])", ">="), (r"<=", "<"), (r">=", ">"),
    (r"&&", "||"), (r"\|\|", "&&"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"(?<=[ (])!(?=[a-zA-Z(])", ""),
    (r"(?<= )\+(?= )", "-"), (r"(?<= )-(?= )", "+"), (r"(?<![\w.\"%])\d+(?![\w\"x.])", "+1"),
    (r"(?<=\bif )[^;{]+(?= \{$)", "false"), (r"(?<=; )[^;{]+(?= \{$)", "false"),
]  # fmt: skip


def of_go(area: str, path: str) -> list[Mutant]:
    """Comparisons, logic, arithmetic, numbers and conditions of a Go file, by its text: some do not compile, and are not counted."""
    found, at = [], 0
    for number, line in enumerate((REPOSITORY / path).read_text(encoding="utf-8").splitlines(keepends=True), start=1):
        code = line.split("//")[0].rstrip("\n") if '"' not in line else line.rstrip("\n")
        if code.strip() and not code.lstrip().startswith(("//", "import", "package")):
            for pattern, after in GO:
                for match in re.finditer(pattern, code):
                    if _in_text(code, match.start()):
                        continue
                    new = (
                        str(int(match[0]) + 1)
                        if after == "+1"
                        else f"false && ({match[0]})"
                        if after == "false" and " " in match[0]
                        else after
                    )
                    begin = at + len(code[: match.start()].encode())
                    found.append(Mutant(area, path, number, begin, begin + len(match[0].encode()), match[0], new))
        at += len(line.encode())
    return found


def _in_text(code: str, place: int) -> bool:
    return any(code[:place].count(quote) % 2 for quote in '"`')
