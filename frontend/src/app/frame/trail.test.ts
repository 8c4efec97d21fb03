import { expect, test } from "vitest";
import { leafOf, trailTo } from "./trail";

const RNIC = { host: "host01", pci: "0000:3b:00.0" };

test("an RNIC stands below its host, which is the fleet filtered by it", () => {
  expect(trailTo("/rnics/$host/$pci", RNIC)).toEqual([
    { label: "Fleet", to: "/" },
    { label: "host01", to: "/", search: { host: "host01" } },
  ]);
  expect(leafOf("/rnics/$host/$pci", RNIC, "host01 0000:3b:00.0")).toBe("0000:3b:00.0");
});

test("a VF stands below the VFs of its RNIC", () => {
  const route = "/tenants/rnics/$host/$pci/vfs/$vf";
  expect(trailTo(route, { ...RNIC, vf: "3" }).at(-1)).toEqual({
    label: "VFs of host01 0000:3b:00.0",
    to: "/tenants/rnics/host01/0000:3b:00.0",
  });
  expect(leafOf(route, { ...RNIC, vf: "3" }, "anything")).toBe("VF 3");
});

test("a page of the side bar has nothing above it", () => {
  expect(trailTo("/incidents", {})).toEqual([]);
});

test("an incident is called by its title", () => {
  expect(leafOf("/incidents/$id", { id: "7" }, "Repetitive flow re-offloading")).toBe("Repetitive flow re-offloading");
});
