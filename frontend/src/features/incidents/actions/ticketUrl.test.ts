import { expect, test } from "vitest";
import { ticketOf } from "./ticketUrl";

test.each([
  ["https://acme.example/browse/net-1234?focusedId=1", "jira", "NET-1234"],
  ["https://github.com/acme/fleet/issues/12#issuecomment-3", "github", "acme/fleet#12"],
  ["https://git.acme.example/net/fleet/-/issues/77", "gitlab", "net/fleet#77"],
  ["https://linear.app/acme/issue/NET-9/slow-flows", "linear", "NET-9"],
  ["https://acme.pagerduty.com/incidents/Q1ABC", "pagerduty", "Q1ABC"],
  ["https://acme.service-now.com/nav_to.do?uri=incident.do%3Fnumber%3DINC0012345", "servicenow", "INC0012345"],
  [" https://tickets.acme.example/t/4411/ ", "tickets.acme.example", "4411"],
  ["https://tickets.acme.example/?id=7", "tickets.acme.example", "id=7"],
])("%s is %s %s", (url, system, key) => {
  expect(ticketOf(url)).toEqual({ system, key, url: new URL(url.trim()).href });
});

test.each(["", "NET-1234", "javascript:alert(1)", "ftp://acme.example/1"])("%s is no ticket's address", (text) => {
  expect(ticketOf(text)).toBeNull();
});
