"""The two small pages between the provider and the UI."""

from html import escape

from fastapi import Response
from fastapi.responses import HTMLResponse

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{title}</title>{head}
<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto 0;padding:0 1rem}}</style></head>
<body><main><h1>{title}</h1><p>{text}</p>{reason}<p><a href="{path}">{link}</a></p></main></body></html>
"""


def continue_page(path: str) -> Response:
    """Continue on this site: browsers hold back a SameSite=Strict cookie while a navigation that began elsewhere lasts."""
    head = f'<meta http-equiv="refresh" content="0;url={escape(path)}">'
    page = _PAGE.format(title="Signed in", head=head, text="You are signed in.", reason="", path=escape(path), link="Continue")
    return HTMLResponse(page, headers={"Cache-Control": "no-store"})


def refused_page(text: str, reason: str, status: int) -> Response:
    """Say why nobody was signed in, and lead back."""
    return _page_with_reason("Not signed in", text, reason, status)


def not_signed_out_page(text: str, reason: str, status: int) -> Response:
    """Say that the session here has ended, but not the one at the provider."""
    return _page_with_reason("Signed out of Wallwatch only", text, reason, status)


def _page_with_reason(title: str, text: str, reason: str, status: int) -> Response:
    why = f"<p>Reason: <code>{escape(reason)}</code></p>"
    page = _PAGE.format(title=title, head="", text=escape(text), reason=why, path="/", link="Back to the sign-in page")
    return HTMLResponse(page, status_code=status, headers={"Cache-Control": "no-store"})
