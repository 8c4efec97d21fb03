import { expect, test } from "vitest";
import { placeOf, PLACES } from "./places";

test("each page has a chord of its own", () => {
  const chords = PLACES.map((place) => place.chord);
  expect(new Set(chords).size).toBe(chords.length);
});

test.each([
  ["/", "Fleet"],
  ["/rnics/host01/0000:3b:00.0", "Fleet"],
  ["/incidents", "Incidents"],
  ["/incidents/7", "Incidents"],
  ["/tenants/rnics/host01/0000:3b:00.0/vfs/3", "Tenants"],
  ["/plans/7", "Remedies"],
  ["/rollouts/new", "Rollouts"],
  ["/settings/audit", "Settings"],
])("%s belongs to %s", (path, label) => {
  expect(placeOf(path)?.label).toBe(label);
});

test.each(["/account", "/nowhere", "/labels"])("%s belongs to no page of the side bar", (path) => {
  expect(placeOf(path)).toBeUndefined();
});
