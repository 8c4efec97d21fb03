import { describe, expect, it } from "vitest";
import type { Agent } from "@/lib/api/types";
import { connectedText } from "./HostsPage";
import { parseAgentFilters } from "./filters";

describe("agents", () => {
  it.each([
    [{}, {}],
    [
      { host: " host03 ", connection: "lost" },
      { host: "host03", connection: "lost" },
    ],
    [{ host: " ", connection: "perhaps", sort: "host" }, {}],
    [{ sort: "certificate" }, { sort: "certificate" }],
  ])("filters in the URL: %j is %j", (search, expected) => {
    expect(parseAgentFilters(search)).toEqual(expected);
  });

  it("are counted as far as they are shown", () => {
    const agent = { connected: true } as Agent;
    expect(connectedText([agent, { ...agent, connected: false }], false)).toBe("1 of 2 agents connected");
    expect(connectedText([agent, agent], true)).toBe("2 of the first 2 agents connected");
  });
});
