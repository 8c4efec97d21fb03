// Checks the two published descriptions, OpenAPI of the API and AsyncAPI of the topics, with Redocly's linter: what `redocly lint` runs.
// With paths as arguments it checks those instead.
import { createConfig, lint } from "@redocly/openapi-core";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const DESCRIPTIONS = [here("../src/lib/api/openapi.json"), here("../../docs/messages/asyncapi.json")];

/** What is right although a rule says otherwise: a part of the problem's place, and why. */
const RIGHT = [
  ["operation-4xx-response", "#/paths/~1-~1healthy/", "a probe has no wrong requests"],
  ["operation-4xx-response", "#/paths/~1-~1ready/", "a probe has no wrong requests"],
  ["operation-2xx-response", "#/paths/~1api~1v1~1session~1oidc", "it sends a browser elsewhere"],
];

const isRight = ({ ruleId, location }) =>
  RIGHT.some(([rule, place]) => rule === ruleId && location[0]?.pointer?.startsWith(place));

// Of AsyncAPI it checks structure only; where references lead is checked by tests/contract/test_message_schemas.py.
const config = await createConfig({ extends: ["recommended-strict"] });
const asked = process.argv.slice(2);
let wrong = 0;
for (const ref of asked.length > 0 ? asked : DESCRIPTIONS) {
  for (const problem of await lint({ ref, config })) {
    if (isRight(problem)) continue;
    wrong += 1;
    process.stderr.write(
      `${relative(process.cwd(), ref)}${problem.location[0]?.pointer ?? ""}: ${problem.message} (${problem.ruleId})\n`,
    );
  }
}
process.exitCode = wrong > 0 ? 1 : 0;
