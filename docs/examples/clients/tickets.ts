// Notes a ticket on each open incident of a host and acknowledges it, with a client whose types are generated from the API's description.
// Repeating it changes nothing. README.md says how to build it.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type Incident = components["schemas"]["IncidentSummary"];

const [url, token, host, ticket] = process.argv.slice(2);
if (!url || !token || !host || !ticket) throw new Error("usage: tickets.js URL TOKEN HOST TICKET");

const api = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });

/** What the API refused, in its own words. */
function refused(problem: components["schemas"]["Problem"]): Error {
  return new Error(`${problem.code}: ${problem.detail ?? problem.title}`);
}

async function incidents(): Promise<Incident[]> {
  const found: Incident[] = [];
  for (let cursor: string | undefined; ; ) {
    const { data, error } = await api.GET("/api/v1/incidents", {
      params: { query: { host, state: ["open", "acknowledged"], limit: 2, cursor } },
    });
    if (error) throw refused(error);
    found.push(...data.items);
    if (data.next_cursor === null) return found;
    cursor = data.next_cursor;
  }
}

for (const { id } of await incidents()) {
  const path = { incident_id: id };
  const read = await api.GET("/api/v1/incidents/{incident_id}", { params: { path } });
  if (read.error) throw refused(read.error);
  const { external_refs: known, state, version } = read.data;
  if (!known.some(({ key }) => key === ticket)) {
    // Refused with 412 if somebody has changed the incident since it was read.
    const noted = await api.PATCH("/api/v1/incidents/{incident_id}", {
      params: { path, header: { "If-Match": `"${version}"` } },
      body: { external_refs: [...known, { system: "jira", key: ticket, url: null }] },
    });
    if (noted.error) throw refused(noted.error);
  }
  if (state === "open") {
    const header = { "Idempotency-Key": `${ticket}-${id}` };
    const done = await api.POST("/api/v1/incidents/{incident_id}/acknowledge", { params: { path, header } });
    if (done.error) throw refused(done.error);
  }
  console.log(`${id} ${ticket}`);
}
