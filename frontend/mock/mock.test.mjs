import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KINDS, makeApi } from "./api.mjs";

const HERE = new URL(".", import.meta.url).pathname;
const openapi = JSON.parse(readFileSync(join(HERE, "../src/lib/api/openapi.json"), "utf8"));
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(openapi, "api");

function sources(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return sources(path);
    return /\.tsx?$/.test(name) && !/\.test\.|schema\.d\.ts/.test(name) ? [path] : [];
  });
}

/** Every call of the pages, as [method, path of the API]. */
function calls() {
  const found = new Set();
  for (const path of sources(join(HERE, "../src")))
    for (const [, method, called] of readFileSync(path, "utf8").matchAll(
      /api\.(GET|POST|PATCH|PUT|DELETE)\(\s*"([^"]+)"/g,
    ))
      found.add(`${method} ${called}`);
  return [...found].sort().map((each) => each.split(" "));
}

const CALLS = calls();
/** The operations of a plan are text. */
const TEXT = ["/api/v1/plans/{plan_id}/operations"];
const READS = CALLS.filter(([method, path]) => method === "GET" && !TEXT.includes(path)).map(([, path]) => path);

/** The schema of an answer; null when it has no JSON body. */
function schemaOf(path, method, status) {
  const responses = openapi.paths[path][method.toLowerCase()].responses;
  const content = responses[String(status)]?.content ?? {};
  const type = ["application/json", "application/problem+json"].find((each) => content[each]);
  if (!type) return null;
  const pointer = (...parts) =>
    parts.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
  return {
    $ref: `api#/${pointer("paths", path, method.toLowerCase(), "responses", String(status), "content", type, "schema")}`,
  };
}

function problemsOf(path, method, status, body) {
  const schema = schemaOf(path, method, status);
  if (schema === null) return [`${status} with JSON is not an answer of the API`];
  const validate = ajv.compile(schema);
  if (validate(JSON.parse(body))) return [];
  return validate.errors
    .slice(0, 5)
    .map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`);
}

const HOUR = 3_600_000;
const RANGE = `from=${new Date(Date.now() - HOUR).toISOString()}&to=${new Date().toISOString()}`;
const QUERIES = {
  "/api/v1/rnics/{host}/{pci}/series": `fields=tx_gbps,q_egress&${RANGE}`,
  "/api/v1/rnics/{host}/{pci}/signals": `symptom=S1&${RANGE}`,
  "/api/v1/rnics/{host}/{pci}/policies": RANGE,
  "/api/v1/profiles/{model}/compare": "left=0&right=0",
  "/api/v1/profiles/{model}/prediction": "ql=3&qr=2",
  "/api/v1/fleet/replay": `at=${new Date(Date.now() - HOUR / 2).toISOString()}`,
  "/api/v1/incidents/groups": "by=rack",
  "/api/v1/policies/{policy_id}/series": RANGE,
  "/api/v1/captures/{capture_id}/verdicts": "model=cx5",
};

describe.each(["full", "large", "empty"])("the mock of a fleet that is %s", (kind) => {
  const server = createServer(makeApi(kind));
  let base;
  const get = async (path) => (await fetch(base + path)).json();
  const known = {};

  beforeAll(async () => {
    await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
    base = `http://127.0.0.1:${server.address().port}`;
    const { columns } = await get("/api/v1/fleet");
    const first = async (path) => (await get(path)).items?.[0]?.id;
    Object.assign(known, {
      host: columns.host[0],
      pci: columns.pci[0],
      model: "CX-6",
      number: kind === "empty" ? "0" : "1",
      incident_id: await first("/api/v1/incidents"),
      silence_id: await first("/api/v1/silences"),
      plan_id: await first("/api/v1/plans"),
      campaign_id: await first("/api/v1/lab/campaigns"),
      capture_id: await first("/api/v1/captures"),
      place: kind === "empty" ? undefined : "0",
      rollout_id: await first("/api/v1/rollouts"),
      remedy_id: await first("/api/v1/remedies"),
      webhook_id: (await get("/api/v1/webhooks")).items?.[0]?.id,
      rule_id: (await get("/api/v1/automation-rules"))[0]?.id,
      policy_id: await first("/api/v1/policies"),
      delivery_id: "1",
      violation_id: "1",
      vf: kind === "empty" ? undefined : "0",
    });
    if (known.policy_id) known.violation_id = await first(`/api/v1/policies/${known.policy_id}/violations`);
    if (known.webhook_id) known.delivery_id = await first(`/api/v1/webhooks/${known.webhook_id}/deliveries`);
  });
  afterAll(() => server.close());

  it.each(READS)("answers GET %s as the API describes it", async (path) => {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    // In an empty fleet there is nothing of which a page could ask for more.
    if (kind === "empty" && names.some((name) => known[name] === undefined)) return;
    const url = names.reduce((text, name) => text.replace(`{${name}}`, encodeURIComponent(known[name])), path);
    const answer = await fetch(`${base}${url}${QUERIES[path] ? `?${QUERIES[path]}` : ""}`);
    expect([answer.status, problemsOf(path, "GET", answer.status, await answer.text())]).toEqual([200, []]);
  });
});

describe("the mock when everything is broken", () => {
  it("answers a read with the problem that a lost database is", async () => {
    const server = createServer(makeApi("broken"));
    await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
    const answer = await fetch(`http://127.0.0.1:${server.address().port}/api/v1/fleet`);
    const problem = await answer.json();
    const catalogue = await fetch(`http://127.0.0.1:${server.address().port}/api/v1/catalogue`);
    server.close();
    // Without the catalogue no page would be shown, and so none of their errors.
    expect(catalogue.status).toBe(200);
    expect([answer.status, problem.code]).toEqual([503, "database_unavailable"]);
    expect(ajv.compile({ $ref: "api#/components/schemas/Problem" })(problem)).toBe(true);
  });

  it("is one of the four kinds", () => {
    expect(KINDS).toEqual(["full", "large", "empty", "broken"]);
  });
});
