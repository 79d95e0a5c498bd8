"""Access control of `ktui web`: a request needs the token, ktui's own page and a loopback host name.

The token is in the printed address. A cookie replaces it at once, so it remains neither in the
address bar nor in a Referer. A foreign page cannot use the cookie (SameSite), open the websocket
(Origin), or reach the server under another host name (Host; DNS rebinding).
"""

from __future__ import annotations

import secrets

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from ktui.apiserver.http.loopback import host_of_header, is_loopback

NO_TOKEN = "This page needs its token: open the whole address that <code>ktui web</code> has printed."
NO_HOST = "<code>ktui web</code> answers under the name of a loopback address only."
NO_ORIGIN = "A websocket is opened from ktui's own page only."
REFUSAL = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>ktui: 403</title>
<body style="background: #0f141b; color: #d3dae4; font: 16px monospace; margin: 2em 2ch">
<p><b style="color: #e8c070">403</b> {text}</p>
</body>
</html>
"""
# xterm.js writes styles into the page; nothing is loaded from other servers.
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self' ws://{host}; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)


class Guard:
    """Middleware of the web server.

    The cookie's name includes the port, because browsers share cookies between ports.
    """

    def __init__(self, token: str, port: int) -> None:
        self._token = token
        self.cookie = f"ktui_{port}"

    def install(self, app: web.Application) -> None:
        app.middlewares.append(self._middleware())
        app.on_response_prepare.append(_add_headers)

    def _middleware(self) -> Middleware:
        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            if not is_loopback(host_of_header(request.host)):
                return _refuse(NO_HOST)
            if "token" in request.query and self._knows(request.query["token"]):
                return self._with_cookie(request)
            if not self._knows(request.cookies.get(self.cookie, "")):
                return _refuse(NO_TOKEN)
            if _is_websocket(request) and not _own_page(request):
                return _refuse(NO_ORIGIN)
            return await handler(request)

        return guard

    def _knows(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(), self._token.encode())

    def _with_cookie(self, request: web.Request) -> web.Response:
        """Redirect to the same page without the token in its address, and set the cookie."""
        clean = request.rel_url.without_query_params("token")
        answer = web.Response(status=303, headers={"Location": str(clean)})
        answer.set_cookie(self.cookie, self._token, httponly=True, samesite="Strict", path="/")
        return answer


def _refuse(text: str) -> web.Response:
    return web.Response(status=403, text=REFUSAL.format(text=text), content_type="text/html")


def _is_websocket(request: web.Request) -> bool:
    return request.headers.get("Upgrade", "").lower() == "websocket" or request.path == "/ws"


def _own_page(request: web.Request) -> bool:
    return request.headers.get("Origin", "") == f"http://{request.host}"


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers["Content-Security-Policy"] = POLICY.format(host=request.host)
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "no-store"
