"""The Helm chart: valid to Helm, valid to Kubernetes, strict about its values, and with as few rights as it says."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from wallwatch.store.roles import DatabaseRole
from wallwatch_backend.hosts.enrolment.service_accounts import AUDIENCE
from wallwatch_local.paths import REPOSITORY

CHART = REPOSITORY / "helm" / "wallwatch"
KUBERNETES_SCHEMA = "1.31"

VALUES: dict[str, list[str]] = {
    "default": [],
    "own Kafka and database": [
        "--set=kafka.enabled=false,kafka.bootstrap=k1:9092",
        "--set=timescaledb.enabled=false,database.existingSecret=pg",
    ],
    "own Kafka in clear text": ["--set=kafka.enabled=false,kafka.bootstrap=k1:9092,kafka.client.protocol=PLAINTEXT"],
    "own Kafka with mutual TLS": [
        "--set=kafka.enabled=false,kafka.bootstrap=k1:9092,kafka.client.protocol=SSL,kafka.client.certificates=true,kafka.tls.caSecret=ca",
        "--set=kafka.client.keyPasswords=true",
    ],
    "own Kafka with OAuth": [
        "--set=kafka.enabled=false,kafka.bootstrap=k1:9092,kafka.client.mechanism=OAUTHBEARER",
        "--set=kafka.client.oauth.tokenUrl=https://id.example/token,kafka.client.oauth.scope=kafka,host.enabled=false",
    ],
    "everything on": [
        "--set=backend.ingress.enabled=true,backend.ingress.className=nginx,backend.ingress.tlsSecret=tls",
        "--set=host.enrolmentTokensSecret=enrol,host.nodeSelector.rdma=yes,host.tolerations[0].operator=Exists",
        "--set=networkPolicy.backendFromNamespaces.team=sre,imagePullSecrets[0].name=pull,kafka.storage.className=fast",
        "--set=backend.replicas=2,backend.secretsStorage.accessMode=ReadWriteMany",
        "--set=backend.oidc.issuer=https://id.example,backend.oidc.clientId=wallwatch,backend.oidc.clientSecret.name=oidc",
        "--set=backend.oidc.roles.sre=operator,backend.localSignIn=admins",
        "--set=scheduling.nodeSelector.pool=infra,scheduling.tolerations[0].operator=Exists,scheduling.priorityClassName=high",
        "--set=scheduling.topologySpreadConstraints[0].maxSkew=1,scheduling.topologySpreadConstraints[0].topologyKey=zone",
        "--set=scheduling.topologySpreadConstraints[0].whenUnsatisfiable=ScheduleAnyway,podAnnotations.team=sre",
        "--set=ingest.autoscaling.enabled=true,ingest.autoscaling.minReplicas=2,classify.replicas=3,monitoring.grafanaDashboard=true",
        "--set=networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name=monitoring,host.priorityClassName=system-node-critical",
    ],
    "probes": [
        "--set=host.agent.probes.enabled=true,host.agent.probes.keySecret=probe-key",
        '--set-json=host.agent.probes.hosts={"node1":[{"pci":"0000:3b:00.0","vf":3,"address":"10.20.0.13"}]}',
    ],
    "enrolment by Kubernetes": [
        f"--set=host.kubernetesEnrolment.enabled=true,host.kubernetesEnrolment.authority={'ab' * 32},host.cni.install=true",
        "--set=backend.smtp.host=smtp.example,backend.smtp.from=wallwatch@example,backend.smtp.passwordSecret.name=smtp",
    ],
    "at home in Kubernetes": [
        "--set=backend.kubernetes.nodes=true,backend.kubernetes.taint=any,backend.kubernetes.pods=true,backend.kubernetes.nvsentinel=true",
        "--set=backend.keys.in=secret,backend.replicas=2",
    ],
    "further outputs of the collector": [
        "--set-file=host.telegraf.extraConfig.prometheus\\.conf=" + str(REPOSITORY / "docs/examples/outputs/prometheus.conf"),
        "--set=host.telegraf.extraEnv[0].name=A,host.telegraf.extraEnv[0].value=b,host.telegraf.extraPorts={9273,9274}",
        "--set=extraEnv[0].name=HTTPS_PROXY,extraEnv[0].value=http://proxy:3128",
        "--set-string=settings.WALLWATCH_SIGN_IN_WINDOW_S=600",
        "--set=networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name=monitoring",
    ],
    "server only": ["--set=host.enabled=false,networkPolicy.enabled=false"],
}


def containers(manifests: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """(kind/name, pod specification, container) of every container in the chart."""
    found = []
    for manifest in manifests:
        pod = manifest.get("spec", {}).get("template", {}).get("spec")
        if pod:
            found += [(f"{manifest['kind']}/{manifest['metadata']['name']}", pod, container) for container in pod["containers"]]
    return found


def test_helm_finds_nothing_to_complain_about(helm: Path) -> None:
    done = subprocess.run([str(helm), "lint", "--strict", str(CHART)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("arguments", VALUES.values(), ids=VALUES.keys())
def test_every_rendered_manifest_satisfies_the_schema_of_kubernetes(render_chart: Any, arguments: list[str]) -> None:
    done = render_chart(*arguments)
    assert done.returncode == 0, done.stderr
    documents = [document for document in yaml.safe_load_all(done.stdout) if document]
    assert len(documents) >= 8
    for document in documents:
        kubernetes_validate.validate(document, KUBERNETES_SCHEMA, strict=True)


SECRETS_OF_ONES_OWN = [
    "--set=generateSecrets=false,database.existingSecret=db,telemetry.existingSecret=telemetry,kafka.tls.existingSecret=broker",
    *(
        f"--set=kafka.secrets.{role}={role}"
        for role in ("admin", "host", "ingest", "classify", "isolation", "validate", "forecast", "backend")
    ),
]


def test_two_renderings_are_the_same_where_every_secret_is_named(render_chart: Any) -> None:
    """Argo CD renders again and again, and cannot look up what is there."""
    first, second = render_chart(*SECRETS_OF_ONES_OWN), render_chart(*SECRETS_OF_ONES_OWN)
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    assert not [m for m in yaml.safe_load_all(first.stdout) if m and m["kind"] == "Secret"]


@pytest.mark.parametrize("left_out", range(1, len(SECRETS_OF_ONES_OWN)))
def test_a_secret_that_nobody_named_is_not_made_when_it_must_not_be(render_chart: Any, left_out: int) -> None:
    arguments = [argument for position, argument in enumerate(SECRETS_OF_ONES_OWN) if position != left_out]
    done = render_chart(*arguments)
    assert done.returncode != 0
    assert SECRETS_OF_ONES_OWN[left_out].removeprefix("--set=").partition("=")[0] in done.stderr


def test_the_job_that_migrates_can_be_synchronised_by_argo_cd_again(manifests: list[dict[str, Any]]) -> None:
    [job] = [m for m in manifests if m["kind"] == "Job"]
    assert job["metadata"]["annotations"]["argocd.argoproj.io/hook-delete-policy"] == "BeforeHookCreation"


def test_agents_prove_their_node_and_the_backend_may_only_ask_whose_token_it_is(render_chart: Any) -> None:
    rendered = [m for m in yaml.safe_load_all(render_chart(*VALUES["enrolment by Kubernetes"]).stdout) if m]
    [role] = [m for m in rendered if m["kind"] == "ClusterRole"]
    assert role["rules"] == [{"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]}]
    pods = {
        m["metadata"]["labels"]["app.kubernetes.io/component"]: m["spec"]["template"]["spec"]
        for m in rendered
        if "template" in m.get("spec", {})
    }
    [binding] = [m for m in rendered if m["kind"] == "ClusterRoleBinding"]
    assert binding["subjects"][0]["name"] == pods["backend"]["serviceAccountName"]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    [allowed] = [e["value"] for e in pods["backend"]["containers"][0]["env"] if e["name"] == "WALLWATCH_KUBERNETES_SERVICE_ACCOUNT"]
    assert allowed == f"{binding['subjects'][0]['namespace']}/{pods['host']['serviceAccountName']}"
    [volume] = [v for v in pods["host"]["volumes"] if v["name"] == "service-account"]
    assert volume["projected"]["sources"][0]["serviceAccountToken"]["audience"] == AUDIENCE
    mounts = {container["name"]: [m["name"] for m in container["volumeMounts"]] for container in pods["host"]["containers"]}
    assert "service-account" in mounts["agent"]
    assert "service-account" not in mounts["telegraf"]
    assert all(pod["automountServiceAccountToken"] is False for pod in pods.values())


def test_without_it_no_pod_has_an_account_and_the_chart_no_rights(manifests: list[dict[str, Any]]) -> None:
    assert not [m for m in manifests if m["kind"] in ("ServiceAccount", "ClusterRole", "ClusterRoleBinding")]


def test_enrolment_by_kubernetes_needs_the_fingerprint_of_the_authority(render_chart: Any) -> None:
    done = render_chart("--set=host.kubernetesEnrolment.enabled=true")
    assert done.returncode != 0
    assert "authority" in done.stderr


def test_pods_run_where_they_are_told_to(render_chart: Any) -> None:
    rendered = [m for m in yaml.safe_load_all(render_chart(*VALUES["everything on"], "--set=lab.enabled=true").stdout) if m]
    pods = {
        m["metadata"]["labels"]["app.kubernetes.io/component"]: m["spec"]["template"] for m in rendered if "template" in m.get("spec", {})
    }
    for component, pod in pods.items():
        if component in ("kafka", "timescaledb", "host"):
            continue
        assert pod["spec"]["nodeSelector"] == {"pool": "infra"}, component
        assert (pod["spec"]["tolerations"], pod["spec"]["priorityClassName"]) == ([{"operator": "Exists"}], "high"), component
        assert pod["spec"]["topologySpreadConstraints"][0]["topologyKey"] == "zone", component
        assert pod["metadata"]["annotations"]["team"] == "sre", component
    assert pods["host"]["spec"]["priorityClassName"] == "system-node-critical"
    assert {"team", "checksum/config"} <= set(pods["host"]["metadata"]["annotations"])


def test_what_scales_by_itself_has_no_fixed_number_and_what_has_several_is_drained_one_at_a_time(render_chart: Any) -> None:
    rendered = [m for m in yaml.safe_load_all(render_chart(*VALUES["everything on"]).stdout) if m]
    named = {(m["kind"], m["metadata"]["name"]): m["spec"] for m in rendered if "spec" in m}
    assert "replicas" not in named["Deployment", "wallwatch-ingest"]
    scaler = named["HorizontalPodAutoscaler", "wallwatch-ingest"]
    assert scaler["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "wallwatch-ingest"}
    assert (scaler["minReplicas"], scaler["maxReplicas"]) == (2, 12)
    budgets = {name for kind, name in named if kind == "PodDisruptionBudget"}
    assert budgets == {"wallwatch-backend", "wallwatch-ingest", "wallwatch-classify"}
    for name in budgets:
        workload = next(spec for (kind, workload), spec in named.items() if workload == name and kind in ("Deployment", "StatefulSet"))
        assert named["PodDisruptionBudget", name]["selector"] == workload["selector"]


def test_an_ingress_lets_streams_of_events_through(render_chart: Any) -> None:
    [ingress] = [m for m in yaml.safe_load_all(render_chart("--set=backend.ingress.enabled=true").stdout) if m and m["kind"] == "Ingress"]
    annotations = ingress["metadata"]["annotations"]
    assert annotations["nginx.ingress.kubernetes.io/proxy-buffering"] == "off"
    assert int(annotations["nginx.ingress.kubernetes.io/proxy-read-timeout"]) >= 600


def test_the_prometheus_operator_scrapes_every_process_and_loads_the_alerts(render_chart: Any) -> None:
    done = render_chart(
        "--set=monitoring.prometheusOperator=true,monitoring.fleetTokenSecret.name=token,monitoring.labels.release=prom,lab.enabled=true",
        "--set=networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name=monitoring",
    )
    assert done.returncode == 0, done.stderr
    rendered = [m for m in yaml.safe_load_all(done.stdout) if m]
    kinds = {m["kind"]: m for m in rendered if m["apiVersion"] == "monitoring.coreos.com/v1"}
    assert set(kinds) == {"ServiceMonitor", "PodMonitor", "PrometheusRule"}
    assert {m["metadata"]["labels"]["release"] for m in kinds.values()} == {"prom"}
    [service] = [m for m in rendered if m["kind"] == "Service" and m["metadata"]["name"] == "wallwatch-backend"]
    wanted = kinds["ServiceMonitor"]["spec"]["selector"]["matchLabels"]
    assert wanted.items() <= service["metadata"]["labels"].items()
    own, fleet = kinds["ServiceMonitor"]["spec"]["endpoints"]
    assert {own["port"], fleet["port"]} <= {port["name"] for port in service["spec"]["ports"]}
    assert fleet["authorization"]["credentials"] == {"name": "token", "key": "token"}
    [expression] = kinds["PodMonitor"]["spec"]["selector"]["matchExpressions"]
    serving = {
        m["metadata"]["labels"]["app.kubernetes.io/component"]
        for m in rendered
        for container in m.get("spec", {}).get("template", {}).get("spec", {}).get("containers", [])
        if {"name": "metrics", "containerPort": 9108} in container.get("ports", [])
    }
    assert set(expression["values"]) == serving
    [workers] = [m for m in rendered if m["kind"] == "NetworkPolicy" and m["metadata"]["name"].endswith("-workers")]
    assert workers["spec"]["ingress"][0]["ports"] == [{"port": 9108}]
    assert kinds["PrometheusRule"]["spec"] == yaml.safe_load((REPOSITORY / "docs" / "grafana" / "alerts.yaml").read_text())


def test_a_misspelt_key_in_a_manifest_would_be_found(manifests: list[dict[str, Any]]) -> None:
    deployment = next(m for m in manifests if m["kind"] == "Deployment")
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment | {"spec": deployment["spec"] | {"replicaz": 2}}, KUBERNETES_SCHEMA, strict=True)


@pytest.mark.parametrize(
    ("argument", "word"),
    [
        ("--set=ingest.replica=2", "replica"),
        ("--set=ingest.replicas=13", "replicas"),
        ("--set=backend.replicas=2", "accessMode"),
        ("--set=kafka.clusterId=short", "clusterId"),
        ("--set=host.serverUrl=ftp://x", "serverUrl"),
        ("--set=backend.agents.url=http://x:8443", "agents"),
        ("--set=kafka.enabled=false", "kafka.bootstrap is required"),
        (
            "--set=kafka.enabled=false,kafka.bootstrap=k:9093,host.enabled=false,kafka.client.mechanism=OAUTHBEARER",
            "kafka.client.oauth.tokenUrl is required",
        ),
        (
            "--set=kafka.enabled=false,kafka.bootstrap=k:9093,kafka.client.mechanism=OAUTHBEARER,kafka.client.oauth.tokenUrl=https://t",
            "collectors know no OAUTHBEARER",
        ),
        ("--set=kafka.client.protocol=TLS", "protocol"),
        ("--set=extraEnv[0].name=WALLWATCH_PUBLIC_URL", "extraEnv"),
        ("--set=host.agent.probes.enabled=true", "keySecret"),
        ("--set=host.agent.probes.hosts.node1[0].pci=3b:00.0", "pci"),
        ("--set=timescaledb.enabled=false", "database.existingSecret is required"),
    ],
)
def test_a_wrong_value_is_refused_with_its_name(render_chart: Any, argument: str, word: str) -> None:
    done = render_chart(argument)
    assert done.returncode != 0
    assert word in done.stderr


def test_variables_of_others_reach_every_process_of_the_server_and_no_other(render_chart: Any) -> None:
    done = render_chart('--set-json=extraEnv=[{"name":"OTEL_TRACES_SAMPLER_ARG","value":"0.05"}]', "--set=lab.enabled=true")
    assert done.returncode == 0, done.stderr
    found = containers([document for document in yaml.safe_load_all(done.stdout) if document])
    given = {one["name"] for _, _, one in found if {"name": "OTEL_TRACES_SAMPLER_ARG", "value": "0.05"} in one.get("env", [])}
    assert given == {"ingest", "classify", "isolation", "validate", "forecast", "lab", "backend"}


def test_every_value_has_an_entry_in_the_schema_of_the_values() -> None:
    """The schema refuses unknown keys, so a default that it does not know would make the chart unusable; and none may be dead."""
    used = "\n".join(path.read_text() for path in sorted((CHART / "templates").iterdir()))
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    for section, entries in values.items():
        assert re.search(rf"\.Values\.{section}\b", used) or f'"{section}"' in used, f"values.yaml: {section} is not used by any template"
        if isinstance(entries, dict):
            for key in entries:
                assert re.search(rf"\.{key}\b", used), f"values.yaml: {section}.{key} is not used by any template"


def test_no_container_keeps_a_capability_or_may_gain_one(manifests: list[dict[str, Any]]) -> None:
    found = containers(manifests)
    assert {container["name"] for _, _, container in found} == {
        "kafka", "timescaledb", "migrate", "ingest", "classify", "isolation", "validate", "forecast", "lab", "backend", "telegraf", "agent",
    }  # fmt: skip
    for name, pod, container in found:
        context = container["securityContext"]
        assert context["capabilities"] == {"drop": ["ALL"]}, name
        assert context["allowPrivilegeEscalation"] is False, name
        assert "privileged" not in context, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert pod["automountServiceAccountToken"] is False, name
        assert not pod.get("hostNetwork"), name
        assert not pod.get("hostPID"), name
        assert container["resources"]["limits"]["memory"], name


def test_only_who_asks_for_it_gives_the_agent_the_right_to_change_drivers(render_chart: Any) -> None:
    rendered = [document for document in yaml.safe_load_all(render_chart("--set=host.agent.netAdmin=true").stdout) if document]
    for document in rendered:
        kubernetes_validate.validate(document, KUBERNETES_SCHEMA, strict=True)
    by_name = {container["name"]: (pod, container) for _, pod, container in containers(rendered)}
    pod, agent = by_name["agent"]
    assert agent["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["NET_ADMIN"]}
    assert {"name": "WALLWATCH_AGENT_NETLINK", "value": "kernel"} in agent["env"]
    assert pod["hostNetwork"] is True
    assert by_name["telegraf"][1]["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_probes_share_their_delays_with_the_collector_and_nothing_else(render_chart: Any) -> None:
    rendered = [document for document in yaml.safe_load_all(render_chart(*VALUES["probes"]).stdout) if document]
    by_name = {container["name"]: (pod, container) for _, pod, container in containers(rendered)}
    pod, agent = by_name["agent"]
    assert pod["hostNetwork"] is True
    assert agent["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert {"name": "WALLWATCH_PROBES", "value": "true"} in agent["env"]
    [fleet] = [document["data"]["fleet.yaml"] for document in rendered if "fleet.yaml" in document.get("data", {})]
    assert yaml.safe_load(fleet) == {"hosts": {"node1": [{"pci": "0000:3b:00.0", "vf": 3, "address": "10.20.0.13"}]}}
    mounts = {mount["name"]: mount for mount in by_name["telegraf"][1]["volumeMounts"] if mount["name"].startswith("probe")}
    assert mounts == {"probe-delays": {"name": "probe-delays", "mountPath": "/run/wallwatch-agent", "readOnly": True}}


def test_only_the_pods_on_observed_hosts_run_as_user_0_and_their_image_is_read_only(manifests: list[dict[str, Any]]) -> None:
    for name, pod, container in containers(manifests):
        if name.startswith("DaemonSet/"):
            assert container["securityContext"]["readOnlyRootFilesystem"] is True
            mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
            assert mounts["sysfs"]["readOnly"] is True
        else:
            assert pod["securityContext"]["runAsNonRoot"] is True, name


def test_the_collector_sees_no_more_of_the_agent_than_its_policies_and_the_telemetry_key(manifests: list[dict[str, Any]]) -> None:
    """The agent's credentials and journal are in the folder above."""
    compose = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())
    volumes = [volume for volume in compose["services"]["telegraf"]["volumes"] if "wallwatch-agent" in volume]
    folders = ("/var/lib/wallwatch-agent/policies", "/var/lib/wallwatch-agent/telemetry")
    assert volumes == [f"{folder}:{folder}:ro" for folder in folders]
    [host] = [one for one in manifests if one["kind"] == "DaemonSet"]
    pod = host["spec"]["template"]["spec"]
    places = {volume["name"]: volume.get("hostPath", {}).get("path", "") for volume in pod["volumes"]}
    [telegraf] = [one for one in pod["containers"] if one["name"] == "telegraf"]
    seen = [(places[one["name"]], one.get("readOnly")) for one in telegraf["volumeMounts"] if "agent" in places[one["name"]]]
    assert seen == [(folder, True) for folder in folders]


def test_long_running_servers_are_probed(manifests: list[dict[str, Any]]) -> None:
    probed = {
        container["name"]
        for _, _, container in containers(manifests)
        if {"startupProbe", "readinessProbe", "livenessProbe"} <= set(container)
    }
    assert probed >= {"kafka", "timescaledb", "backend", "telegraf"}


def ports_of_kafka(text: str) -> dict[int, list[dict[str, Any]]]:
    policies = [m for m in yaml.safe_load_all(text) if m and m["kind"] == "NetworkPolicy" and m["metadata"]["name"].endswith("-kafka")]
    return {rule["ports"][0]["port"]: rule.get("from", []) for policy in policies for rule in policy["spec"]["ingress"]}


def test_only_pods_of_the_chart_and_networks_that_are_named_reach_the_bundled_broker(render_chart: Any) -> None:
    default = ports_of_kafka(render_chart().stdout)
    assert set(default) == {19092}
    assert default[19092]
    named = ports_of_kafka(render_chart("--set=networkPolicy.kafkaFrom[0].ipBlock.cidr=10.20.0.0/16").stdout)
    assert named[9092] == [{"ipBlock": {"cidr": "10.20.0.0/16"}}]


def test_the_passwords_of_the_database_are_in_a_secret_only(manifests: list[dict[str, Any]]) -> None:
    secret = next(m for m in manifests if m["kind"] == "Secret" and "admin-url" in m["stringData"])
    data = secret["stringData"]
    passwords = {name: value for name, value in data.items() if name.endswith("password")}
    assert len(set(passwords.values())) == len(passwords) == 1 + len(DatabaseRole)
    assert all(len(password) == 32 for password in passwords.values())
    assert passwords["password"] in data["admin-url"]
    for role in DatabaseRole:
        assert f"//{role}:{passwords[f'{role.name}-password']}@" in data[f"{role.name}-url"]
    for manifest in manifests:
        if manifest is not secret:
            text = yaml.safe_dump(manifest)
            assert not any(password in text for password in passwords.values())


def test_single_sign_on_gets_its_settings_and_the_clients_secret(render_chart: Any) -> None:
    done = render_chart(*VALUES["everything on"])
    pod, backend = next(
        (pod, container) for _, pod, container in containers(list(yaml.safe_load_all(done.stdout))) if container["name"] == "backend"
    )
    environment = {entry["name"]: entry.get("value") for entry in backend["env"]}
    assert environment["WALLWATCH_OIDC_ISSUER"] == "https://id.example"
    assert json.loads(environment["WALLWATCH_OIDC_ROLES"]) == {"sre": "operator"}
    secret_file = environment["WALLWATCH_OIDC_CLIENT_SECRET_FILE"]
    mount = next(mount for mount in backend["volumeMounts"] if secret_file.startswith(mount["mountPath"] + "/"))
    volume = next(volume for volume in pod["volumes"] if volume["name"] == mount["name"])
    assert volume["secret"] == {"secretName": "oidc", "items": [{"key": "client-secret", "path": "client-secret"}]}
    nameless = render_chart("--set=backend.oidc.issuer=https://id.example")
    assert nameless.returncode != 0
    assert "clientId" in nameless.stderr
