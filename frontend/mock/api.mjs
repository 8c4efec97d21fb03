/**
 * The API as a mock, so that pages can be looked at without a backend. `full` is a small fleet with everything on it,
 * `large` has 40,000 RNICs and 15,000 incidents, in `empty` no host reports, and in `broken` every read but session and catalogue fails.
 * mock.test.mjs holds each answer against openapi.json.
 */
import * as answers from "./answers.mjs";
import { CATALOGUE } from "./catalogue.mjs";
import { makeFleet } from "./fleet.mjs";
import { Forecasts } from "./forecasts.mjs";
import { Functions } from "./functions.mjs";
import { Incidents } from "./incidents.mjs";
import { Isolation } from "./isolation.mjs";
import { Captures } from "./captures.mjs";
import { Lab } from "./lab.mjs";
import { Profiles } from "./performance.mjs";
import { PLAN_ACTION, Plans } from "./plans.mjs";
import { Policies } from "./policies.mjs";
import { proposal, Rollouts } from "./rollouts.mjs";
import { Rules } from "./rules.mjs";
import { Silences, Views } from "./silences.mjs";
import { before, containers, similar, whole } from "./whole.mjs";
import { vfs } from "./vfs.mjs";
import { report } from "./tenants.mjs";
import * as webhooks from "./webhooks.mjs";

export const KINDS = ["full", "large", "empty", "broken"];
const SIZES = {
  full: { hosts: 8, perHost: 4, perRack: 4 },
  large: { hosts: 8000, perHost: 5, perRack: 40 },
  broken: { hosts: 2, perHost: 2, perRack: 2 },
  empty: { hosts: 0, perHost: 0, perRack: 1 },
};

/** One step of a mask plan, as ovs-vswitchd takes it. */
function operation(i) {
  const match = `recirc_id(0),in_port(3),eth_type(0x0800),ipv4(src=10.4.0.${i},dst=10.8.1.2,proto=17)`;
  return `dpctl/add-flow ${match},udp(src=${49000 + i},dst=4791) set(tunnel(tun_id=0x64,dst=192.168.0.7)),5`;
}

/** A request handler for node:http. With `guarded` it asks for the password "mock". */
export function makeApi(kind, { guarded = false } = {}) {
  const fleet = makeFleet(SIZES[kind]);
  const stale = new Set(fleet.seen_at_ms.flatMap((seen, i) => (Date.now() - seen > 60_000 ? [i] : [])));
  const empty = answers.page([]);
  const incidents = new Incidents(fleet, kind);
  const silences = new Silences(incidents, kind);
  const views = new Views();
  const policies = new Policies(fleet, kind);
  const plans = new Plans(fleet, kind);
  const rollouts = new Rollouts(fleet, kind);
  const profiles = new Profiles(fleet, kind);
  const forecasts = new Forecasts(fleet, kind);
  const rules = new Rules(fleet, kind);
  const isolation = new Isolation(fleet, kind);
  const lab = new Lab(kind);
  const functions = new Functions(fleet, kind);
  const captures = new Captures(kind);
  const proposed = fleet.host.length > 0 ? [proposal(fleet)] : [];
  const orders = new Map();
  for (const i of incidents.all.filter((one) => one.inhibited_by !== null)) {
    const inhibited = [
      {
        finding_id: i.id,
        incident_id: i.id,
        host: i.host,
        pci: i.pci,
        symptom: i.symptom,
        title: i.title,
        started_at: i.opened_at,
        cleared_at: null,
        inhibited: true,
      },
    ];
    orders.set(i.inhibited_by, {
      order: { action: PLAN_ACTION.action, host: i.host, pci: i.pci, params: {}, mode: "apply", inhibited },
      at: Date.now() - 40_000,
    });
  }
  let seq = 1;
  const session = { user: { username: "admin", role: "admin" }, csrf_token: "mock" };

  function send(response, status, body, type = "application/json") {
    response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  }

  function problem(response, status, code, title, detail) {
    send(
      response,
      status,
      { type: "about:blank", title, status, code, detail, instance: "/api/v1" },
      "application/problem+json",
    );
  }

  function stream(request, response) {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    const write = (event, data, id) =>
      response.write(`${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    write("heartbeat", { at: new Date().toISOString() });
    const timer = setInterval(() => {
      const rows = Object.fromEntries(Object.keys(fleet).map((name) => [name, []]));
      const changed = Math.min(fleet.host.length, 200);
      for (let n = 0; n < changed; n++) {
        const i = Math.floor(Math.random() * fleet.host.length);
        if (!stale.has(i)) fleet.seen_at_ms[i] = Date.now();
        for (const name of Object.keys(fleet)) rows[name].push(fleet[name][i]);
      }
      if (changed > 0) write("rnic_state", rows, ++seq);
      write("heartbeat", { at: new Date().toISOString() });
    }, 1000);
    request.on("close", () => clearInterval(timer));
  }

  async function readBody(request) {
    let text = "";
    for await (const part of request) text += part;
    return text ? JSON.parse(text) : {};
  }

  const reads = [
    [
      /^\/fleet$/,
      () =>
        refreshed() && { as_of: new Date().toISOString(), seq, stale_after_s: answers.STALE_AFTER_S, columns: fleet },
    ],
    [/^\/fleet\/commonalities$/, () => answers.commonalities(fleet)],
    [/^\/fleet\/replay$/, (_, q) => answers.replay(fleet, q.get("at"), q.get("wall"))],
    [/^\/fleet\/details$/, (_, q) => answers.details(fleet, q.get("wall"))],
    [/^\/search$/, (_, q) => search(q.get("q") ?? "", Number(q.get("limit") ?? 6))],
    [/^\/catalogue$/, () => CATALOGUE],
    [/^\/remedy-actions$/, () => [...answers.ACTIONS, PLAN_ACTION]],
    [
      /^\/rnics\/([^/]+)\/([^/]+)$/,
      ([, host, pci]) => {
        const i = find(host, pci);
        return i < 0 ? null : answers.rnic(fleet, i);
      },
    ],
    [
      /^\/rnics\/([^/]+)\/([^/]+)\/series$/,
      (_, q) => answers.series((q.get("fields") ?? "").split(","), q.get("from"), q.get("to")),
    ],
    [/^\/rnics\/([^/]+)\/([^/]+)\/signals$/, (_, q) => answers.signals(q.get("from"), q.get("to"))],
    [/^\/rnics\/([^/]+)\/([^/]+)\/masks$/, () => answers.masks()],
    [
      /^\/rnics\/([^/]+)\/([^/]+)\/vfs$/,
      ([, host, pci]) => {
        const i = find(host, pci);
        return i < 0 ? null : vfs(fleet, i);
      },
    ],
    [
      /^\/rnics\/([^/]+)\/([^/]+)\/findings$/,
      () => [
        {
          finding_id: "00000000-0000-4000-8000-000000000099",
          symptom: "S1",
          from: new Date(Date.now() - 430_000).toISOString(),
          to: null,
          severity: "critical",
          incident_id: "00000000-0000-4000-8000-000000000011",
        },
      ],
    ],
    [
      /^\/rnics\/([^/]+)\/([^/]+)\/changes$/,
      ([, host, pci], q) => answers.changes(host, pci, q.get("from"), q.get("to")),
    ],
    [/^\/incidents$/, (_, q) => incidents.list(q)],
    [/^\/incidents\/assignees$/, (_, q) => incidents.assignees(q)],
    [/^\/incidents\/counts$/, (_, q) => incidents.counts(q)],
    [/^\/incidents\/groups$/, (_, q) => incidents.groups(q)],
    [/^\/incidents\/changes$/, (_, q) => incidents.changes(q)],
    [/^\/incidents\/([^/]+)$/, ([, id]) => about(id, (i) => whole(i, incidents.entries.get(id)))],
    [/^\/incidents\/([^/]+)\/containers$/, ([, id]) => about(id, containers)],
    [/^\/incidents\/([^/]+)\/before$/, ([, id]) => about(id, before)],
    [/^\/incidents\/([^/]+)\/similar$/, ([, id]) => about(id, (i) => similar(incidents.all, i))],
    [/^\/silences$/, (_, q) => silences.list(q)],
    [
      /^\/silences\/([^/]+)$/,
      ([, id]) => {
        const s = silences.all.find((each) => each.id === id);
        return s ? silences.shown(s) : null;
      },
    ],
    [/^\/views$/, () => views.all],
    [
      /^\/remedy-control$/,
      () => ({
        stop: null,
        busy: { hosts: 0, racks: 0, fleet: 8, most_hosts: 3, most_racks: 8 },
        breakers: [],
        approval_above_hosts: 5,
        awaiting_approval: proposed.length,
      }),
    ],
    [/^\/automation-rules$/, () => rules.all],
    [/^\/automation-rules\/([^/]+)\/runs$/, ([, id]) => answers.page(rules.runs(id))],
    [/^\/profiles$/, () => profiles.list()],
    [/^\/profiles\/([^/]+)$/, ([, model]) => profiles.get(model)],
    [/^\/profiles\/([^/]+)\/surface$/, ([, model], q) => profiles.surface(model, q)],
    [/^\/profiles\/([^/]+)\/prediction$/, ([, model], q) => profiles.predict(model, q)],
    [/^\/profiles\/([^/]+)\/rnics$/, ([, model]) => profiles.rnics(model)],
    [/^\/profiles\/([^/]+)\/compare$/, ([, model], q) => profiles.compare(model, q)],
    [/^\/profiles\/([^/]+)\/versions\/(\d+)$/, ([, model, number]) => profiles.version(model, Number(number))],
    [/^\/forecasts$/, (_, q) => forecasts.list(q)],
    [/^\/forecasts\/counts$/, (_, q) => forecasts.counts(q)],
    [/^\/forecast-models$/, () => (kind === "empty" ? [] : forecasts.models())],
    [/^\/forecast-models\/changes$/, () => (kind === "empty" ? [] : forecasts.changes())],
    [
      /^\/rnics\/([^/]+)\/([^/]+)\/forecast$/,
      ([, host, pci]) => {
        const i = find(host, pci);
        return i < 0 ? null : forecasts.get(i);
      },
    ],
    [
      /^\/rnics\/([^/]+)\/([^/]+)\/forecasts$/,
      ([, host, pci], q) => {
        const i = find(host, pci);
        return i < 0 ? null : forecasts.past(i, q);
      },
    ],
    [
      /^\/rnics\/([^/]+)\/([^/]+)\/performance$/,
      ([, host, pci]) => {
        const i = find(host, pci);
        return i < 0 ? null : profiles.performance(i);
      },
    ],
    [
      /^\/rnics\/([^/]+)\/([^/]+)\/policies$/,
      (_, q) => ({ from: q.get("from"), to: q.get("to"), step_s: 60, times: [], items: [] }),
    ],
    [/^\/policies$/, () => policies.list()],
    [/^\/policies\/vocabulary$/, () => policies.vocabulary()],
    [/^\/policies\/delivery$/, () => policies.delivery()],
    [/^\/policies\/([^/]+)$/, ([, id]) => policies.get(id)],
    [/^\/policies\/([^/]+)\/series$/, ([, id], q) => policies.series(id, q)],
    [/^\/policies\/([^/]+)\/violations$/, ([, id]) => policies.violations(id)],
    [/^\/policies\/([^/]+)\/violations\/[^/]+$/, ([, id]) => (policies.get(id) ? policies.violation(id) : null)],
    [/^\/plans$/, (_, q) => answers.page(plans.list(q))],
    [/^\/plans\/([^/]+)$/, ([, id]) => plans.get(id)],
    [/^\/rollouts$/, () => answers.page(rollouts.list())],
    [/^\/rollouts\/([^/]+)$/, ([, id]) => rollouts.get(id)],
    [
      /^\/remedies$/,
      (_, q) =>
        answers.page(
          [...[...orders].reverse().map(([id, o]) => answers.remedy(o.order, id, o.at)), ...proposed].filter(
            (r) =>
              (q.getAll("state").length === 0 || q.getAll("state").includes(r.state)) &&
              (!q.get("host") || r.host === q.get("host")) &&
              (!q.get("incident_id") || r.incident_id === q.get("incident_id")),
          ),
        ),
    ],
    [
      /^\/remedies\/([^/]+)$/,
      ([, id]) => {
        const o = orders.get(id);
        return o ? answers.remedy(o.order, id, o.at) : (proposed.find((r) => r.id === id) ?? null);
      },
    ],
    [
      /^\/remedies\/([^/]+)\/effect$/,
      ([, id]) => {
        const o = orders.get(id);
        if (o) return answers.effectSeries(o.order, o.at);
        // What only waits for approval has no effect yet; its page does not ask, and the check of the mock does.
        return proposed.some((r) => r.id === id)
          ? answers.effectSeries({ action: "tune-revalidator" }, Date.now())
          : null;
      },
    ],
    [/^\/agents$/, () => answers.agents(fleet)],
    ...isolation.reads,
    ...lab.reads,
    ...functions.reads,
    ...captures.reads,
    ...webhooks.reads,
    [/^\/tokens$/, () => answers.TOKENS],
    [/^\/users$/, () => answers.USERS],
    [/^\/session\/account$/, () => answers.ACCOUNT],
    [/^\/session\/sessions$/, () => ({ items: kind === "empty" ? answers.SESSIONS.slice(0, 1) : answers.SESSIONS })],
    [/^\/audit$/, () => answers.AUDIT],
  ];
  const LISTS = /^\/(remedies|rollouts|agents|webhooks|tokens|users|audit)$/;

  function about(id, answer) {
    const known = incidents.find(id);
    return known ? answer(known) : null;
  }

  /** What changes something: [method, path, answer]; a null answer is "no such thing". */
  const writes = [
    ...isolation.slos.writes,
    ...lab.writes,
    ...functions.writes,
    ...captures.writes,
    ...webhooks.writes,
    ["POST", /^\/profiles\/([^/]+)\/calibrations(?:\/fleet)?$/, ([, model], body) => profiles.calibrate(model, body)],
    [
      "POST",
      /^\/profiles\/([^/]+)\/versions\/(\d+)\/promote$/,
      ([, model, number]) => profiles.promote(model, Number(number)),
    ],
    ["POST", /^\/profiles\/([^/]+)\/rollback$/, ([, model]) => profiles.promote(model, 0)],
    ["POST", /^\/session\/second-factor(\/confirm|\/disable)?$/, ([, step = ""]) => answers.SECOND_FACTOR[step]],
    ["POST", /^\/automation-rules$/, (_, body) => rules.create(body)],
    ["POST", /^\/automation-rules\/([^/]+)\/(enable|disable)$/, ([, id, what]) => rules.turn(id, what === "enable")],
    ["DELETE", /^\/automation-rules\/([^/]+)$/, ([, id]) => rules.remove(id)],
    ["POST", /^\/plans$/, (_, body) => plans.create(body)],
    ["POST", /^\/rollouts$/, (_, body) => rollouts.create(body)],
    [
      "POST",
      /^\/rollouts\/([^/]+)\/(approve|reject|pause|resume|stop|undo)$/,
      ([, id, what], body) => rollouts.change(id, what, body),
    ],
    [
      "POST",
      /^\/remedies\/([^/]+)\/(approve|reject)$/,
      ([, id, what], body) => {
        const at = proposed.findIndex((r) => r.id === id);
        if (at < 0) return null;
        const [known] = proposed.splice(at, 1);
        const decided = {
          ...known,
          decided_by: "admin",
          decided_at: new Date().toISOString(),
          decision_comment: body.comment ?? body.reason ?? null,
        };
        orders.set(id, { order: { ...decided, rejected: what === "reject" }, at: Date.now() });
        return answers.remedy(orders.get(id).order, id, Date.now());
      },
    ],
    ["POST", /^\/incidents\/bulk$/, (_, body) => incidents.bulk(body)],
    [
      "POST",
      /^\/incidents\/([^/]+)\/(acknowledge|unacknowledge|resolve|reopen)$/,
      ([, id, action]) => about(id, (i) => changed(incidents.act(i, action))),
    ],
    [
      "POST",
      /^\/incidents\/([^/]+)\/derive-again$/,
      ([, id]) =>
        about(id, (i) =>
          changed(incidents.touch(i, { derived: true }, "derived", "Recommended values derived again: max_idle_ms.")),
        ),
    ],
    [
      "POST",
      /^\/incidents\/([^/]+)\/comments$/,
      ([, id], body) => about(id, (i) => changed(incidents.act(i, "comment", body))),
    ],
    [
      "POST",
      /^\/incidents\/([^/]+)\/merge$/,
      ([, id], body) =>
        about(id, (i) =>
          changed(incidents.touch(i, {}, "merged", `${body.incident_ids.length} incidents were merged into this one.`)),
        ),
    ],
    [
      "POST",
      /^\/incidents\/([^/]+)\/split$/,
      ([, id]) =>
        about(id, (i) => changed(incidents.touch(i, {}, "split", "Findings left for an incident of their own."))),
    ],
    [
      "PATCH",
      /^\/incidents\/([^/]+)$/,
      ([, id], body) =>
        about(id, (i) =>
          changed(
            body.external_refs
              ? incidents.touch(i, { external_refs: body.external_refs }, "ticket", "Tickets changed.")
              : incidents.act(i, "assign", body),
          ),
        ),
    ],
    ["POST", /^\/silences\/preview$/, (_, body) => silences.preview(body)],
    ["POST", /^\/silences$/, (_, body) => silences.create(body)],
    ["PATCH", /^\/silences\/([^/]+)$/, ([, id], body) => silences.change(id, body)],
    ["DELETE", /^\/silences\/([^/]+)$/, ([, id]) => silences.end(id)],
    ["POST", /^\/views$/, (_, body) => views.create(body)],
    ["PATCH", /^\/views\/([^/]+)$/, ([, id], body) => Object.assign(views.all.find((v) => v.id === id) ?? {}, body)],
    [
      "DELETE",
      /^\/views\/([^/]+)$/,
      ([, id]) => {
        views.all = views.all.filter((v) => v.id !== id);
        return {};
      },
    ],
  ];

  function changed(incident) {
    return whole(incident, incidents.entries.get(incident.id));
  }

  /** All but the hosts that are meant to be stale have just reported. */
  function refreshed() {
    const now = Date.now();
    fleet.seen_at_ms.forEach((seen, i) => {
      if (!stale.has(i)) fleet.seen_at_ms[i] = now - (i % 40) * 100;
    });
    return true;
  }

  /** Hosts and RNICs by parts of their names, and one pod. */
  function search(text, limit) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (name) => words.every((word) => name.toLowerCase().includes(word));
    const rnics = [];
    const hosts = new Map();
    fleet.host.forEach((host, i) => {
      const [pci, rack, model] = [fleet.pci[i], fleet.rack[i], fleet.model[i]];
      if (rnics.length < limit && has(`${host} ${pci} ${rack ?? ""} ${model ?? ""}`))
        rnics.push({ host, pci, rack, model, symptoms: fleet.symptoms[i] });
      if (hosts.has(host)) hosts.get(host).rnics += 1;
      else if (hosts.size < limit && has(host))
        hosts.set(host, { host, rack, rnics: 1, zone: "eu-1a", instance_type: "p5.48xlarge" });
    });
    const device = "0000:3b:00.2";
    const pod = {
      pod: "training/worker-7",
      owner: "Job/worker",
      container: "5f2c9e",
      device,
      attached_at: new Date().toISOString(),
    };
    const pods = fleet.host.length > 0 && has(pod.pod) ? [{ ...pod, host: fleet.host[0], pci: fleet.pci[0] }] : [];
    return { hosts: [...hosts.values()], rnics, pods };
  }

  function find(host, pci) {
    return fleet.host.findIndex((name, i) => name === host && fleet.pci[i] === decodeURIComponent(pci));
  }

  async function api(request, response, path, query) {
    const signedIn = !guarded || /wallwatch_session=mock/.test(request.headers.cookie ?? "");
    if (path === "/session/methods") return send(response, 200, { local: "all", single_sign_on: null });
    if (path === "/session" && request.method === "POST") {
      if ((await readBody(request)).password !== "mock")
        return problem(response, 401, "bad_credentials", "User name or password is wrong", "Check both and try again.");
      response.setHeader("set-cookie", "wallwatch_session=mock; Path=/; HttpOnly; SameSite=Strict");
      return send(response, 201, session);
    }
    if (!signedIn) return problem(response, 401, "not_signed_in", "Sign in first", "This needs a session.");
    if (path === "/session") return request.method === "DELETE" ? send(response, 204) : send(response, 200, session);
    if (kind === "broken" && request.method === "GET" && path !== "/catalogue")
      return problem(
        response,
        503,
        "database_unavailable",
        "The database does not answer",
        "The store can't be reached; telemetry is kept in Kafka meanwhile. Try again in a moment.",
      );
    if (path === "/stream") return stream(request, response);
    if (path === "/incidents/export" && query.get("format") === "csv") {
      response.writeHead(200, { "content-type": "text/csv" });
      return response.end(
        ["id,state,title", ...incidents.list(query).items.map((i) => `${i.id},${i.state},${i.title}`)].join("\n"),
      );
    }
    if (path === "/isolation/report" && query.get("format") === "csv") {
      response.writeHead(200, { "content-type": "text/csv" });
      const { rows } = report(isolation, query);
      return response.end(["tenant,kept_share", ...rows.map((r) => `${r.tenant},${r.kept_share}`)].join("\n"));
    }
    if (path === "/incidents/export") return send(response, 200, incidents.list(query).items);
    if (request.method === "POST" && path === "/remedies") {
      const id = `00000000-0000-4000-8000-${String(900 + orders.size).padStart(12, "0")}`;
      orders.set(id, { order: await readBody(request), at: Date.now() });
      plans.requested(orders.get(id).order, id);
      return send(response, 201, answers.remedy(orders.get(id).order, id, Date.now()));
    }
    const undo = /^\/remedies\/([^/]+)\/undo$/.exec(path);
    if (undo && orders.has(undo[1])) {
      const known = orders.get(undo[1]);
      known.order.undone = true;
      return send(response, 202, answers.remedy(known.order, undo[1], known.at));
    }
    for (const [method, pattern, answer] of writes) {
      const match = method === request.method && pattern.exec(path);
      if (!match) continue;
      const body = answer(match, await readBody(request));
      if (body === null)
        return problem(response, 404, "not_found", "There is no such thing", `Nothing is known as ${path}.`);
      return request.method === "DELETE" ? send(response, 204) : send(response, 200, body);
    }
    if (/^\/plans\/[^/]+\/operations$/.test(path)) {
      response.writeHead(200, { "content-type": "text/plain" });
      return response.end(Array.from({ length: 40 }, (_, i) => operation(i)).join("\n"));
    }
    if (request.method !== "GET") return send(response, 200, {});
    if (kind === "empty" && LISTS.test(path)) return send(response, 200, empty);
    for (const [pattern, answer] of reads) {
      const match = pattern.exec(path);
      const body = match && answer(match, query);
      if (match)
        return body === null
          ? problem(response, 404, "not_found", "There is no such thing", `Nothing is known as ${path}.`)
          : send(response, 200, body);
    }
    return problem(response, 404, "not_found", "There is no such path", path);
  }

  return (request, response) => {
    const url = new URL(request.url ?? "/", "http://mock");
    if (url.pathname.startsWith("/api/v1")) return void api(request, response, url.pathname.slice(7), url.searchParams);
    return problem(response, 404, "not_found", "There is no such path", url.pathname);
  };
}
