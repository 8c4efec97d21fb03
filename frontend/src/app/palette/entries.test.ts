import { expect, test } from "vitest";
import type { Found } from "@/lib/api/types";
import { type Destination, groupsOf, hitsOf, matches, PAGES, withRecent } from "./entries";

const FOUND: Found = {
  hosts: [{ host: "host01", rack: null, rnics: 1, zone: "eu-1a", instance_type: null }],
  rnics: [{ host: "host01", pci: "0000:3b:00.0", rack: "r1", model: "CX-6", symptoms: ["S1"] }],
  pods: [
    {
      pod: "training/worker 7",
      owner: "Job/train",
      container: null,
      host: "host01",
      pci: "0000:3b:00.0",
      device: null,
      attached_at: "",
    },
    { pod: "web/front", owner: null, container: null, host: "host02", pci: null, device: null, attached_at: "" },
  ],
};

const destination = (href: string): Destination => ({ kind: "host", label: href, detail: "", href });
const labels = (text: string, recent: Destination[] = []) =>
  groupsOf(text, { recent, actions: [], found: hitsOf(text ? FOUND : undefined) }).map(({ label }) => label);

test("what the server finds leads to the page of the RNIC, to the host on the fleet, to the VF of the pod", () => {
  const [rnics, hosts, pods] = hitsOf(FOUND).map(({ entries }) => entries);
  expect(rnics).toEqual([
    {
      kind: "rnic",
      label: "host01 0000:3b:00.0",
      detail: "S1 · CX-6 · rack r1",
      href: "/rnics/host01/0000%3A3b%3A00.0",
    },
  ]);
  expect(hosts).toEqual([{ kind: "host", label: "host01", detail: "1 RNIC · eu-1a", href: "/?host=host01" }]);
  expect(pods?.map(({ detail }) => detail)).toEqual(["on host01 0000:3b:00.0 · Job/train", "on host02"]);
  expect(pods?.map((entry) => "href" in entry && entry.href)).toEqual([
    "/rnics/host01/0000%3A3b%3A00.0?vfText=training%2Fworker%207",
    "/?host=host02",
  ]);
});

test.each([
  ["fo", "Forecasts", true],
  ["audit log", "Audit log", true],
  ["log", "Audit log", true],
  ["it", "Audit log", false],
  ["audit x", "Audit log", false],
])("%s finds %s: %s", (text, label, expected) => {
  const entry = PAGES.find((each) => each.label === label);
  expect(entry && matches(entry, text)).toBe(expected);
});

test("before anything is typed the recent destinations come first, afterwards only what matches", () => {
  expect(labels("", [destination("/a")])).toEqual(["Recent", "Pages"]);
  expect(labels("")).toEqual(["Pages"]);
  expect(labels("host")).toEqual(["Pages", "RNICs", "Hosts", "Pods"]);
  expect(labels("zzz")).toEqual(["RNICs", "Hosts", "Pods"]);
});

test("a destination that is chosen again moves to the front, and only a few are kept", () => {
  const many = ["/a", "/b", "/c", "/d", "/e", "/f"].map(destination);
  expect(withRecent(many, destination("/c")).map(({ href }) => href)).toEqual(["/c", "/a", "/b", "/d", "/e", "/f"]);
  expect(withRecent(many, destination("/g")).map(({ href }) => href)).toEqual(["/g", "/a", "/b", "/c", "/d", "/e"]);
});
