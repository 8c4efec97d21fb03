"""`/api/docs`: the API's description as a page to read, made here: no script, nothing from another server."""

from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

PATH = "/api/docs"
_METHODS = ("get", "post", "put", "patch", "delete")
_STYLE = """
:root { color-scheme: light dark; --line: #8886; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
code, .path { font-family: ui-monospace, monospace; font-size: 0.9em; overflow-wrap: anywhere; }
details { border: 1px solid var(--line); border-radius: 6px; margin: 0.4rem 0; }
summary { padding: 0.4rem 0.8rem; cursor: pointer; }
summary:focus-visible { outline: 2px solid; outline-offset: 2px; }
details > div { padding: 0 0.8rem 0.8rem; }
.method { display: inline-block; min-width: 4.5rem; font-weight: 700; font-size: 0.8em; }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0; }
td code { white-space: nowrap; }
th, td { text-align: left; vertical-align: top; border-top: 1px solid var(--line); padding: 0.25rem 0.5rem; }
:target { background: var(--soft); }
"""

Document = Mapping[str, Any]


def add_page(app: FastAPI) -> None:
    """Serve the page; it needs no sign-in, like the document that it shows."""

    @cache
    def text() -> str:
        return page(app.openapi(), str(app.openapi_url))

    @app.get(PATH, include_in_schema=False, response_class=HTMLResponse)
    async def api_page(request: Request) -> HTMLResponse:
        return HTMLResponse(text())


def page(document: Document, source: str) -> str:
    """Return the whole page."""
    title = escape(document["info"]["title"])
    return "".join(
        [
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} API</title>',
            f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>',
            f"<h1>{title} API {escape(document['info']['version'])}</h1>",
            f'<p>The description for programs (OpenAPI): <a href="{escape(source)}"><code>{escape(source)}</code></a>. ',
            "Sign in with a token in the header <code>Authorization: Bearer ww_...</code>. Errors are "
            "<code>application/problem+json</code> with a stable <code>code</code>.</p>",
            *_operations(document),
            "<h2>Schemas</h2>",
            *_schemas(document),
            "</body></html>",
        ]
    )


def _operations(document: Document) -> Iterator[str]:
    groups: dict[str, list[tuple[str, str, Document]]] = {}
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if method in methods:
                groups.setdefault((methods[method].get("tags") or ["other"])[0], []).append((method, path, methods[method]))
    for tag, operations in groups.items():
        yield f"<h2>{escape(tag.replace('_', ' ').capitalize())}</h2>"
        for method, path, operation in operations:
            yield _operation(method, path, operation)


def _operation(method: str, path: str, operation: Document) -> str:
    first = escape((operation.get("description") or operation.get("summary") or "").split("\n\n")[0])
    return "".join(
        [
            f'<details id="{escape(operation.get("operationId", ""))}"><summary><span class="method">{method.upper()}</span> ',
            f'<span class="path">{escape(path)}</span> {first}</summary><div>',
            _parameters(operation.get("parameters", [])),
            _body(operation.get("requestBody")),
            _responses(operation["responses"]),
            "</div></details>",
        ]
    )


def _parameters(parameters: list[Document]) -> str:
    rows = [
        (
            f"<code>{escape(each['name'])}</code>",
            escape(each["in"]) + (", required" if each.get("required") else ""),
            _type(each.get("schema", {})),
            escape(each.get("description") or each.get("schema", {}).get("description") or ""),
        )
        for each in parameters
    ]
    return _table(("Parameter", "In", "Type", "Meaning"), rows)


def _body(body: Document | None) -> str:
    if body is None:
        return ""
    kinds = [f"<code>{escape(kind)}</code>: {_type(content.get('schema', {}))}" for kind, content in body["content"].items()]
    return f"<p>Body: {'; '.join(kinds)}</p>"


def _responses(responses: Document) -> str:
    rows = []
    for status, response in responses.items():
        types = [_type(content.get("schema", {})) for content in response.get("content", {}).values()]
        rows.append((f"<code>{escape(status)}</code>", escape(response.get("description", "")), ", ".join(dict.fromkeys(types))))
    return _table(("Status", "When", "Body"), rows)


def _schemas(document: Document) -> Iterator[str]:
    for name, schema in sorted(document["components"]["schemas"].items()):
        required = set(schema.get("required", ()))
        rows = [
            (
                f"<code>{escape(field)}</code>" + (" *" if field in required else ""),
                _type(value),
                escape(value.get("description", "")),
            )
            for field, value in schema.get("properties", {}).items()
        ]
        values = ", ".join(f"<code>{escape(str(value))}</code>" for value in schema.get("enum", ()))
        yield (
            f'<details id="{_anchor(name)}"><summary><code>{escape(name)}</code> {escape(schema.get("description", ""))}</summary><div>'
            f"{_table(('Field (* required)', 'Type', 'Meaning'), rows)}{f'<p>One of {values}</p>' if values else ''}</div></details>"
        )


def _anchor(name: str) -> str:
    return escape(f"schema-{name}")


def _type(schema: Document) -> str:
    """A type in words, with links to schemas.

    >>> _type({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]})
    'list of string or null'
    >>> _type({"$ref": "#/components/schemas/Incident"})
    '<a href="#schema-Incident">Incident</a>'
    """
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#{_anchor(name)}">{escape(name)}</a>'
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            return " or ".join(dict.fromkeys(_type(each) for each in schema[word]))
    if "enum" in schema:
        return " / ".join(escape(str(value)) for value in schema["enum"])
    if "const" in schema:
        return escape(str(schema["const"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    kind = escape(str(schema.get("type", "any")))
    return f"{kind} ({escape(schema['format'])})" if "format" in schema else kind


def _table(titles: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
