"""Lists the routers of all contexts and describes them as OpenAPI."""

from typing import Any

from fastapi import Depends, FastAPI

from wallwatch_backend import __version__
from wallwatch_backend.accounts.audit.endpoints import router as audit
from wallwatch_backend.accounts.oidc.endpoints import router as oidc
from wallwatch_backend.accounts.second_factor.endpoints import router as second_factor
from wallwatch_backend.accounts.session.account_endpoints import router as own_account
from wallwatch_backend.accounts.session.endpoints import router as session
from wallwatch_backend.accounts.tokens.endpoints import router as tokens
from wallwatch_backend.accounts.users.endpoints import router as users
from wallwatch_backend.accounts.views.endpoints import router as views
from wallwatch_backend.api_links import add_links
from wallwatch_backend.api_page import add_page
from wallwatch_backend.api_tags import INTRODUCTION, describe
from wallwatch_backend.captures.endpoints import router as captures
from wallwatch_backend.contention.cards.endpoints import router as nf_cards
from wallwatch_backend.contention.courses.endpoints import router as nf_courses
from wallwatch_backend.contention.models.endpoints import router as nf_models
from wallwatch_backend.contention.placements.endpoints import router as placements
from wallwatch_backend.contention.predictions.endpoints import router as nf_predictions
from wallwatch_backend.fleet.catalogue.endpoints import router as catalogue
from wallwatch_backend.fleet.commonalities.endpoints import router as commonalities
from wallwatch_backend.fleet.exposition.endpoints import router as exposition
from wallwatch_backend.fleet.forecasts.endpoints import router as forecasts
from wallwatch_backend.fleet.overview.endpoints import router as fleet
from wallwatch_backend.fleet.profiles.endpoints import router as profiles
from wallwatch_backend.fleet.profiles.endpoints_rnic import router as profiles_rnic
from wallwatch_backend.fleet.replay.endpoints import router as replay
from wallwatch_backend.fleet.rnics.endpoints import router as rnics
from wallwatch_backend.fleet.search.endpoints import router as search
from wallwatch_backend.fleet.stream.endpoints import router as stream
from wallwatch_backend.fleet.vfs.endpoints import router as vfs
from wallwatch_backend.hosts.certificates.endpoints import router as certificates
from wallwatch_backend.hosts.command_keys.endpoints import router as command_keys
from wallwatch_backend.hosts.enrolment.endpoints import router as agents
from wallwatch_backend.incidents.context.endpoints import router as incidents_context
from wallwatch_backend.incidents.grouping.endpoints import router as grouping
from wallwatch_backend.incidents.listing.endpoints import router as incidents
from wallwatch_backend.incidents.silences.endpoints import router as silences
from wallwatch_backend.incidents.triage.endpoints import router as triage
from wallwatch_backend.isolation.breakage.endpoints import router as breakage
from wallwatch_backend.isolation.reports.endpoints import router as slo_reports
from wallwatch_backend.isolation.slo.endpoints import router as slo
from wallwatch_backend.isolation.vfs.endpoints import router as isolated_vfs
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.health.endpoints import router as health
from wallwatch_backend.kit.query_parameters import refuse_unknown
from wallwatch_backend.lab.endpoints import router as lab
from wallwatch_backend.lab.rules.endpoints import router as lab_rules
from wallwatch_backend.notify.deliveries.endpoints import router as deliveries
from wallwatch_backend.notify.webhooks.endpoints import router as webhooks
from wallwatch_backend.policies.bench.endpoints import router as policies_bench
from wallwatch_backend.policies.delivery.endpoints import router as policies_delivery
from wallwatch_backend.policies.registry.endpoints import router as policies
from wallwatch_backend.policies.states.endpoints import router as policies_states
from wallwatch_backend.remedies.automation.endpoints import router as automation
from wallwatch_backend.remedies.control.endpoints import router as control
from wallwatch_backend.remedies.orders.endpoints import router as remedies
from wallwatch_backend.remedies.plans.endpoints import router as plans
from wallwatch_backend.remedies.rollouts.endpoints import router as rollouts

PREFIX = "/api/v1"


def new_api(**options: Any) -> FastAPI:
    """Create the application with all routes and no state."""
    app = FastAPI(
        title="Wallwatch",
        version=__version__,
        summary="See the scalability walls of RDMA NICs, and act before traffic does.",
        description=INTRODUCTION,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        servers=[{"url": "/", "description": "The server that serves this document"}],
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,  # the default pages load scripts from other servers, which the Content-Security-Policy forbids; api_page has ours
        redoc_url=None,
        **options,
    )
    responses: dict[int | str, dict[str, Any]] = {
        **problems.responses(problems.InvalidInput),
        503: {
            "model": problems.Problem,
            "content": {problems.MEDIA_TYPE: {}},
            "description": "The database does not answer (`database_unavailable`)",
        },
    }
    app.include_router(health)  # first: a probe is answered before the routes of the API are compared
    for router in (
        session,
        own_account,
        oidc,
        fleet,
        commonalities,
        replay,
        search,
        stream,
        rnics,
        vfs,
        breakage,
        isolated_vfs,
        slo,
        slo_reports,
        incidents,
        triage,
        grouping,
        incidents_context,
        silences,
        views,
        remedies,
        plans,
        control,
        rollouts,
        automation,
        agents,
        command_keys,
        certificates,
        policies_bench,
        policies_delivery,
        policies,
        policies_states,
        profiles,
        forecasts,
        profiles_rnic,
        nf_cards,
        nf_courses,
        nf_models,
        nf_predictions,
        placements,
        lab,
        lab_rules,
        captures,
        webhooks,
        deliveries,
        users,
        second_factor,
        tokens,
        audit,
        catalogue,
    ):
        # Each by itself, not all in one router of the prefix: FastAPI looks for a route once more for each router around it.
        app.include_router(router, prefix=PREFIX, dependencies=[Depends(refuse_unknown)], responses=responses)
    app.include_router(exposition)
    add_page(app)
    _describe_problems(app)
    return app


def _problem(description: str) -> dict[str, Any]:
    return {"description": description, "content": {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}


_BODY_ERRORS = {
    "400": _problem("The body is not UTF-8 (`bad_request`)"),
    "413": _problem("The body is too large (`content_too_large`)"),
}


def _describe_problems(app: FastAPI) -> None:
    """Errors are `application/problem+json` only (the framework adds `application/json`); add those that any body can cause."""
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = generate()
            for path in document["paths"].values():
                for operation in path.values():
                    if "requestBody" in operation:
                        operation["responses"] |= _BODY_ERRORS
                    # An operation without a scheme needs no sign-in, and says so.
                    operation.setdefault("security", [])
                    for response in operation["responses"].values():
                        content = response.get("content", {})
                        if problems.MEDIA_TYPE in content and "application/json" in content:
                            content[problems.MEDIA_TYPE] = content.pop("application/json")
            for unused in ("HTTPValidationError", "ValidationError"):
                document["components"]["schemas"].pop(unused, None)
            add_links(document)
            describe(document)
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # as in FastAPI's documentation on extending the schema
