"""Queries that count requests in the database with the logs (`--sql`); `--grouped` reads the result.

Each query counts requests by client, shape of the URI (names and values replaced) and latency bucket, as in
LatencyHistogram: sixteen per octave. The example of a group is one of its URIs, so that nothing is lost on
which routing depends.
"""

from __future__ import annotations

from dataclasses import dataclass

READS = "'get', 'list', 'watch'"
# Parts that differ between requests of a shape, and their replacement (`{1}`: the first group).
_NAMES = (
    (r"/namespaces/[^/?]+", "/namespaces/*"),
    (r"(continue|resourceVersion|timeout|timeoutSeconds)=[1-9A-Za-z][^&]*", "{1}=*"),
    (r"(%3D)[^%&]*", "{1}*"),
)
_LAST_NAME = (r"^([^?]*/)[^/?]+", "{1}*")


@dataclass(frozen=True, slots=True)
class Dialect:
    """SQL that differs between engines. `{}` stands for arguments, `{source}` for the table's name."""

    source: str
    account: str
    code: str
    received: str
    finished: str
    replace: str
    group: str  # a reference to the first group of a pattern


_JSON_COLUMNS = (
    "auditID: 'VARCHAR', stage: 'VARCHAR', verb: 'VARCHAR', requestURI: 'VARCHAR', userAgent: 'VARCHAR', "
    "\"user\": 'STRUCT(username VARCHAR)', impersonatedUser: 'STRUCT(username VARCHAR)', "
    "responseStatus: 'STRUCT(code INTEGER)', requestReceivedTimestamp: 'TIMESTAMPTZ', "
    "stageTimestamp: 'TIMESTAMPTZ'"
)
_CLICKHOUSE_COLUMNS = (
    "auditID String, stage String, verb String, requestURI String, userAgent String, "
    "user Tuple(username String), impersonatedUser Tuple(username String), responseStatus Tuple(code Int32), "
    "requestReceivedTimestamp String, stageTimestamp String"
)
DIALECTS = {
    "duckdb": Dialect(
        source=f"read_json('{{source}}', format = 'newline_delimited', columns = {{{{{_JSON_COLUMNS}}}}})",
        account="coalesce(impersonatedUser.username, \"user\".username, '')",
        code="coalesce(responseStatus.code, 0)",
        received="epoch_us(requestReceivedTimestamp)",
        finished="epoch_us(stageTimestamp)",
        replace="regexp_replace({}, '{}', '{}', 'g')",
        group="\\1",
    ),
    "clickhouse": Dialect(
        source=f"file('{{source}}', 'JSONEachRow', '{_CLICKHOUSE_COLUMNS}')",
        account="if(impersonatedUser.username != '', impersonatedUser.username, user.username)",
        code="responseStatus.code",
        received="toUnixTimestamp64Micro(parseDateTime64BestEffort(requestReceivedTimestamp, 6, 'UTC'))",
        finished="toUnixTimestamp64Micro(parseDateTime64BestEffort(stageTimestamp, 6, 'UTC'))",
        replace="replaceRegexpAll({}, '{}', '{}')",
        group="\\\\1",
    ),
    "athena": Dialect(
        source="{source}",
        account="coalesce(impersonateduser.username, \"user\".username, '')",
        code="coalesce(responsestatus.code, 0)",
        received="CAST(to_unixtime(from_iso8601_timestamp(requestreceivedtimestamp)) * 1000000 AS BIGINT)",
        finished="CAST(to_unixtime(from_iso8601_timestamp(stagetimestamp)) * 1000000 AS BIGINT)",
        replace="regexp_replace({}, '{}', '{}')",
        group="$1",
    ),
}
NAMES = (*DIALECTS, "bigquery", "kql")


def query(dialect: str, source: str) -> str:
    """Return the query in a dialect of NAMES over `source`: a file, a pattern or a table."""
    if dialect == "bigquery":
        return _BIGQUERY.replace("SOURCE", source)
    if dialect == "kql":
        return _kql(source)
    return _sql(DIALECTS[dialect], source.replace("'", "''"))


def _shapes(replace: str, group: str) -> tuple[str, str]:
    """Return the expressions for the shape of a URI, and for that of a GET, whose last part is a name."""
    shape = "uri"
    for pattern, by in _NAMES:
        shape = replace.format(shape, pattern, by.replace("{1}", group))
    pattern, by = _LAST_NAME
    return shape, replace.format(shape, pattern, by.replace("{1}", group))


def _sql(d: Dialect, source: str) -> str:
    shape, named = _shapes(d.replace, d.group)
    return f"""\
WITH events AS (
  SELECT DISTINCT
    auditID AS audit_id, stage, verb, requestURI AS uri, coalesce(userAgent, '') AS user_agent,
    {d.account} AS account,
    {d.code} AS status,
    {d.received} AS received_us,
    {d.finished} AS finished_us
  FROM {d.source.format(source=source)}
  WHERE verb IN ({READS}) AND stage IN ('ResponseStarted', 'ResponseComplete', 'Panic')
),
timed AS (
  SELECT
    user_agent, verb, uri, finished_us,
    CASE WHEN account LIKE 'system:node:%' THEN 'system:node:*' ELSE account END AS username,
    CASE WHEN status >= 400 THEN status ELSE 0 END AS code,
    CASE WHEN stage = 'ResponseStarted' THEN 1 ELSE 0 END AS started,
    CASE WHEN finished_us > received_us THEN finished_us - received_us ELSE 0 END AS took_us,
    CASE WHEN verb = 'get' THEN {named} ELSE {shape} END AS shape
  FROM events
),
bucketed AS (
  SELECT *,
    CASE WHEN took_us > 0 THEN CAST(floor(log2(took_us) * 16) AS INTEGER) ELSE -1 END AS bucket
  FROM timed
)
SELECT
  user_agent, username, verb, min(uri) AS example, code, started, bucket,
  count(*) AS requests, sum(took_us) AS total_us, max(took_us) AS max_us,
  min(finished_us) AS first_us, max(finished_us) AS last_us
FROM bucketed
GROUP BY user_agent, username, verb, shape, code, started, bucket
ORDER BY total_us DESC
"""


# GKE's sink to BigQuery has neither query strings nor durations.
_BIGQUERY = """\
WITH entries AS (
  SELECT DISTINCT
    insertId AS audit_id,
    REGEXP_EXTRACT(protopayload_auditlog.methodName, r'[^.]+$') AS verb,
    protopayload_auditlog.resourceName AS name,
    COALESCE(protopayload_auditlog.requestMetadata.callerSuppliedUserAgent, '') AS user_agent,
    COALESCE(protopayload_auditlog.authenticationInfo.principalEmail, '') AS account,
    COALESCE(protopayload_auditlog.status.code, 0) AS status,
    UNIX_MICROS(timestamp) AS finished_us,
    COALESCE(operation.first AND NOT operation.last, FALSE) AS first_only
  FROM `SOURCE`
  WHERE protopayload_auditlog.serviceName = 'k8s.io'
),
shaped AS (
  SELECT
    user_agent, verb, finished_us,
    IF(STARTS_WITH(account, 'system:node:'), 'system:node:*', account) AS username,
    CASE status
      WHEN 0 THEN 0 WHEN 5 THEN 404 WHEN 7 THEN 403 WHEN 8 THEN 429 WHEN 4 THEN 504 ELSE 500
    END AS code,
    IF(first_only, 1, 0) AS started,
    CONCAT(
      IF(STARTS_WITH(name, 'core/'), CONCAT('/api/', SUBSTR(name, 6)), CONCAT('/apis/', name)),
      IF(verb = 'watch', '?watch=true', '')
    ) AS uri
  FROM entries
  WHERE verb IN ('get', 'list', 'watch') AND (verb = 'watch' OR NOT first_only)
)
SELECT
  user_agent, username, verb, MIN(uri) AS example, code, started, -2 AS bucket,
  COUNT(*) AS requests, 0 AS total_us, 0 AS max_us,
  MIN(finished_us) AS first_us, MAX(finished_us) AS last_us
FROM shaped
GROUP BY
  user_agent, username, verb, REGEXP_REPLACE(uri, r'/namespaces/[^/?]+', '/namespaces/*'), code, started
ORDER BY requests DESC
"""


def _kql(source: str) -> str:
    """Return the query for Log Analytics over AKSAudit."""
    shape, named = _shapes("replace_regex({}, @'{}', @'{}')", "\\1")
    return f"""\
{source}
| where Verb in ({READS}) and Stage in ('ResponseStarted', 'ResponseComplete', 'Panic')
| distinct AuditId, Stage, Verb, RequestUri, UserAgent, account = tostring(User.username),
    status = toint(ResponseStatus.code), RequestReceivedTime, StageReceivedTime
| extend uri = RequestUri, user_agent = UserAgent, verb = Verb,
    username = iff(account startswith 'system:node:', 'system:node:*', account),
    code = iff(status >= 400, status, 0), started = iff(Stage == 'ResponseStarted', 1, 0),
    finished_us = tolong((StageReceivedTime - datetime(1970-01-01)) / 1microsecond),
    took_us = max_of(0, tolong((StageReceivedTime - RequestReceivedTime) / 1microsecond))
| extend shape = iff(verb == 'get', {named}, {shape}),
    bucket = iff(took_us > 0, toint(floor(log2(took_us) * 16, 1)), -1)
| summarize example = min(uri), requests = count(), total_us = sum(took_us), max_us = max(took_us),
    first_us = min(finished_us), last_us = max(finished_us)
    by user_agent, username, verb, shape, code, started, bucket
| project-away shape
| order by total_us desc
"""
