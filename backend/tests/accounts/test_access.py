"""Every endpoint, tried by callers who may not use it. The list comes from the OpenAPI, so that a new endpoint is in it by itself."""

import re
from typing import Any

import httpx
import pytest

from wallwatch_backend.api import new_api

PUBLIC = {"signIn", "getSignInMethods", "beginOidcSignIn", "endOidcSignIn", "signOutAtProvider", "enrolAgent", "getHealthy", "getReady"}
VIEWER = {
    "changeOwnPassword", "getOwnAccount", "listOwnSessions", "endOwnSession", "endOtherSessions",
    "startSecondFactor", "confirmSecondFactor", "disableSecondFactor",
    "getSession", "signOut", "getFleet", "getFleetCommonalities", "getFleetDetails", "getFleetReplay", "searchFleet",
    "openStream", "listRnics", "getRnic", "getRnicSeries", "getRnicSignals", "getRnicMasks",
    "listRnicFindings", "listRnicChanges", "listRnicVfs", "listIncidents", "getIncident", "countIncidents", "listIncidentChanges",
    "listIncidentGroups", "exportIncidents", "listSimilarIncidents", "listIncidentContainers", "getBeforeIncident", "listSilences",
    "getSilence", "listViews", "createView",
    "updateView", "deleteView", "listRemedyActions", "listRemedies", "getRemedy", "getRemedyEffect", "getRemedyControl",
    "listRollouts", "getRollout", "listAutomationRules", "listAutomationRuns", "listPlans", "getPlan", "getPlanOperations",
    "listAgents", "listWebhooks", "listDeliveries", "listPolicies", "getPolicyDelivery", "getPolicy", "getPolicySeries",
    "listPolicyViolations", "getPolicyViolation", "getPolicyVocabulary", "checkPolicy", "runPolicy", "backtestPolicy",
    "listRnicPolicies", "listProfiles", "getProfile", "getProfileSurface", "getProfilePrediction", "listProfileRnics",
    "compareProfileVersions", "getProfileVersion", "getRnicPerformance", "listForecasts", "countForecasts", "listForecastModels",
    "listForecastModelChanges", "getForecast", "listPastForecasts", "getCatalogue", "getDelivery", "listDeadLetters",
    "getWebhookSchema", "getFleetMetrics",
    "getLabCatalogue", "listLabDevices", "listCampaigns", "getCampaign", "listCampaignTests", "downloadCampaignReport",
    "downloadCampaignJournal", "listLabRules", "exportLabRules",
    "listNfCards", "getNfCardCourse", "listNfHeadrooms", "listNfModels", "getNfModelVersion", "predictFunctions", "placeFunctions",
    "listCaptures", "listTransportModels", "getCapture", "getCaptureSeries", "getCaptureVerdicts", "downloadCaptureAnalysis",
    "getFleetIsolation", "getRnicIsolation", "getIsolationStrip", "getVfIsolation", "listSloClasses", "getSloRules", "getSloReport",
}  # fmt: skip
OPERATOR = {
    "createPolicy", "updatePolicy", "deletePolicyDraft", "enablePolicy", "disablePolicy",
    "createCalibration", "createFleetCalibration", "promoteProfileVersion", "rollBackProfile",
    "acknowledgeIncident", "unacknowledgeIncident",
    "resolveIncident", "commentIncident", "reopenIncident", "deriveRecommendationsAgain", "updateIncident", "mergeIncidents",
    "splitIncident", "listAssignees",
    "bulkIncidents", "createSilence", "previewSilence", "updateSilence", "expireSilence",
    "createPlan", "createRemedy", "undoRemedy", "approveRemedy", "rejectRemedy", "stopRemedies",
    "createRollout", "approveRollout", "rejectRollout", "pauseRollout", "resumeRollout", "stopRollout", "undoRollout",
    "previewAutomationRule",
    "disableAutomationRule", "testWebhook", "retryDelivery", "replayDelivery", "replayDeadLetters",
    "createSloClass", "updateSloClass", "deleteSloClass", "replaceSloRules", "previewSloRules",
    "createNfModel", "promoteNfModel", "rollBackNfModel", "setFunctionTerms",
    "createCampaign", "approveCampaign", "rejectCampaign", "stopCampaign", "stopAllCampaigns", "attachCampaign", "writeCampaignProfile",
    "proposeLabRule", "acceptLabRule", "rejectLabRule",
    "uploadCapture", "attachCapture", "deleteCapture",
}  # fmt: skip
ADMIN = {
    "createEnrolmentToken", "deleteAgent", "listUsers", "createUser", "updateUser", "listTokens", "createToken", "deleteToken", "listAudit",
    "resetSecondFactor",
    "getAuditHead", "resumeRemedies", "resetRemedyBreaker", "createAutomationRule", "changeAutomationRule", "enableAutomationRule",
    "deleteAutomationRule", "createWebhook", "updateWebhook", "deleteWebhook",
    "listCommandKeys", "rotateCommandKey", "listAgentAuthorities", "rotateAgentAuthority",
}  # fmt: skip

ID = "00000000-0000-4000-8000-000000000000"
RULE = {
    "name": "x",
    "action": "tune-revalidator",
    "params": {"max_idle_ms": 60000},
    "matchers": [{"name": "symptom", "op": "=", "value": "S1"}],
}
BODIES: dict[str, Any] = {
    "commentIncident": {"text": "x"},
    "updateIncident": {"assignee": "x"},
    "mergeIncidents": {"incident_ids": [ID]},
    "splitIncident": {"finding_ids": [ID]},
    "bulkIncidents": {"ids": [ID], "action": "acknowledge"},
    "createSilence": {"matchers": [{"name": "host", "value": "x"}], "ends_at": "2100-01-01T00:00:00Z", "reason": "x"},
    "previewSilence": {"matchers": [{"name": "host", "value": "x"}]},
    "updateSilence": {"reason": "x"},
    "replayDeadLetters": {},
    "createView": {"name": "x", "query": ""},
    "updateView": {"name": "x"},
    "createRemedy": {"action": "tune-revalidator", "host": "h", "params": {"max_idle_ms": 60000}, "mode": "dry_run"},
    "createPlan": {"host": "h", "pci": "0000:3b:00.0"},
    "rejectRemedy": {"reason": "x"},
    "stopRemedies": {"reason": "x"},
    "createRollout": {"action": "tune-revalidator", "params": {"max_idle_ms": 60000}, "targets": [{"host": "h"}], "reason": "x"},
    "rejectRollout": {"reason": "x"},
    "createSloClass": {"name": "x", "min_mbps": 1, "max_mbps": 2},
    "updateSloClass": {"min_mbps": 1, "max_mbps": 2},
    "replaceSloRules": {"rules": []},
    "previewSloRules": {"rules": []},
    "createCampaign": {"device": "x"},
    "approveCampaign": {},
    "rejectCampaign": {"reason": "x"},
    "stopCampaign": {},
    "stopAllCampaigns": {},
    "attachCampaign": {"incident_id": ID},
    "attachCapture": {"incident_id": ID},
    "writeCampaignProfile": {},
    "proposeLabRule": {"cause": 1},
    "acceptLabRule": {"comment": "x"},
    "rejectLabRule": {"comment": "x"},
    "createNfModel": {"function": "x", "nic_model": "BF-2", "files": [{"name": "x_mem_train", "text": "1"}]},
    "promoteNfModel": {"reason": "x"},
    "rollBackNfModel": {"function": "x", "nic_model": "BF-2", "reason": "x"},
    "setFunctionTerms": {"cores": 2},
    "predictFunctions": {"nic_model": "BF-2", "residents": []},
    "placeFunctions": {"nic_model": "BF-2", "functions": [{"name": "x", "function": "x", "flows": 1}], "cards": [{"name": "c"}]},
    "stopRollout": {"reason": "x"},
    "undoRollout": {"reason": "x"},
    "createAutomationRule": RULE,
    "changeAutomationRule": RULE,
    "previewAutomationRule": RULE,
    "rotateCommandKey": {},
    "rotateAgentAuthority": {},
    "createWebhook": {"name": "x", "url": "http://127.0.0.1:9/"},
    "updateWebhook": {"name": "x"},
    "createEnrolmentToken": {},
    "createUser": {"username": "someone", "password": "long enough password", "role": "viewer"},
    "updateUser": {"role": "viewer"},
    "startSecondFactor": {"current_password": "x"},
    "confirmSecondFactor": {"code": "123456"},
    "disableSecondFactor": {"current_password": "x", "code": "123456"},
    "changeOwnPassword": {"current_password": "x", "new_password": "long enough password"},
    "createToken": {"name": "x", "role": "viewer"},
}


def operations() -> dict[str, tuple[str, str]]:
    paths = new_api().openapi()["paths"]
    return {operation["operationId"]: (method.upper(), path) for path, methods in paths.items() for method, operation in methods.items()}


OPERATIONS = operations()


def call(client: httpx.Client, operation: str, **options: Any) -> httpx.Response:
    method, path = OPERATIONS[operation]
    path = path.replace("{host}", "host01").replace("{pci}", "0000:3b:00.0")
    return client.request(method, re.sub(r"\{\w+\}", ID, path), json=BODIES.get(operation), **options)


def test_every_operation_is_placed_in_exactly_one_group() -> None:
    groups = [PUBLIC, VIEWER, OPERATOR, ADMIN]
    assert sorted(OPERATIONS) == sorted(name for group in groups for name in group)


@pytest.mark.parametrize("operation", sorted(VIEWER | OPERATOR | ADMIN))
def test_an_anonymous_caller_is_refused(anonymous: httpx.Client, operation: str) -> None:
    answer = call(anonymous, operation)
    assert answer.status_code == 401, answer.text
    assert answer.json()["code"] == "not_signed_in"
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("operation", sorted(OPERATOR | ADMIN))
def test_a_viewer_may_not_change_anything(viewer: httpx.Client, operation: str) -> None:
    answer = call(viewer, operation)
    assert answer.status_code == 403, answer.text
    assert answer.json()["code"] == "forbidden"


@pytest.mark.parametrize("operation", sorted(ADMIN))
def test_an_operator_may_not_administer(operator: httpx.Client, operation: str) -> None:
    assert call(operator, operation).json()["code"] == "forbidden"


@pytest.mark.parametrize("operation", sorted(name for name in OPERATOR | ADMIN if OPERATIONS[name][0] != "GET"))
def test_a_session_without_its_csrf_token_changes_nothing(admin: httpx.Client, operation: str) -> None:
    answer = call(admin, operation, headers={"X-CSRF-Token": "guessed"})
    assert answer.status_code == 403, answer.text
    assert answer.json()["code"] == "csrf_mismatch"


@pytest.mark.parametrize("header", ["Bearer ww_wrong", "Bearer", "Basic eDp5", "ww_wrong"])
def test_a_wrong_authorization_header_is_no_way_in(anonymous: httpx.Client, header: str) -> None:
    assert anonymous.get("/api/v1/fleet", headers={"Authorization": header}).status_code == 401


def test_a_path_that_does_not_exist_gives_a_problem_document(anonymous: httpx.Client) -> None:
    answer = anonymous.get("/api/v1/nothing")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["instance"] == "/api/v1/nothing"


def test_a_method_that_is_not_allowed_gives_a_problem_document(anonymous: httpx.Client) -> None:
    answer = anonymous.put("/api/v1/fleet")
    assert answer.status_code == 405
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["allow"] == "GET"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/api/v1/webhooks/00000000-0000-4000-8000-000000000000", "PATCH, DELETE"),
        ("PUT", "/api/v1/silences", "GET, POST"),
        ("DELETE", "/api/v1/incidents/00000000-0000-4000-8000-000000000000", "GET, PATCH"),
    ],
)
def test_the_answer_to_a_method_that_is_not_allowed_names_all_that_are(
    anonymous: httpx.Client, method: str, path: str, allowed: str
) -> None:
    answer = anonymous.request(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


def test_answers_carry_the_security_headers(anonymous: httpx.Client) -> None:
    headers = anonymous.get("/api/v1/session").headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
