import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "descriptions-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What the linter says of a published description that was changed. */
function linted(source, change) {
  const description = JSON.parse(readFileSync(here(source), "utf8"));
  change(description);
  const file = join(folder, "changed.json");
  writeFileSync(file, JSON.stringify(description));
  const { status, stderr } = spawnSync(process.execPath, [here("lint-descriptions.mjs"), file], { encoding: "utf8" });
  return { status, stderr };
}

describe("the linter of published descriptions", { timeout: 60_000 }, () => {
  it("refuses an operation without answers in the API's", () => {
    const { status, stderr } = linted("../src/lib/api/openapi.json", (api) => {
      const listed = api.paths["/api/v1/incidents"].get;
      listed.responses = { 200: listed.responses[200] };
    });
    expect(stderr).toContain(
      "#/paths/~1api~1v1~1incidents/get/responses: Operation must have at least one `4XX` response",
    );
    expect(status).toBe(1);
  });

  it("refuses an operation without a channel in the topics'", () => {
    const { status, stderr } = linted("../../docs/messages/asyncapi.json", (topics) => {
      delete topics.operations["send.wallwatch.rnic"].channel;
    });
    expect(stderr).toContain("The field `channel` must be present on this level");
    expect(status).toBe(1);
  });
});
