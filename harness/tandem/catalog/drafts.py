"""Service files to begin with: an example, or one drawn from an OpenAPI description, a HAR file or an access log. Nothing in them
is evaluated or called; what they do not tell stands in a comment."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import yaml

from tandem.errors import UsageError

FILE_MOST = 64 << 20
"""Largest file, in bytes."""
PATHS_MOST, VALUES_MOST, REQUESTS_MOST = 100, 400, 20
CHANGING = ("post", "put", "delete")
LOGGED = re.compile(r'"([A-Z]+) (/[!-~]*) HTTP/[0-9.]+" (\d{3})\b')
"""The part of Apache's common and combined forms, and nginx's default, that is read.
https://httpd.apache.org/docs/2.4/logs.html#common"""
HEAD = """\
# A service of your own: tandem compare --service THIS-FILE --image shop:main --image shop:new
# `tandem schema` prints the form of this file (JSON Schema, $defs/OwnService).
# images = ["shop:main", "shop:new"]  # the first is the baseline; --image wins
port = 8080                           # where it listens; its container gets PORT, too
# ready = "/health"                   # answered below 500 once it is up; default: the first request
# connections = 20
# slo = "p99=50ms"                    # objective of `tandem capacity`
# [environment]
# LOG_LEVEL = "warning"
"""
EXAMPLE = """
[[request]]
path = "/cart/{id}"
ids = "0-49"                          # or values = ["a", "b"], or values_file = "carts.csv"
weight = 95
# headers = { Accept = "application/json" }
# ignore = ["rendered_at"]            # paths in a JSON answer whose values may differ: items.*.id

[[request]]
method = "POST"
path = "/search"
body = '{"text": "tea"}'
weight = 5
# status = 201
"""


class _Open(Exception):
    """What a description does not tell."""


def draft(file: Path | None) -> str:
    """The text of a service file. Raises UsageError for a file that cannot be read or holds no request."""
    if file is None:
        return HEAD + EXAMPLE
    try:
        if file.stat().st_size > FILE_MOST:
            raise UsageError(f"{file}: larger than {FILE_MOST >> 20} MiB")
        text = file.read_text(errors="replace")
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    try:
        tables = [*_requests(text)]
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError, yaml.YAMLError) as error:
        raise UsageError(f"{file}: not of the form that it seems to have: {error!r}") from None
    if not any("[[request]]" in table.splitlines() for table in tables):
        none = f"{file}: no request in it that can be sent as it stands. Read are OpenAPI 3, HAR, logs"
        raise UsageError("\n".join([none, *tables]))
    return "\n".join([HEAD, *tables[:REQUESTS_MOST]])


def _requests(text: str) -> Iterator[str]:
    """A table for each request."""
    if text.lstrip().startswith("{"):
        document = json.loads(text)
    elif re.search(r"^(openapi|swagger):", text, re.MULTILINE):
        document = yaml.safe_load(text)
    else:
        return _drawn(_logged(text))
    if "log" in document:
        return _drawn(_recorded(document["log"]["entries"]))
    return _described(document)


def _table(fields: Mapping[str, Any], note: str = "") -> str:
    """A TOML table; a string of JSON is one of TOML."""
    written = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    return "\n".join([f"# {note}" if note else "", "[[request]]", *written, ""]).lstrip("\n")


# ---- what was recorded ----

type _Asked = tuple[str, str, str | None, int]
"""Method, path, body, status."""


def _logged(text: str) -> Counter[_Asked]:
    """The GETs of a log, as it has no bodies."""
    found = ((one[1], one[2], None, int(one[3])) for one in LOGGED.finditer(text))
    return Counter(one for one in found if one[0] == "GET")


def _recorded(entries: list[dict[str, Any]]) -> Counter[_Asked]:
    """Requests to the host that is asked most."""
    hosts = Counter(urlsplit(one["request"]["url"]).netloc for one in entries)
    found = Counter[_Asked]()
    for one in entries:
        url, method = urlsplit(one["request"]["url"]), one["request"]["method"]
        if url.netloc == hosts.most_common(1)[0][0] and method.lower() in ("get", *CHANGING):
            body = (one["request"].get("postData") or {}).get("text")
            path = (url.path or "/") + (f"?{url.query}" if url.query else "")
            found[method, path, body if method in ("POST", "PUT") else None, one["response"]["status"]] += 1
    return found


def _drawn(found: Counter[_Asked]) -> Iterator[str]:
    """The GETs as one table, whose paths come as often as they did; of each other method and path the body that came most."""
    gets = Counter({one[1]: n for one, n in found.items() if (one[0], one[3]) == ("GET", 200)})
    if len(gets) == 1:
        yield _table({"path": next(iter(gets)), "weight": gets.total()})
    elif gets:
        most = gets.most_common(PATHS_MOST)
        whole = sum(n for _, n in most)
        values = [path for path, n in most for _ in range(max(1, round(n / whole * VALUES_MOST)))]
        left = f"; {len(gets) - len(most)} rarer ones left out" if len(gets) > len(most) else ""
        note = f"{gets.total():,} GETs of {len(gets)} paths, drawn as often as they came{left}"
        yield _table({"name": "gets", "path": "{id}", "values": values, "weight": gets.total()}, note)
    seen = set[tuple[str, str]]()
    for (method, path, body, status), n in found.most_common():
        if method != "GET" and 200 <= status < 300 and (method, path) not in seen:
            seen.add((method, path))
            fields = {"method": method, "path": path, "weight": n, "status": status}
            yield _table({**fields, "body": body} if body is not None else fields)


# ---- what is described ----


def _described(document: dict[str, Any]) -> Iterator[str]:
    """A table for each operation of an OpenAPI description (https://spec.openapis.org/oas/v3.1.0). One that changes something, or
    for which an example is missing, stands in a comment."""
    base = urlsplit(str((document.get("servers") or [{}])[0].get("url", ""))).path.rstrip("/")
    for path, item in document["paths"].items():
        for method in ("get", *CHANGING):
            if (operation := item.get(method)) is None:
                continue
            try:
                table = _operation(document, method, base + path, item, operation)
            except _Open as error:
                yield _commented(f"{method.upper()} {base}{path}: {error}")
            else:
                changing = f"it changes something: does it answer alike each time?\n{table}"
                yield table if method == "get" else _commented(changing)


def _commented(text: str) -> str:
    return "".join(f"# {line}".rstrip() + "\n" for line in text.splitlines())


def _operation(
    document: dict[str, Any], method: str, path: str, item: dict[str, Any], operation: dict[str, Any]
) -> str:
    query, fields = dict[str, str](), {"method": method.upper()}
    for one in [*item.get("parameters", []), *operation.get("parameters", [])]:
        parameter = _resolved(document, one)
        name, required = parameter["name"], parameter.get("required")
        if parameter["in"] == "path":
            path = path.replace(f"{{{name}}}", quote(str(_example(document, parameter, name)), safe=""))
        elif parameter["in"] == "query" and required:
            query[name] = str(_example(document, parameter, name))
        elif required:
            raise _Open(f"its {parameter['in']} parameter {name} has to be given")
    fields["path"] = path + (f"?{urlencode(query)}" if query else "")
    if "requestBody" in operation:
        content = _resolved(document, operation["requestBody"]).get("content", {})
        fields["body"] = json.dumps(_example(document, content.get("application/json", {}), "its body"))
    right = [code for code in operation.get("responses", {}) if re.fullmatch("2[0-9]{2}", str(code))]
    status: dict[str, int] = {"status": int(right[0])} if right and str(right[0]) != "200" else {}
    needs = "it may need a token: headers = { Authorization = … }"
    secured = operation.get("security", document.get("security"))
    return _table({**fields, **status}, needs if secured else "")


def _resolved(document: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """What a `$ref` into the same document stands for."""
    for _ in range(10):
        if "$ref" not in part:
            return part
        found: Any = document
        for step in str(part["$ref"]).removeprefix("#/").split("/"):
            found = found[step.replace("~1", "/").replace("~0", "~")]
        part = found
    raise ValueError("a $ref leads to itself")


def _example(document: dict[str, Any], part: dict[str, Any], name: str) -> Any:
    """The first value that a description gives. Raises _Open."""
    schema = _resolved(document, part.get("schema", {}))
    for one in (part, schema):
        if "example" in one:
            return one["example"]
        several = one.get("examples")
        for example in several.values() if isinstance(several, dict) else several or []:
            return _resolved(document, example)["value"] if isinstance(several, dict) else example
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    raise _Open(f"no example of {name}")
