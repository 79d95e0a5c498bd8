"""Find the user of a request by certificate, or a token of the server, a file or a service account."""

from __future__ import annotations

import csv
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ktui.apiserver.http.request import Request
from ktui.authn.service_accounts import CheckedToken, InvalidToken, ServiceAccountTokens
from ktui.documents.limits import read_bytes
from ktui.kube.status import unauthorized
from ktui.kube.users import ANONYMOUS, AUTHENTICATED, MASTERS, Requester

MOST_BYTES = 1 << 20
ADMINISTRATOR = Requester("admin", (MASTERS, AUTHENTICATED))


def read_users(path: Path) -> dict[str, Requester]:
    """Return users by token; ValueError names the invalid line."""
    try:
        text = read_bytes(path, MOST_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise ValueError(f"--token-auth-file {path} cannot be read: {error}") from error
    users: dict[str, Requester] = {}
    for number, row in enumerate(csv.reader(text.splitlines()), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if len(cells) < 3 or not cells[0] or not cells[1]:
            raise ValueError(f"--token-auth-file {path}: line {number} is not token,user,uid[,groups]")
        if cells[0] in users:
            raise ValueError(f"--token-auth-file {path}: line {number} has the token of a line before")
        groups = [group.strip() for group in cells[3].split(",")] if len(cells) > 3 else []
        named = tuple(dict.fromkeys([*filter(None, groups), AUTHENTICATED]))
        users[cells[0]] = Requester(cells[1], named, cells[2])
    return users


@dataclass(frozen=True, slots=True)
class TokenAuthenticator:
    """Authenticates by certificate or token."""

    token: str | None  # the administrator's; None: every client is the administrator (`--insecure-http`)
    accounts: ServiceAccountTokens
    users: Mapping[str, Requester] = field(default_factory=dict)  # of `--token-auth-file` by their tokens

    @property
    def has_token(self) -> bool:
        return self.token is not None

    async def identify(self, request: Request) -> Requester:
        """The user by certificate, else by token, else anonymous; raise StatusError 401 for a wrong token."""
        if request.certified is not None:
            return request.certified
        scheme, _, rest = request.headers.get("authorization", "").strip().partition(" ")
        # As in upstream there is no token after two spaces.
        sent = rest.partition(" ")[0] if scheme.lower() == "bearer" else ""
        if self.token is None:
            return self.users.get(sent, ADMINISTRATOR)
        if not sent:
            return ANONYMOUS
        if hmac.compare_digest(sent.encode(), self.token.encode()):
            return ADMINISTRATOR
        try:
            return (await self.of_token(sent)).user
        except InvalidToken:
            raise unauthorized() from None

    async def of_token(self, sent: str, audiences: tuple[str, ...] = ()) -> CheckedToken:
        """Return the user of a token and those of `audiences` for which it is valid; raise InvalidToken.

        `audiences` (): the server's own.
        """
        user = self.users.get(sent)
        if self.token is not None and hmac.compare_digest(sent.encode(), self.token.encode()):
            user = ADMINISTRATOR
        if user is not None:  # its token is for the server alone (upstream: WrapAudienceAgnosticToken)
            own = self.accounts.audiences
            common = tuple(name for name in audiences or own if name in own)
            if not common:
                raise InvalidToken("")
            return CheckedToken(user, common)
        return await self.accounts.check(sent, audiences)
