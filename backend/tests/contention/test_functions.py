"""Network functions on SmartNICs: models from the example profiles, predictions for a card, placement of a batch."""

from pathlib import Path
from typing import Any

import httpx
import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "docs/examples/functions"
REASON = {"reason": "profiled on our own card"}
CARD = "BF-2"


@pytest.fixture(scope="module", autouse=True)
def patient(operator: httpx.Client, viewer: httpx.Client) -> None:
    """A training takes a second of CPU time, which a busy machine gives it late."""
    operator.timeout = viewer.timeout = httpx.Timeout(120)


def upload(function: str, *, without: str = "", **more: Any) -> dict[str, Any]:
    files = [
        {"name": file.name, "text": file.read_text()}
        for file in sorted((EXAMPLES / function).iterdir())
        if not without or without not in file.name
    ]
    return {"function": function, "nic_model": CARD, "files": files, **more}


def train(client: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    answer = client.post("/api/v1/nf-models", json=body)
    assert answer.status_code == 201, answer.text
    trained: dict[str, Any] = answer.json()
    return trained


def promote(client: httpx.Client, version: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(f"/api/v1/nf-models/{version['id']}/promote", json=REASON)
    assert answer.status_code == 200, answer.text
    model: dict[str, Any] = answer.json()
    return model


@pytest.fixture(scope="module")
def ready(operator: httpx.Client) -> dict[str, dict[str, Any]]:
    """Active models of three functions with SLAs of 20%, on any firmware."""
    versions = {}
    for function in ("firewall", "ids", "nat"):
        versions[function] = train(operator, upload(function))
        promote(operator, versions[function])
        terms = {"cores": 2, "sla_drop": 0.2}
        assert operator.put(f"/api/v1/nf-functions/{function}", json=terms).status_code == 200
    return versions


def resident(name: str, function: str, flows: float = 8000, **more: Any) -> dict[str, Any]:
    return {"name": name, "function": function, "flows": flows, **more}


def predict(client: httpx.Client, residents: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    answer = client.post("/api/v1/nf-predictions", json={"nic_model": CARD, "residents": residents, **more})
    assert answer.status_code == 200, answer.text
    prediction: dict[str, Any] = answer.json()
    return prediction


def place(client: httpx.Client, functions: list[dict[str, Any]], cards: int, **more: Any) -> dict[str, Any]:
    filled = [{"name": f"node{at}/bf2", "cores": 8} for at in range(cards)]
    answer = client.post("/api/v1/placements", json={"nic_model": CARD, "functions": functions, "cards": filled, **more})
    assert answer.status_code == 200, answer.text
    plan: dict[str, Any] = answer.json()
    return plan


def test_a_stranger_sees_no_models_and_a_viewer_uploads_none(anonymous: httpx.Client, viewer: httpx.Client) -> None:
    assert anonymous.get("/api/v1/nf-models").status_code == 401
    assert viewer.post("/api/v1/nf-models", json=upload("firewall")).status_code == 403


def test_a_version_has_its_data_its_errors_and_its_ranges(viewer: httpx.Client, ready: dict[str, dict[str, Any]]) -> None:
    card = viewer.get(f"/api/v1/nf-models/{ready['ids']['id']}").json()
    assert (card["number"], card["state"], card["rows"], card["created_by"]) == (1, "active", 100, "operator")
    assert {file["kind"] for file in card["files"]} == {"mem_train", "reg_train", "own_load"}
    assert all(len(file["sha256"]) == 64 for file in card["files"])
    assert 0 < card["mape"] < 10
    assert card["accelerator"]["a"] == pytest.approx(1.9e-6, rel=0.05)
    assert {item["name"] for item in card["ranges"]} >= {"flows", "packet_bytes", "working_set_mb"}
    assert [point["flows"] for point in card["own_load"]] == [1000, 8000, 32000, 60000]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text.replace(" 1518 ", " nan ", 1), "row 1, column 2 (packet_bytes)"),
        (lambda text: "\n".join(line.rsplit(" ", 1)[0] for line in text.splitlines()), "9 columns, but 10 are required"),
        (lambda text: "flows size\n" + text, "row 1"),
        (lambda text: "\n".join(text.splitlines()[:5]), "5 rows; at least 10 are required"),
    ],
)
def test_bad_profiles_are_refused_with_the_place(operator: httpx.Client, spoil: Any, said: str) -> None:
    body = upload("firewall", without="own_load")
    body["files"][0]["text"] = spoil(body["files"][0]["text"])
    answer = operator.post("/api/v1/nf-models", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "unusable_profiles")
    assert said in answer.json()["detail"]


def test_files_must_have_a_kind_and_one_must_be_a_memory_profile(operator: httpx.Client) -> None:
    files = upload("ids")["files"]
    for given, said in (
        ([{"name": "notes.txt", "text": "x"}], "notes.txt: its name says no kind"),
        ([file for file in files if "reg" in file["name"]], "*mem_train* is required"),
        ([files[0], {**files[0], "name": f"2_{files[0]['name']}"}], "give one of each kind"),
    ):
        answer = operator.post("/api/v1/nf-models", json={"function": "ids", "nic_model": CARD, "files": given})
        assert answer.status_code == 422
        assert said in answer.json()["detail"]


def test_a_model_that_predicts_worse_is_kept_as_refused(operator: httpx.Client, ready: dict[str, dict[str, Any]]) -> None:
    """Throughput that belongs to other rows: nothing can be learnt from it."""
    body = upload("firewall")
    rows = [line.rsplit(" ", 1) for line in body["files"][0]["text"].splitlines()]
    mixed = [rows[(at * 37 + 11) % len(rows)][1] for at in range(len(rows))]
    body["files"][0]["text"] = "\n".join(f"{row[0]} {value}" for row, value in zip(rows, mixed, strict=True))
    refused = train(operator, body)
    assert refused["state"] == "refused"
    assert any("at most 10%" in reason or "predicts worse" in reason for reason in refused["reasons"])
    promoting = operator.post(f"/api/v1/nf-models/{refused['id']}/promote", json=REASON)
    assert (promoting.status_code, promoting.json()["code"]) == (409, "not_promotable")


def test_versions_are_promoted_and_rolled_back_and_the_audit_log_has_each_step(operator: httpx.Client, admin: httpx.Client) -> None:
    scope = {"function": "router", "nic_model": CARD, "firmware": "24.41.1000"}
    first, second = (train(operator, {**upload("nat"), **scope}) for _ in range(2))
    assert promote(operator, first)["active"] == 1
    model = promote(operator, second)
    assert (model["active"], [version["state"] for version in model["versions"]]) == (2, ["active", "retired"])
    backs = [operator.post("/api/v1/nf-models/rollback", json={**scope, **REASON}) for _ in range(3)]
    assert [back.json().get("active") for back in backs] == [1, None, None]
    assert (backs[2].status_code, backs[2].json()["code"]) == (409, "nothing_to_roll_back")
    events = [event for event in admin.get("/api/v1/audit").json()["items"] if event["target"] == "router"]
    steps = ["rollback", "rollback", "promote", "promote", "train", "train"]
    assert [event["action"] for event in events] == [f"nf_model.{step}" for step in steps]


def test_a_firmware_has_its_own_model_and_others_use_the_general_one(operator: httpx.Client, ready: dict[str, dict[str, Any]]) -> None:
    own = train(operator, upload("nat", firmware="24.40.0"))
    promote(operator, own)
    residents = [resident("a", "nat")]
    assert predict(operator, residents, firmware="24.40.0")["functions"][0]["version"] == own["number"]
    assert predict(operator, residents, firmware="24.39.0")["functions"][0]["version"] == ready["nat"]["number"]


def test_a_function_alone_loses_nothing(viewer: httpx.Client, ready: dict[str, dict[str, Any]]) -> None:
    (alone,) = predict(viewer, [resident("a", "firewall")])["functions"]
    assert alone["throughput_kpps"] == pytest.approx(alone["solo_kpps"])
    assert (alone["drop"], alone["headroom"], alone["bottleneck"]) == (0, 1, None)


def test_two_users_of_the_accelerator_halve_each_other_and_say_so(viewer: httpx.Client, ready: dict[str, dict[str, Any]]) -> None:
    found = predict(viewer, [resident("one", "ids", mtbr=900), resident("two", "ids", mtbr=900), resident("fw", "firewall")])
    one, _, firewall = found["functions"]
    assert one["throughput_kpps"] == pytest.approx(one["solo_kpps"] / 2, rel=0.02)
    assert (one["bottleneck"], one["contributors"][0]["name"]) == ("accelerator", "two")
    assert one["lost_accelerator_kpps"] == pytest.approx(one["solo_kpps"] - one["throughput_kpps"])
    assert one["headroom"] < 0
    assert firewall["lost_accelerator_kpps"] == 0
    assert firewall["bottleneck"] == "memory"


def test_a_candidate_is_admitted_or_the_reason_is_given(viewer: httpx.Client, ready: dict[str, dict[str, Any]]) -> None:
    residents = [resident("one", "ids", mtbr=900)]
    good = predict(viewer, residents, candidate=resident("fw", "firewall", sla_drop=0.5))["admission"]
    assert (good["admitted"], good["reasons"], good["cores_used"]) == (True, [], 4)
    bad = predict(viewer, residents, candidate=resident("two", "ids", mtbr=900), cores=2)["admission"]
    assert not bad["admitted"]
    assert bad["reasons"][0] == "4 cores are needed, and the card has 2."
    assert any(reason.startswith("one would lose 50") for reason in bad["reasons"])
    assert {function["name"] for function in bad["functions"]} == {"one", "two"}


def test_measured_throughput_is_compared_and_inputs_outside_of_training_are_flagged(
    viewer: httpx.Client, ready: dict[str, dict[str, Any]]
) -> None:
    (inside,) = predict(viewer, [resident("a", "firewall", measured_kpps=500)])["functions"]
    assert inside["deviation"] == pytest.approx(500 / inside["throughput_kpps"] - 1)
    solo = inside["solo_kpps"]
    (idle,) = predict(viewer, [resident("a", "firewall", measured_kpps=199.5, offered_kpps=200, sla_drop=0.1)])["functions"]
    assert idle["deviation"] == pytest.approx(-0.0025)
    assert idle["sla_value"] == pytest.approx(idle["drop"])
    (slow,) = predict(viewer, [resident("a", "firewall", measured_kpps=0.8 * solo, offered_kpps=2 * solo, sla_drop=0.1)])["functions"]
    assert (slow["deviation"], slow["sla_value"], slow["headroom"]) == pytest.approx((-0.2, 0.2, -1.0))
    (outside,) = predict(viewer, [resident("a", "firewall", packet_bytes=64)])["functions"]
    assert outside["outside"] == ["packet_bytes"]
    assert outside["high_kpps"] - outside["low_kpps"] > 1.5 * (inside["high_kpps"] - inside["low_kpps"])


def test_an_unknown_own_load_is_said_and_never_taken_for_nothing(operator: httpx.Client, ready: dict[str, dict[str, Any]]) -> None:
    promote(operator, train(operator, {**upload("nat", without="own_load"), "function": "blind"}))
    residents = [resident("fw", "firewall"), resident("b", "blind", sla_drop=0.2)]
    firewall = predict(operator, residents)["functions"][0]
    assert firewall["unknown_competitors"] == ["b"]
    assert not predict(operator, residents[:1], candidate=residents[1])["admission"]["admitted"]
    answer = operator.post("/api/v1/placements", json={"nic_model": CARD, "functions": [residents[1]], "cards": [{"name": "c"}]})
    assert (answer.status_code, answer.json()["code"]) == (422, "unusable_batch")
    assert "own_load" in answer.json()["detail"]


def test_a_function_without_an_active_model_is_named(viewer: httpx.Client) -> None:
    answer = viewer.post("/api/v1/nf-predictions", json={"nic_model": "BF-3", "residents": [resident("a", "firewall")]})
    assert (answer.status_code, answer.json()["code"]) == (422, "no_model")
    assert "firewall for BF-3" in answer.json()["detail"]
    twice = [resident("a", "firewall"), resident("a", "firewall")]
    assert viewer.post("/api/v1/nf-predictions", json={"nic_model": CARD, "residents": twice}).status_code == 422


def test_a_batch_keeps_its_slas_on_fewer_cards_than_one_each(viewer: httpx.Client, ready: dict[str, dict[str, Any]]) -> None:
    batch = [resident("fw", "firewall", count=4), resident("nat", "nat", count=4), resident("ids", "ids", mtbr=900, count=2)]
    plan = place(viewer, batch, 10)
    names = [function["name"] for card in plan["cards"] for function in card["functions"]]
    assert sorted(names) == sorted(["ids-1", "ids-2", *(f"{name}-{at}" for name in ("fw", "nat") for at in range(1, 5))])
    assert (plan["violations"], plan["unplaced"], plan["present"]) == (0, [], None)
    assert plan["lower_bound"] <= plan["cards_used"] < len(names)
    assert all(function["drop"] <= 0.2 for card in plan["cards"] for function in card["functions"])
    both = [card for card in plan["cards"] if {"ids-1", "ids-2"} <= {function["name"] for function in card["functions"]}]
    assert both == []
    affinity = next(each["affinity"] for each in plan["affinities"] if each["name"] == "fw-1")
    terms = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    where = next(card["host"] for card in plan["cards"] if any(function["name"] == "fw-1" for function in card["functions"]))
    assert terms[0]["matchExpressions"][0]["values"] == [where]


def test_a_batch_is_compared_with_where_it_runs_now(viewer: httpx.Client, ready: dict[str, dict[str, Any]]) -> None:
    batch = [resident(f"ids{at}", "ids", mtbr=900, card="node0/bf2") for at in range(2)]
    plan = place(viewer, batch, 3)
    assert (plan["present"]["cards_used"], plan["present"]["violations"]) == (1, 2)
    assert (plan["cards_used"], plan["violations"], plan["moves"]) == (2, 0, 1)
    full = place(viewer, batch, 1)
    assert len(full["unplaced"]) == 1
    greedy = place(viewer, batch, 2, method="greedy")
    assert greedy["lower_bound"] is None


def test_a_batch_without_slas_is_refused(operator: httpx.Client, viewer: httpx.Client, ready: dict[str, dict[str, Any]]) -> None:
    promote(operator, train(operator, {**upload("nat"), "function": "plain"}))
    body = {"nic_model": CARD, "functions": [resident("p", "plain")], "cards": [{"name": "c"}]}
    answer = viewer.post("/api/v1/placements", json=body)
    assert answer.json()["code"] == "unusable_batch"
    assert "has no SLA" in answer.json()["detail"]


def test_a_function_without_a_model_counts_as_load_for_the_others(viewer: httpx.Client, ready: dict[str, dict[str, Any]]) -> None:
    load = ready["nat"]["own_load"][-1]
    counters = {name: value for name, value in load.items() if name != "flows"}
    other = {"name": "other", "function": None, "flows": 1, "cores": 3, "counters": counters}
    found = predict(viewer, [resident("fw", "firewall"), other])
    assert [function["name"] for function in found["functions"]] == ["fw"]
    assert found["functions"][0]["contributors"][0]["name"] == "other"
    assert found["functions"][0]["drop"] > 0
    assert found["cores_used"] == 5
    nothing = viewer.post("/api/v1/nf-predictions", json={"nic_model": CARD, "residents": [{**other, "counters": None}]})
    assert nothing.status_code == 422


def test_measured_functions_are_listed_by_card_with_what_is_unknown(backend: Any, viewer: httpx.Client) -> None:
    with backend.connect() as connection:
        connection.execute("INSERT INTO rnic (host, pci, model, fw_ver) VALUES ('dpu1', '0000:03:00.0', 'BF-2', '24.41.1000')")
        connection.execute(
            """
            INSERT INTO function_sample (time, rnic_id, function, container, pod, instructions_per_cycle, instructions_per_s,
                cache_reads_per_s, cache_writes_per_s, memory_reads_per_s, memory_writes_per_s, working_set_mb, cores, flows,
                packet_bytes, throughput_kpps, offered_kpps)
            SELECT now() - ago, r.rnic_id, f, c, p, ipc, 3e9, 3e7, 1e7, 1e9, 3e8, 4, 2, 8000, 1518, 900, offered
            FROM rnic r, (VALUES
                ('firewall', 'c1', 'net/fw-1', 1.2::float8, 1000, INTERVAL '5 s'),
                ('firewall', 'c1', 'net/fw-1', 1.3, 1000, INTERVAL '25 s'),
                ('ids', 'c2', '', NULL, 900, INTERVAL '5 s'),
                ('nat', 'c3', '', 1.2, 900, INTERVAL '20 min')
            ) AS v (f, c, p, ipc, offered, ago) WHERE r.host = 'dpu1'
            """
        )
    (card,) = (each for each in viewer.get("/api/v1/nf-cards").json()["items"] if each["host"] == "dpu1")
    assert (card["host"], card["model"], card["cores_used"]) == ("dpu1", "BF-2", 4)
    firewall, ids = card["functions"]
    assert (firewall["name"], firewall["counters"]["ipc"], firewall["saturated"]) == ("net/fw-1", 1.2, True)
    assert (ids["name"], ids["counters"], ids["saturated"]) == ("c2", None, False)


@pytest.fixture
def drifting(backend: Any, ready: dict[str, dict[str, Any]]) -> str:
    """A card on which the matches of two functions have risen for half an hour, at what arrives for them."""
    host = "dpu-that-drifts"
    with backend.connect() as connection:
        connection.execute("INSERT INTO rnic (host, pci, model, fw_ver) VALUES (%s, '0000:03:00.0', 'BF-2', '24.41.1000')", [host])
        connection.execute(
            """
            INSERT INTO function_sample (time, rnic_id, function, container, pod, cores, flows, packet_bytes, mtbr_per_mb,
                throughput_kpps, offered_kpps)
            SELECT now() - ago * INTERVAL '1 min', r.rnic_id, f, f || '-1', '', 2, 8000, 1518, CASE f WHEN 'ids' THEN 900 - 20 * ago END,
                500, 500
            FROM rnic r, generate_series(0, 30) AS ago, unnest(ARRAY['ids', 'unheard-of']) AS f WHERE r.host = %s
            """,
            [host],
        )
    return host


def test_a_card_has_a_past_and_a_future_and_shows_how_close_it_is_to_an_sla(
    viewer: httpx.Client, drifting: str, ready: dict[str, dict[str, Any]]
) -> None:
    course = viewer.get(f"/api/v1/nf-cards/{drifting}/0000:03:00.0/course").json()
    ids, unknown = course["functions"]
    assert (ids["name"], ids["version"], ids["sla_drop"]) == ("ids-1", ready["ids"]["number"], 0.2)
    assert ids["trend"]["mtbr_change"] == pytest.approx(1200, rel=0.1)
    assert 6 <= len(ids["past"]) <= 8, "half an hour, a point for each five minutes"
    assert all(point["predicted_kpps"] > 0 for point in ids["past"])
    assert [point["in_min"] for point in ids["coming"]] == [10, 20, 30, 40, 50, 60]
    assert ids["coming"][-1]["mtbr"] > 1900
    assert (ids["recent_mape"], ids["breaks_in_min"]) == (None, None), "it processes all that arrives, and alone it loses nothing"
    assert (unknown["version"], unknown["coming"], unknown["past"][0]["predicted_kpps"]) == (None, [], None)
    (found,) = (each for each in viewer.get("/api/v1/nf-headrooms").json()["items"] if each["host"] == drifting)
    assert (found["function"], found["sla_drop"], found["headroom"]) == ("ids-1", 0.2, pytest.approx(1.0))
    missing = viewer.get("/api/v1/nf-cards/nowhere/0000:03:00.0/course")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
