"""Which resource answers which path."""

from inspect import iscoroutinefunction
from typing import Any

import falcon
from falcon import asgi, responders
from falcon.routing import BaseConverter, CompiledRouter

from shared.config import settings

# The contract's paths by the resource that answers them.
PATHS: dict[str, tuple[str, ...]] = {
    "healthz": ("/healthz",),
    "index": ("/", "/index.html", "/index.htm"),
    "work": ("/work",),
    "random_recipe": ("/api/v1/recipes",),
    "recipe": ("/api/v1/recipes/{text:segment}",),
    "notes": ("/api/v1/recipes/{text:segment}/notes",),
    "dashboard": ("/api/v1/dashboard",),
    "pool": ("/pool",) if settings.pool_tells else (),
}


class Segment(BaseConverter):
    """A part of a path that is not empty; Falcon's own may be."""

    def convert(self, value: str) -> str | None:
        return value or None


class Router(CompiledRouter):
    """What answers GET answers HEAD too; Falcon leaves the body out. OPTIONS is refused, which Falcon would answer."""

    def __init__(self) -> None:
        super().__init__()
        self.options.converters["segment"] = Segment

    def map_http_methods(self, resource: object, **kwargs: Any) -> Any:
        methods: dict[str, Any] = dict(super().map_http_methods(resource, **kwargs))
        if "GET" in methods:
            methods["HEAD"] = methods["GET"]
        is_async = any(map(iscoroutinefunction, methods.values()))
        methods["OPTIONS"] = responders.create_method_not_allowed(sorted(methods), asgi=is_async)
        return methods


def add_routes(app: falcon.App[Any, Any] | asgi.App[Any, Any], resources: dict[str, object]) -> None:
    """resources: by their names in PATHS."""
    for name, paths in PATHS.items():
        for path in paths:
            app.add_route(path, resources[name])
